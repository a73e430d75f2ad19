/** Part 6 of the interface: streams begin with a snapshot, continue without a gap, and end with a reason. */

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { silentLogger } from "../../src/lib/logger.ts";
import { Compactor } from "../../src/view/compactor.ts";
import { slowRequest } from "../http1/raw-request.ts";
import { snapshotNow } from "../support/claims.ts";
import { temporaryFolder } from "../support/folder.ts";
import { until } from "../support/until.ts";
import { EventReader, openEventReader, revisionOf } from "./events.ts";
import { API, AUTHORIZATION, type Harness, openHarness } from "./harness.ts";
import { setDevice as device, deviceId, SAMPLE } from "./network.ts";

const removeDevice = (n: number) => ({ op: "remove", kind: "devices", id: deviceId(n) }) as const;

async function openSample(options: Parameters<typeof openHarness>[0] = {}): Promise<Harness> {
  const h = await openHarness(options);
  await h.replace(SAMPLE);
  return h;
}

test("the exact text: snapshot, synced, changes, one id for each revision", async () => {
  await using h = await openHarness();
  await h.apply([device(1)]);
  const events = await openEventReader(h, "devices");
  await events.readUntil(({ event }) => event === "synced");
  await h.apply([device(1, { available: false }), device(2)]);
  await events.readToRevision(2);
  await h.apply([removeDevice(2)]);
  await events.readToRevision(3);
  const value = (id: number) => h.view.get("devices", deviceId(id));
  const [opening, snapshot, synced, first, second, third, ...more] = events.text.split("\n\n");
  expect(more).toEqual([""]);
  expect(opening).toBe(": connected");
  expect(snapshot).toMatch(
    /^event: snapshot\ndata: \{"resource":"devices","revision":1,"value":\{"id":"of:0+1",.*\}\}$/,
  );
  expect(synced).toStartWith(`id: ${h.log.id}.1\nevent: synced\ndata: {"revision":1`);
  const fields = '"changed":["available","lastUpdate","humanReadableLastUpdate"]';
  const about = '"resource":"devices","revision":2,"time":1794704402000,"value":';
  expect(first).toBe(`event: updated\ndata: {${about}${value(1)},${fields}}`);
  expect(second).toStartWith(`id: ${h.log.id}.2\nevent: added\ndata: {${about}{"id":"${deviceId(2)}"`);
  expect(third).toStartWith(
    `id: ${h.log.id}.3\nevent: removed\ndata: {"resource":"devices","revision":3,"time":1794704403000,"value":{`,
  );
  await events.close();
});

test("the headers of a stream forbid caching and buffering", async () => {
  await using h = await openSample();
  const events = await openEventReader(h, "links?format=events");
  const { headers } = events.response;
  expect(headers.get("content-type")).toBe("text/event-stream");
  expect(headers.get("cache-control")).toBe("private, no-cache");
  expect(headers.get("gazetteer-revision")).toBe("1");
  expect(headers.get("x-accel-buffering")).toBe("no");
  expect(headers.get("etag")).toBeNull();
  await events.close();
});

test("the stream of the topology has all resources, ports included", async () => {
  await using h = await openSample();
  const events = await openEventReader(h, "topology");
  const all = await events.readUntil(({ event }) => event === "synced");
  const counts = Object.groupBy(all, ({ data }) => String(data.resource));
  expect(Object.entries(counts).map(([name, some]) => [name, some?.length])).toEqual([
    ["devices", 6],
    ["ports", 3],
    ["links", 10],
    ["hosts", 3],
    ["undefined", 1],
  ]);
  await h.apply([removeDevice(4)]);
  const changes = await events.readToRevision(2);
  // The links of the device are removed with it.
  expect(changes.map(({ event, data }) => `${event} ${data.resource}`).toSorted()).toEqual([
    "removed devices",
    ...Array(5).fill("removed links"),
  ]);
  await events.close();
});

test("an entity that begins to match is added, one that no longer matches is removed, one that never matched is not sent", async () => {
  await using h = await openSample();
  const events = await openEventReader(h, "devices?available=false");
  const first = await events.readUntil(({ event }) => event === "synced");
  expect(first).toHaveLength(2);
  await h.apply([device(3, { available: false })]);
  await h.apply([device(3, { available: false, sw: "2" })]);
  await h.apply([device(4, { sw: "2" })]);
  await h.apply([device(3, { available: true, sw: "2" })]);
  await h.apply([removeDevice(5)]);
  const changes = await events.readToRevision(6);
  expect(changes.map(({ event, id, data }) => [event, revisionOf(id), Object(data.value).id])).toEqual([
    ["added", 2, deviceId(3)],
    ["updated", 3, deviceId(3)],
    ["removed", 5, deviceId(3)],
    ["removed", 6, deviceId(5)],
  ]);
  expect(Object(changes[2]?.data.value).available).toBe(false);
  await events.close();
});

