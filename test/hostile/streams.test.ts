/** Event streams of one user do not delay another: they are rendered in steps, once for all streams at the same position. */
import { expect, test } from "bun:test";
import { PLAIN } from "../../src/api/onos/dialect.ts";
import { throwIfFault } from "../../src/api/response/problem.ts";
import { createChangeCursor } from "../../src/api/stream/change-cursor.ts";
import { SseHub } from "../../src/api/stream/sse-hub.ts";
import type { BodySource } from "../../src/http1/body-source.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { uncountedMemory } from "../../src/lib/memory-budget.ts";
import { runToEnd } from "../../src/lib/steps.ts";
import { yieldToLoop } from "../../src/lib/yield-to-loop.ts";
import { parameterSet } from "../../src/query/parameters.ts";
import { parseQuery } from "../../src/query/parse-query.ts";
import { openEventReader, revisionOf } from "../api/events.ts";
import { type Harness, openHarness } from "../api/harness.ts";
import { deviceId, setDevice } from "../api/network.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { createSteppingScheduler } from "../support/stepping-scheduler.ts";
import { until } from "../support/until.ts";
import { ANN, as, BOB, metric, withTwoUsers } from "./two-users.ts";

const RENDERED = "gazetteer_stream_chunks_rendered_total";
const STREAMS = 50;

/** Changes that only the log has, and the last of which matches every text from `zzz0` to `zzz49`. */
async function makeHistory(h: Harness): Promise<void> {
  for (let n = 1; n <= 600; n++) await h.apply([setDevice(n % 7, { sw: String(n) })]);
  await h.apply([setDevice(8, { sw: Array.from({ length: STREAMS }, (_, n) => `zzz${n}`).join(" ") })]);
  expect(h.history.ringHolds(0)).toBe(false);
}

const openCatchUps = (h: Harness, text: (n: number) => string) =>
  Promise.all(
    Array.from({ length: STREAMS }, (_, n) =>
      openEventReader(h, `devices?since=0&q=${text(n)}`, { authorization: ANN }),
    ),
  );

test("another user's read is answered before 50 streams with different filters have caught up", async () => {
  const scheduler = createSteppingScheduler(() => {});
  await withTwoUsers({ scheduler, ringBytes: 2_000 }, async (h) => {
    await makeHistory(h);
    await h.fetch("devices?limit=1", as(BOB)); // logs in
    const streams = await openCatchUps(h, (n) => `zzz${n}`);
    let through = 0;
    const all = streams.map(async (stream) => {
      expect((await stream.next())?.id).toBe(`${h.log.id}.601`);
      through++;
    });
    const response = await h.fetch("devices?q=zzz", as(BOB));
    expect([response.status, through]).toEqual([200, 0]);
    await Promise.all(all);
    for (const stream of streams) await stream.close();
  });
});

test("50 streams with the same filters catch up together: each chunk is rendered once", async () => {
  await withTwoUsers({ ringBytes: 2_000 }, async (h) => {
    await makeHistory(h);
    const streams = await openCatchUps(h, () => "zzz");
    for (const stream of streams) expect((await stream.next())?.id).toBe(`${h.log.id}.601`);
    // 256 batches each: a stream on its own renders three.
    expect(await metric(h, RENDERED)).toBe(3);
    for (const stream of streams) await stream.close();
  });
});

test("a stream whose filters match nothing advances: its heartbeat has the newest revision", async () => {
  await withTwoUsers({ ringBytes: 2_000 }, async (h) => {
    for (let n = 1; n <= 600; n++) await h.apply([setDevice(n % 7, { sw: String(n) })]);
    const stream = await openEventReader(h, "devices?since=0&q=zzz", { authorization: ANN });
    const next = stream.next();
    await until(async () => (await metric(h, RENDERED)) >= 3, { what: "the stream to catch up" });
    await h.clock.advance(15_000);
    await until(() => stream.text.includes(`id: ${h.log.id}.600\n`), { what: "the heartbeat" });
    await stream.close();
    await next;
  });
});

test("a revision with a thousand changes is sent in pieces, and only its last record has the id", async () => {
  await withTwoUsers({}, async (h) => {
    const devices = Array.from({ length: 1000 }, (_, i) => ({ id: deviceId(i), mfr: "x".repeat(2000) }));
    const stream = await openEventReader(h, "topology", { authorization: ANN });
    await stream.readUntil(({ event }) => event === "synced");
    const before = await metric(h, RENDERED);
    await h.replace({ devices });
    const events = await stream.readToRevision(1);
    expect(events).toHaveLength(1000);
    expect(events.map(({ id }) => revisionOf(id))).toEqual([...Array<number>(999).fill(0), 1]);
    expect((await metric(h, RENDERED)) - before).toBeGreaterThan(2_000_000 / 70_000);
    await stream.close();
  });
});

