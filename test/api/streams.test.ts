/** Part 6 of the interface: streams that begin with everything, go on without a gap, and end with a reason. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { silentLogger } from "../../src/lib/logger.ts";
import { Compactor } from "../../src/view/compactor.ts";
import { slowRequest } from "../http1/raw-request.ts";
import { temporaryFolder } from "../support/folder.ts";
import { until } from "../support/until.ts";
import { openEvents } from "./events.ts";
import { API, AUTHORIZATION, type Harness, openHarness } from "./harness.ts";
import { setDevice as device, deviceId, SAMPLE } from "./network.ts";

const without = (n: number) => ({ op: "remove", kind: "devices", id: deviceId(n) }) as const;

async function sample(options: Parameters<typeof openHarness>[0] = {}): Promise<Harness> {
  const h = await openHarness(options);
  await h.replace(SAMPLE);
  return h;
}

test("the very text: snapshot, synced, changes, one id a revision", async () => {
  await using h = await openHarness();
  await h.apply([device(1)]);
  const events = await openEvents(h, "devices");
  await events.until(({ event }) => event === "synced");
  await h.apply([device(1, { available: false }), device(2)]);
  await events.reach(2);
  await h.apply([without(2)]);
  await events.reach(3);
  const value = (id: number) => h.view.get("devices", deviceId(id));
  const [greeting, snapshot, synced, first, second, third, ...more] = events.text.split("\n\n");
  expect(more).toEqual([""]);
  expect(greeting).toBe(": connected");
  expect(snapshot).toMatch(
    /^event: snapshot\ndata: \{"resource":"devices","revision":1,"value":\{"id":"of:0+1",.*\}\}$/,
  );
  expect(synced).toStartWith('id: 1\nevent: synced\ndata: {"revision":1');
  const fields = '"changed":["available","lastUpdate","humanReadableLastUpdate"]';
  const about = '"resource":"devices","revision":2,"time":1794704402000,"value":';
  expect(first).toBe(`event: updated\ndata: {${about}${value(1)},${fields}}`);
  expect(second).toStartWith(`id: 2\nevent: added\ndata: {${about}{"id":"${deviceId(2)}"`);
  expect(third).toStartWith(
    `id: 3\nevent: removed\ndata: {"resource":"devices","revision":3,"time":1794704403000,"value":{`,
  );
  await events.close();
});

test("headers of a stream: its type, not to be kept or held back", async () => {
  await using h = await sample();
  const events = await openEvents(h, "links?format=events");
  const { headers } = events.response;
  expect(headers.get("content-type")).toBe("text/event-stream");
  expect(headers.get("cache-control")).toBe("private, no-cache");
  expect(headers.get("gazetteer-revision")).toBe("1");
  expect(headers.get("x-accel-buffering")).toBe("no");
  expect(headers.get("etag")).toBeNull();
  await events.close();
});

test("topology streams all resources, ports included", async () => {
  await using h = await sample();
  const events = await openEvents(h, "topology");
  const all = await events.until(({ event }) => event === "synced");
  const counts = Object.groupBy(all, ({ data }) => String(data.resource));
  expect(Object.entries(counts).map(([name, some]) => [name, some?.length])).toEqual([
    ["devices", 6],
    ["ports", 3],
    ["links", 10],
    ["hosts", 3],
    ["undefined", 1],
  ]);
  await h.apply([without(4)]);
  const changes = await events.reach(2);
  // Its links go with it, and what was one of a pair is told so.
  expect(changes.map(({ event, data }) => `${event} ${data.resource}`).toSorted()).toEqual([
    "removed devices",
    ...Array(5).fill("removed links"),
  ]);
  await events.close();
});

test("what begins to match is added, what ceases to is removed, what never did is not told", async () => {
  await using h = await sample();
  const events = await openEvents(h, "devices?available=false");
  const first = await events.until(({ event }) => event === "synced");
  expect(first).toHaveLength(2);
  await h.apply([device(3, { available: false })]);
  await h.apply([device(3, { available: false, sw: "2" })]);
  await h.apply([device(4, { sw: "2" })]);
  await h.apply([device(3, { available: true, sw: "2" })]);
  await h.apply([without(5)]);
  const told = await events.reach(6);
  expect(told.map(({ event, id, data }) => [event, id, Object(data.value).id])).toEqual([
    ["added", "2", deviceId(3)],
    ["updated", "3", deviceId(3)],
    ["removed", "5", deviceId(3)],
    ["removed", "6", deviceId(5)],
  ]);
  expect(Object(told[2]?.data.value).available).toBe(false);
  await events.close();
});

test("a stream around a device follows it, also when it goes and comes again", async () => {
  await using h = await sample();
  const events = await openEvents(h, `devices?around=${deviceId(5)}`);
  expect(await events.until(({ event }) => event === "synced")).toHaveLength(3);
  const link = { src: { device: deviceId(5), port: 1 }, dst: { device: deviceId(2), port: 8 } };
  const names = async (revision: number) =>
    (await events.reach(revision)).map(({ event, data }) => `${event} ${Object(data.value).id}`);
  await h.apply([{ op: "set", kind: "links", claim: link }]);
  expect(await names(2)).toEqual([`added ${deviceId(2)}`]);
  await h.apply([without(5)]);
  expect(await names(3)).toEqual([2, 4, 5].map((n) => `removed ${deviceId(n)}`));
  await h.apply([device(5)]);
  expect(await names(4)).toEqual([2, 4, 5].map((n) => `added ${deviceId(n)}`));
  await events.close();
  expect((await h.fetch("devices?around=nobody&format=events")).status).toBe(400);
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
      const events = await openEvents(h, path, headers);
      const told = await events.reach(5);
      expect(told.map(({ event, id }) => `${event} ${id}`)).toEqual(
        [1, 2, 3, 4, 5].filter((n) => n >= from).map((n) => `added ${n}`),
      );
      await events.close();
    }
  });

  test("from now on there is nothing until something happens", async () => {
    await using h = await sample();
    const events = await openEvents(h, `devices?since=${h.view.revision}`);
    await h.apply([device(9)]);
    expect((await events.next())?.event).toBe("added");
    expect(events.text).toStartWith(": connected\n\n");
    await events.close();
  });

  test("what is not in the ring any more comes from the log, with filters too", async () => {
    await using h = await openHarness({ ringBytes: 2_000 });
    for (let n = 1; n <= 700; n++) await h.apply([device(n % 7, { sw: String(n) })]);
    expect(h.history.ringHolds(10)).toBe(false);
    const all = await openEvents(h, "devices?since=10");
    expect((await all.reach(700)).map(({ id }) => Number(id))).toEqual(
      Array.from({ length: 690 }, (_, i) => i + 11),
    );
    await h.apply([device(1, { sw: "last" })]);
    expect((await all.next())?.id).toBe("701");
    await all.close();
    const few = await openEvents(h, `devices?id=${deviceId(3)}&sw=500&since=10`);
    expect((await few.until(({ event }) => event === "removed")).map(({ event }) => event)).toEqual([
      "added",
      "removed",
    ]);
    await few.close();
  });

  test("too old is a 410 that names the oldest; the future is a 400; nonsense is a 400", async () => {
    await using h = await openHarness();
    for (let n = 1; n <= 5; n++) await h.apply([device(n)]);
    await h.log.writeSnapshot(h.view.snapshot(), async () => {});
    await h.log.prune(Number.MAX_SAFE_INTEGER, 0, async () => {});
    const ask = async (path: string, headers: Record<string, string> = {}) => {
      const response = await h.fetch(path, { headers: { accept: "text/event-stream", ...headers } });
      const { type, detail } = await response.json();
      return [response.status, String(type).split("#")[1], detail];
    };
    const [status, code, detail] = await ask("devices?since=3");
    expect([status, code]).toEqual([410, "revision-expired"]);
    expect(detail).toContain("revision 5");
    expect((await ask("devices", { "last-event-id": "3" })).slice(0, 2)).toEqual([410, "revision-expired"]);
    expect((await ask("devices?since=99")).slice(0, 2)).toEqual([400, "revision-unknown"]);
    const [, , future] = await ask("devices", { "last-event-id": "99" });
    expect(future).toContain("Last-Event-ID");
    const [bad, , words] = await ask("devices", { "last-event-id": "abc" });
    expect(bad).toBe(400);
    expect(words).toContain('"Last-Event-ID" is "abc"');
    const events = await openEvents(h, "devices?since=5");
    await events.close();
  });

  test("after a restart, from the same revision", async () => {
    const data = join(temporaryFolder(), "log.sqlite");
    const first = await openHarness({ data });
    for (let n = 1; n <= 4; n++) await first.apply([device(n)]);
    await first.stop();
    await using h = await openHarness({ data });
    const events = await openEvents(h, "devices", { "last-event-id": "2" });
    await h.apply([device(5)]);
    expect((await events.reach(5)).map(({ id }) => id)).toEqual(["3", "4", "5"]);
    await events.close();
  });
});

test("a heartbeat every 15 s, which also tells how far a reader has come", async () => {
  await using h = await sample();
  const events = await openEvents(h, "devices?id=nobody");
  await events.until(({ event }) => event === "synced");
  await h.apply([device(9)]);
  await h.apply([device(8)]);
  expect(events.lastEventId).toBe("1");
  await h.clock.advance(15_000);
  await events.reach(3);
  expect(events.text).toEndWith(": heartbeat\nid: 3\n\n");
  await h.clock.advance(15_000);
  await h.apply([device(7)]);
  await h.clock.advance(15_000);
  await events.reach(4);
  expect(events.text.split(": heartbeat\nid: 3\n\n")).toHaveLength(3);
  await events.close();
});

test("a stop ends every stream with a hint when to come back, and new ones are refused", async () => {
  const h = await sample();
  const events = await openEvents(h, "devices");
  await events.until(({ event }) => event === "synced");
  const stopping = h.stop();
  const [last, ...more] = await events.rest();
  expect(more).toEqual([]);
  expect(last).toMatchObject({ event: "closing", data: { reason: "shutdown" } });
  expect(events.retryMs).toBe(2000);
  await stopping;
});

test("more streams than a user may have are refused with 429 until one is closed", async () => {
  await using h = await sample({ limits: { streamsPerUser: 2 } });
  const one = await openEvents(h, "devices");
  const two = await openEvents(h, "topology");
  const refused = await h.fetch("links?format=events");
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("10");
  expect(await refused.json()).toMatchObject({ type: "/docs/errors#too-many-streams" });
  expect((await h.fetch("links?format=events", { method: "HEAD" })).status).toBe(200);
  await one.close();
  const again = async () => {
    const response = await h.fetch("links?format=events");
    await response.body?.cancel();
    return response.status === 200;
  };
  await until(again, { what: "the place of the closed stream" });
  await two.close();
});

describe("a reader that stalls", () => {
  const noise = (n: number) => "x".repeat(15_000) + n;

  test("is ended with overflow once it has fallen out of the ring, and can resume", async () => {
    await using h = await openHarness({ ringBytes: 3_000_000 });
    for (let n = 0; n < 400; n++) await h.apply([device(n, { mfr: noise(n) })]);
    const slow = slowRequest(h.port, `${API}/devices?format=events`, AUTHORIZATION);
    await slow.started;
    // The system's buffers take some megabytes first, how many is its own affair.
    let told = 0;
    const change = async () => {
      for (let n = 0; n < 20; n++) await h.apply([device(n, { mfr: noise(-++told) })]);
      return (await (await h.fetch("/metrics")).text()).includes("gazetteer_streams_overflowed_total 1\n");
    };
    await until(change, { what: "a stream that has fallen out of the ring" });
    expect(await (await h.fetch("/metrics")).text()).toContain("gazetteer_streams_open 0\n");
    const text = (await slow.finish()).toString();
    expect(text.slice(-60)).toMatch(/event: overflow\ndata: \{"revision":\d+\}\n\n$/);
    // Less than all there was to tell: it was not kept for it.
    expect(text.length).toBeLessThan((400 + told) * 15_000);
  });

  test("costs no memory to speak of, and others go on", async () => {
    await using h = await openHarness({ ringBytes: 2_000_000, limits: { streamsPerUser: 200 } });
    for (let n = 0; n < 200; n++) await h.apply([device(n, { mfr: noise(n) })]);
    const reader = await openEvents(h, "devices");
    await reader.until(({ event }) => event === "synced");
    const before = rss();
    const slow = Array.from({ length: 60 }, () =>
      slowRequest(h.port, `${API}/devices?format=events`, AUTHORIZATION),
    );
    await Promise.all(slow.map(({ started }) => started));
    for (let n = 0; n < 600; n++) {
      await h.apply([device(n % 200, { mfr: noise(-n - 1) })]);
      if (n % 50 === 0) await reader.reach(h.view.revision);
    }
    await reader.reach(h.view.revision);
    // 60 readers times 9 MB of changes, had they been queued, are 540 MB.
    expect(rss() - before).toBeLessThan(250_000_000);
    await reader.close();
    await Promise.all(slow.map((one) => one.finish()));
  }, 180_000);
});

const rss = (): number => {
  Bun.gc(true);
  return process.memoryUsage.rss();
};

test("history that is forgotten under a slow reader of the log ends it; it never skips", async () => {
  await using h = await openHarness({ ringBytes: 10_000 });
  // More than the system's buffers take.
  const much = Object.fromEntries(Array.from("abcdefgh", (name) => [name, "x".repeat(15_000)]));
  for (let n = 1; n <= 600; n++) await h.apply([device(n % 50, { annotations: { ...much, n: String(n) } })]);
  const slow = slowRequest(h.port, `${API}/devices?format=events&since=1`, AUTHORIZATION);
  await slow.started;
  const keeper = new Compactor(h.view, h.log, h.clock, silentLogger, {
    retentionMs: 0,
    maxBytes: 1e12,
    snapshotAfterChanges: 1,
  });
  await keeper.compact();
  await h.log.prune(h.clock.now() + 1, 1e12, async () => {});
  const text = (await slow.finish()).toString();
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
  expect(ids).toEqual(ids.map((_, i) => i + 2));
  expect(ids.length).toBeLessThan(599);
  expect(text.slice(-50)).toContain("event: overflow");
});

test("the data of events is the JSON of the lists, hostile text included", async () => {
  await using h = await sample();
  const events = await openEvents(h, "devices");
  const told = await events.until(({ event }) => event === "synced");
  const { devices } = await h.json<{ devices: unknown[] }>("devices");
  expect(told.slice(0, -1).map(({ data }) => data.value)).toEqual(devices);
  await events.close();
});