test("a stream around a device goes on when the device is removed and added again", async () => {
  await using h = await openSample();
  const events = await openEventReader(h, `devices?around=${deviceId(5)}`);
  expect(await events.readUntil(({ event }) => event === "synced")).toHaveLength(3);
  const link = { src: { device: deviceId(5), port: 1 }, dst: { device: deviceId(2), port: 8 } };
  const changesTo = async (revision: number) =>
    (await events.readToRevision(revision)).map(({ event, data }) => `${event} ${Object(data.value).id}`);
  await h.apply([{ op: "set", kind: "links", claim: link }]);
  expect(await changesTo(2)).toEqual([`added ${deviceId(2)}`]);
  await h.apply([removeDevice(5)]);
  expect(await changesTo(3)).toEqual([2, 4, 5].map((n) => `removed ${deviceId(n)}`));
  await h.apply([device(5)]);
  expect(await changesTo(4)).toEqual([2, 4, 5].map((n) => `added ${deviceId(n)}`));
  await events.close();
  expect((await h.fetch("devices?around=unknown&format=events")).status).toBe(400);
});

describe("resuming", () => {
  test("by since or Last-Event-ID, without the snapshot; the header wins", async () => {
    await using h = await openHarness();
    for (let n = 1; n <= 5; n++) await h.apply([device(n)]);
    for (const [path, headers, from] of [
      ["devices?since=2", {}, 3],
      ["devices", { "last-event-id": "3" }, 4],
      ["devices?since=1", { "last-event-id": "4" }, 5],
      ["devices?since=0", {}, 1],
    ] as const) {
      const events = await openEventReader(h, path, headers);
      const changes = await events.readToRevision(5);
      expect(changes.map(({ event, id }) => `${event} ${revisionOf(id)}`)).toEqual(
        [1, 2, 3, 4, 5].filter((n) => n >= from).map((n) => `added ${n}`),
      );
      await events.close();
    }
  });

  test("from the newest revision, the first event is the next change", async () => {
    await using h = await openSample();
    const events = await openEventReader(h, `devices?since=${h.view.revision}`);
    await h.apply([device(9)]);
    expect((await events.next())?.event).toBe("added");
    expect(events.text).toStartWith(": connected\n\n");
    await events.close();
  });

  test("changes that are no longer in the ring are read from the log, with filters too", async () => {
    await using h = await openHarness({ ringBytes: 2_000 });
    for (let n = 1; n <= 700; n++) await h.apply([device(n % 7, { sw: String(n) })]);
    expect(h.history.ringHolds(10)).toBe(false);
    const all = await openEventReader(h, "devices?since=10");
    expect((await all.readToRevision(700)).map(({ id }) => revisionOf(id))).toEqual(
      Array.from({ length: 690 }, (_, i) => i + 11),
    );
    await h.apply([device(1, { sw: "last" })]);
    expect((await all.next())?.id).toBe(`${h.log.id}.701`);
    await all.close();
    const filtered = await openEventReader(h, `devices?id=${deviceId(3)}&sw=500&since=10`);
    expect((await filtered.readUntil(({ event }) => event === "removed")).map(({ event }) => event)).toEqual([
      "added",
      "removed",
    ]);
    await filtered.close();
  });

  test("a compacted revision is a 410 that names the oldest; a future one and text that is no revision are a 400", async () => {
    await using h = await openHarness();
    for (let n = 1; n <= 5; n++) await h.apply([device(n)]);
    await h.log.writeSnapshot(snapshotNow(h.view));
    await h.log.prune(Number.MAX_SAFE_INTEGER, 0);
    const problemOf = async (path: string) => {
      const response = await h.fetch(path, { headers: { accept: "text/event-stream" } });
      const { type, detail } = await response.json();
      return [response.status, String(type).split("#")[1], detail];
    };
    const [status, code, detail] = await problemOf("devices?since=3");
    expect([status, code]).toEqual([410, "revision-expired"]);
    expect(detail).toContain("revision 5");
    expect((await problemOf("devices?since=99")).slice(0, 2)).toEqual([400, "revision-unknown"]);
    const [bad, , badDetail] = await problemOf(`devices?since=${h.log.id}.5`);
    expect(bad).toBe(400);
    expect(badDetail).toContain(`"since" is "${h.log.id}.5"`);
    const events = await openEventReader(h, "devices?since=5");
    await events.close();
  });

  test("an event id that there is nothing to resume from is a reset and a new snapshot, never an error", async () => {
    await using h = await openHarness();
    for (let n = 1; n <= 5; n++) await h.apply([device(n)]);
    await h.log.writeSnapshot(snapshotNow(h.view));
    await h.log.prune(Number.MAX_SAFE_INTEGER, 0);
    for (const [id, reason] of [
      ["0f8e9f4c-7f5c-4f0a-9d5a-3f3f6f6f1b2c.5", "other-log"],
      [`${h.log.id}.5.5`, "other-log"],
      [".5", "other-log"],
      ["3", "expired"],
      [`${h.log.id}.3`, "expired"],
      [`${h.log.id}.6`, "unknown-revision"],
      [`${h.log.id}.`, "unknown-revision"],
      ["abc", "unknown-revision"],
    ] as const) {
      // What a new stream would be refused for is none for one that goes on: the centre may come back.
      for (const path of ["devices?since=5", "topology/problems", `devices?around=${deviceId(9)}`]) {
        const response = await h.fetch(path, {
          headers: { accept: "text/event-stream", "last-event-id": id },
        });
        expect([path, id, response.status]).toEqual([path, id, 200]);
        const events = new EventReader(response);
        const records = await events.readUntil(({ event }) => event === "synced");
        expect(records[0]).toEqual({ event: "reset", id: "", data: { reason, revision: 5 } });
        const isDevices = path === "devices?since=5";
        expect(records.filter(({ event }) => event === "snapshot")).toHaveLength(isDevices ? 5 : 0);
        expect(events.lastEventId).toBe(`${h.log.id}.5`);
        await events.close();
      }
    }
  });

  test("after a restart, from the same revision", async () => {
    const data = join(temporaryFolder(), "log.sqlite");
    const first = await openHarness({ data });
    for (let n = 1; n <= 4; n++) await first.apply([device(n)]);
    await first.stop();
    await using h = await openHarness({ data });
    const events = await openEventReader(h, "devices", { "last-event-id": `${h.log.id}.2` });
    await h.apply([device(5)]);
    expect((await events.readToRevision(5)).map(({ id }) => revisionOf(id))).toEqual([3, 4, 5]);
    await events.close();
  });
});