test("streams around the same device share the neighbourhood and its comparison", async () => {
  await withTwoUsers({}, async (h) => {
    const links = Array.from({ length: 20 }, (_, n) => ({
      src: { device: deviceId(n), port: 1 },
      dst: { device: deviceId(n + 1), port: 2 },
    }));
    await h.replace({ devices: Array.from({ length: 21 }, (_, n) => ({ id: deviceId(n) })), links });
    const streams = await Promise.all(
      Array.from({ length: 20 }, () =>
        openEventReader(h, `devices?around=${deviceId(0)}&hops=64`, { authorization: ANN }),
      ),
    );
    for (const stream of streams) await stream.readUntil(({ event }) => event === "synced");
    const before = await metric(h, RENDERED);
    for (let n = 1; n <= 3; n++) {
      await h.apply([setDevice(n, { sw: "new" })]);
      await Promise.all(streams.map((stream) => stream.readToRevision(1 + n)));
    }
    expect((await metric(h, RENDERED)) - before).toBe(3);
    for (const stream of streams) await stream.close();
  });
});

const openHub = ({ history, scheduler }: Harness, clock: Clock): SseHub =>
  new SseHub(history, scheduler, { streamsPerUser: 10_000 }, clock, 15_000);

/** Streams that have received everything. `onWoken` is called with each that is woken. */
function openStreams({ view, history }: Harness, hub: SseHub, length: number, onWoken: OnWoken) {
  const context = { view, history, dialect: PLAIN, memory: uncountedMemory() };
  const query = throwIfFault(parseQuery([], parameterSet([]), { pageLimit: 1, acceptsNames: true }));
  return Array.from({ length }, () => {
    const cursor = runToEnd(createChangeCursor(context, "devices", query, 0, hub.chunks));
    const stream = hub.openStream({
      user: "ann",
      owner: "user:ann",
      cursor,
      firstRecord: "",
      memory: uncountedMemory(),
    });
    stream.open(() => onWoken(stream));
    while (stream.next() !== "wait");
    return stream;
  });
}
type OnWoken = (stream: BodySource) => void;

test("after a round the hub rests for half the time that it took, and streams get what came meanwhile in one chunk", async () => {
  await using h = await openHarness();
  const clock = new ManualClock();
  let [busyMs, woken] = [0, 0];
  const chunks: string[] = [];
  const hub = openHub(h, {
    now: () => clock.now(),
    monotonic: () => clock.monotonic() + busyMs,
    sleep: (ms) => clock.sleep(ms),
  });
  const streams = openStreams(h, hub, 10, (stream) => {
    woken++;
    busyMs++;
    for (let chunk = stream.next(); typeof chunk !== "string"; chunk = stream.next())
      chunks.push(Buffer.from(chunk).toString());
  });
  await h.apply([setDevice(1)]);
  await until(() => woken === 10, { what: "the first round" });
  for (const id of [2, 3]) await h.apply([setDevice(id)]);
  await until(() => clock.sleeping === 1, { what: "the rest" });
  await clock.advance(4);
  expect(woken).toBe(10);
  await clock.advance(1);
  await until(() => woken === 20, { what: "the second round" });
  expect(chunks.map((text) => text.match(/^event: added$/gm)?.length)).toEqual([
    ...streams.map(() => 1),
    ...streams.map(() => 2),
  ]);
  // After the rest there is no other one until streams have been woken.
  await clock.advance(10);
  await h.apply([setDevice(4)]);
  await until(() => woken === 30, { what: "the third round" });
  for (const stream of streams) stream.close();
});

test("a change wakes at most 256 streams in one turn of the event loop", async () => {
  await using h = await openHarness();
  const hub = openHub(h, h.clock);
  let woken = 0;
  const streams = openStreams(h, hub, 600, () => {
    woken++;
  });
  await h.apply([setDevice(1)]);
  let most = 0;
  for (let before = woken; woken < streams.length; before = woken) {
    await yieldToLoop();
    most = Math.max(most, woken - before);
  }
  expect(most).toBeLessThanOrEqual(256);
  expect(streams.map((stream) => String(stream.next()).split("\n")[1])).toEqual(
    streams.map(() => "event: added"),
  );
  // Rendered once.
  expect(hub.chunks.rendered).toBe(1);
  for (const stream of streams) stream.close();
});