test("a heartbeat every 15 s moves the last event id to the newest revision", async () => {
  await using h = await openSample();
  const events = await openEventReader(h, "devices?id=unknown");
  await events.readUntil(({ event }) => event === "synced");
  await h.apply([device(9)]);
  await h.apply([device(8)]);
  expect(events.lastEventId).toBe(`${h.log.id}.1`);
  await h.clock.advance(15_000);
  await events.readToRevision(3);
  expect(events.text).toEndWith(`: heartbeat\nid: ${h.log.id}.3\n\n`);
  await h.clock.advance(15_000);
  await h.apply([device(7)]);
  await h.clock.advance(15_000);
  await events.readToRevision(4);
  expect(events.text.split(`: heartbeat\nid: ${h.log.id}.3\n\n`)).toHaveLength(3);
  await events.close();
});

test("a stop ends every stream with a closing record and a retry time", async () => {
  const h = await openSample();
  const events = await openEventReader(h, "devices");
  await events.readUntil(({ event }) => event === "synced");
  const stopping = h.stop();
  const [last, ...more] = await events.readRest();
  expect(more).toEqual([]);
  expect(last).toMatchObject({ event: "closing", data: { reason: "shutdown" } });
  expect(events.retryMs).toBe(2000);
  await stopping;
});

test("a stream beyond the maximum of its user is a 429 until another is closed", async () => {
  await using h = await openSample({ limits: { streamsPerUser: 2 } });
  const one = await openEventReader(h, "devices");
  const two = await openEventReader(h, "topology");
  const refused = await h.fetch("links?format=events");
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("10");
  expect(await refused.json()).toMatchObject({ type: "/docs/errors#too-many-streams" });
  expect((await h.fetch("links?format=events", { method: "HEAD" })).status).toBe(200);
  await one.close();
  const canOpen = async () => {
    const response = await h.fetch("links?format=events");
    await response.body?.cancel();
    return response.status === 200;
  };
  await until(canOpen, { what: "the closed stream to be removed" });
  await two.close();
});

describe("a subscriber that does not read", () => {
  const noise = (n: number) => "x".repeat(15_000) + n;

  test("receives overflow and is closed once its cursor fell out of the ring", async () => {
    await using h = await openHarness({ ringBytes: 3_000_000 });
    for (let n = 0; n < 400; n++) await h.apply([device(n, { mfr: noise(n) })]);
    const slow = slowRequest(h.port, `${API}/devices?format=events`, AUTHORIZATION);
    await slow.started;
    // The socket buffers of the system accept some megabytes first; how many differs between systems.
    let changes = 0;
    const change = async () => {
      for (let n = 0; n < 20; n++) await h.apply([device(n, { mfr: noise(-++changes) })]);
      return (await (await h.fetch("/metrics")).text()).includes("gazetteer_streams_overflowed_total 1\n");
    };
    await until(change, { what: "an overflow" });
    expect(await (await h.fetch("/metrics")).text()).toContain("gazetteer_streams_open 0\n");
    const text = (await slow.finish()).toString();
    expect(text.slice(-60)).toMatch(/event: overflow\ndata: \{"revision":\d+\}\n\n$/);
    // Less than all changes: they were not queued for it.
    expect(text.length).toBeLessThan((400 + changes) * 15_000);
  });

  test("costs little memory, and other subscribers go on", async () => {
    await using h = await openHarness({ ringBytes: 2_000_000, limits: { streamsPerUser: 200 } });
    for (let n = 0; n < 200; n++) await h.apply([device(n, { mfr: noise(n) })]);
    const reader = await openEventReader(h, "devices");
    await reader.readUntil(({ event }) => event === "synced");
    const before = rss();
    const slow = Array.from({ length: 60 }, () =>
      slowRequest(h.port, `${API}/devices?format=events`, AUTHORIZATION),
    );
    await Promise.all(slow.map(({ started }) => started));
    for (let n = 0; n < 600; n++) {
      await h.apply([device(n % 200, { mfr: noise(-n - 1) })]);
      if (n % 50 === 0) await reader.readToRevision(h.view.revision);
    }
    await reader.readToRevision(h.view.revision);
    // 60 subscribers with a queue of 9 MB each would cost 540 MB.
    expect(rss() - before).toBeLessThan(250_000_000);
    await reader.close();
    // Not read to the end: whether a stream overflowed depends on how much the kernel buffered for it.
    for (const request of slow) request.abort();
  }, 180_000);
});

const rss = (): number => {
  Bun.gc(true);
  return process.memoryUsage.rss();
};

test("a slow subscriber that reads from the log receives overflow when the log is compacted; it skips no change", async () => {
  await using h = await openHarness({ ringBytes: 10_000 });
  // More than the socket buffers of the system hold.
  const large = Object.fromEntries(Array.from("abcd", (name) => [name, "x".repeat(15_000)]));
  for (let n = 1; n <= 600; n++) await h.apply([device(n % 50, { annotations: { ...large, n: String(n) } })]);
  const slow = slowRequest(h.port, `${API}/devices?format=events&since=1`, AUTHORIZATION);
  await slow.started;
  const compactor = new Compactor(h.view, h.log, h.clock, silentLogger, {
    retentionMs: 0,
    maxBytes: 1e12,
    snapshotAfterChanges: 1,
  });
  await compactor.compact();
  await h.log.prune(h.clock.now() + 1, 1e12);
  const text = (await slow.finish()).toString();
  const ids = [...text.matchAll(/^id: .*\.(\d+)$/gm)].map((match) => Number(match[1]));
  expect(ids).toEqual(ids.map((_, i) => i + 2));
  expect(ids.length).toBeLessThan(599);
  expect(text.slice(-50)).toContain("event: overflow");
});

test("the values in events are the entities of the lists, hostile text included", async () => {
  await using h = await openSample();
  const events = await openEventReader(h, "devices");
  const snapshot = await events.readUntil(({ event }) => event === "synced");
  const { devices } = await h.json<{ devices: unknown[] }>("devices");
  expect(snapshot.slice(0, -1).map(({ data }) => data.value)).toEqual(devices);
  await events.close();
});
