/** The log of a cluster on a stream that is not one of a server: what it stores, and what it makes of an engine that errs. */
import { expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import { headers } from "@nats-io/transport-node";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { clusterNames } from "../../cluster/nats/nats-cluster.ts";
import { NatsError } from "../../cluster/nats/nats-error.ts";
import { aborted } from "../../lib/aborted.ts";
import { systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../lib/logger.ts";
import { openEmbeddedLog } from "../embedded.ts";
import { LogError } from "../log.ts";
import { LogWriter } from "../writer.ts";
import { JetStreamLog } from "./jetstream-log.ts";
import { LogStream } from "./log-stream.ts";
import { encodeBatch, encodeTakeover, type StreamMessage } from "./messages.ts";
import { decodePosition, firstPosition } from "./position.ts";

const created = "2026-01-01T00:00:00Z";
const retry = { clock: systemClock, logger: silentLogger };
const canLoad = async () => true;
const CRASHING_WRITER = new URL("../../../test/support/crashing-writer.ts", import.meta.url);
/** As `crashing-writer.ts` has it. */
const CRASH_BEFORE_WRITE = 1;
const unused = (): never => {
  throw new NatsError("unreachable", "not used in this test");
};

const base = { sequence: 1, headers: headers(), data: new Uint8Array(0) };
base.headers.set("Gazetteer-Signature", "base");
const position = firstPosition(created, "base");

const asMessage = ({ headers, data }: Pick<StreamMessage, "headers" | "data">, sequence: number) => ({
  sequence,
  headers,
  data,
});

/** A stream with these messages after its base, without NATS. */
function streamOf(messages: readonly StreamMessage[]): LogStream {
  const nats = {
    get connection() {
      return unused();
    },
    get jetstream() {
      return unused();
    },
    get manager() {
      return unused();
    },
    onConnection: () => () => {},
    isConnected: true,
    refusal: undefined,
    reached: Promise.resolve(),
    close: async () => {},
  };
  const stream = new LogStream({ nats, names: clusterNames("test"), replicas: 1 });
  stream.info = async () => ({
    created,
    firstSequence: 1,
    lastSequence: 1 + messages.length,
    messages: 1 + messages.length,
    bytes: 0,
    replicas: 1,
    followers: [],
  });
  stream.message = async (wanted) => [base, ...messages].find(({ sequence }) => sequence === wanted);
  stream.follow = async function* (_, signal) {
    yield* messages;
    await aborted(signal);
  };
  return stream;
}

test("the place of a batch is not stored before the batch, also when the log is closed meanwhile", async () => {
  const path = join(temporaryFolder(), "copy.sqlite");
  const local = openEmbeddedLog(path, { retry, worker: CRASHING_WRITER });
  const entries = [{ kind: "devices" as const, id: "d", before: null, after: "{}", changed: [] }];
  const writer = { log: local.id, key: local.signingKey, node: "other" };
  const time = CRASH_BEFORE_WRITE;
  const encoded = await encodeBatch({ revision: 1, time, entries }, writer, "batch", "base", 1 << 20);
  const log = new JetStreamLog({
    local,
    stream: streamOf(encoded.map(({ headers, data }) => ({ sequence: 2, headers, data }))),
    node: "this",
    canLoad,
    position,
    ...retry,
  });
  const taken = Promise.withResolvers<unknown>();
  log.onArrival(() => void log.take().then(taken.resolve));
  log.start();
  await taken.promise;
  expect(log.position.sequence).toBe(2);
  await log.close();
  const copy = openEmbeddedLog(path, { retry });
  expect([copy.stats().newest, decodePosition(copy.position)]).toEqual([0, undefined]);
  await copy.close();
});

test("messages that the engine skips are read: a takeover among them ends the right to write for a source", async () => {
  const local = openEmbeddedLog(":memory:", { retry });
  const writer = { log: local.id, key: local.signingKey, node: "other" };
  const first = encodeTakeover("a", writer, "first", "base");
  const takeover = asMessage(first, 2);
  const last = asMessage(encodeTakeover("b", writer, "second", first.signature), 3);
  const stream = streamOf([takeover, last]);
  stream.follow = async function* (_, signal) {
    yield last;
    await aborted(signal);
  };
  const log = new JetStreamLog({
    local,
    stream,
    node: "this",
    canLoad,
    position: { ...position, holders: { a: "this" } },
    ...retry,
  });
  const arrived = Promise.withResolvers<void>();
  log.onArrival(() => void log.take().then(() => log.sequence === last.sequence && arrived.resolve()));
  log.start();
  await arrived.promise;
  expect([log.holderOf("a"), log.holderOf("b")]).toEqual(["other", "other"]);
  await log.close();
});

test("what was refused for a message that the engine lost is published again", async () => {
  const clock = new ManualClock();
  const local = openEmbeddedLog(":memory:", { retry: { clock, logger: silentLogger } });
  const stream = streamOf([]);
  let attempts = 0;
  // The leader that refused is gone, and with it the message after the expected one.
  stream.publish = async (_, expected = 0) =>
    ++attempts % 2 === 1
      ? { stored: false, lastSequence: expected + 1 }
      : { stored: true, sequence: expected + 1 };
  Object.defineProperty(stream, "maxPayload", { value: 1 << 20 });
  const log = new JetStreamLog({
    local,
    stream,
    node: "this",
    canLoad,
    position,
    clock,
    logger: silentLogger,
  });
  const appended = log.append({ revision: 1, time: 1, entries: [] });
  while (clock.sleeping === 0) await Bun.sleep(0);
  await clock.advance(10_000);
  await appended;
  expect([attempts, log.sequence]).toEqual([2, 2]);
  const stop = new AbortController();
  const takingOver = log.takeOver("a", stop.signal);
  while (clock.sleeping === 0) await Bun.sleep(0);
  await clock.advance(10_000);
  while (attempts < 4) await Bun.sleep(0);
  stop.abort();
  expect(await takingOver).toBe(false);
  await log.close();
});

test("a node whose stream has lost its end is caught up, and shows what it has", async () => {
  const local = openEmbeddedLog(":memory:", { retry });
  const links = [...position.links, { sequence: 5, signature: "lost" }];
  const log = new JetStreamLog({
    local,
    stream: streamOf([]),
    node: "this",
    canLoad,
    position: { ...position, sequence: 5, links },
    ...retry,
  });
  log.start();
  await log.caughtUp(new AbortController().signal);
  expect(log.lost.aborted).toBe(false);
  await log.close();
});

test("a copy that cannot be marked as unusable, as with a full disk, is given up all the same", async () => {
  const clock = new ManualClock();
  const local = openEmbeddedLog(":memory:", { retry });
  const entries = [{ kind: "devices" as const, id: "d", before: null, after: "{}", changed: [] }];
  const writer = { log: local.id, key: local.signingKey, node: "other" };
  // After revision 0, which this node has.
  const [later] = await encodeBatch({ revision: 2, time: 1, entries }, writer, "batch", "base", 1 << 20);
  if (!later) throw new Error("no message");
  local.storePosition = () => Promise.reject(new LogError("write-failed", "the disk is full"));
  const log = new JetStreamLog({
    local,
    stream: streamOf([asMessage(later, 2)]),
    node: "this",
    canLoad,
    position,
    clock,
    logger: silentLogger,
  });
  log.onArrival(() => void log.take().catch(() => {}));
  log.start();
  while (!log.health.trouble) await Bun.sleep(0);
  expect(log.health.trouble).toMatchObject({ condition: "gap" });
  // There is a complete state to load.
  await clock.advance(2_000);
  await aborted(log.lost);
  await log.close();
});

test("a node that cannot write its copy says so at the first failed write, and is stale until it is written", async () => {
  const clock = new ManualClock();
  const local = openEmbeddedLog(":memory:", { retry: { clock, logger: silentLogger } });
  const entries = [{ kind: "devices" as const, id: "d", before: null, after: "{}", changed: [] }];
  const writer = { log: local.id, key: local.signingKey, node: "other" };
  const time = clock.now() - 5_000;
  const messageOf = async (revision: number, previous: string) => {
    const batch = { revision, time, entries };
    const [message] = await encodeBatch(batch, writer, `batch ${revision}`, previous, 1 << 20);
    if (!message) throw new Error("no message");
    return message;
  };
  const first = await messageOf(1, "base");
  const second = asMessage(await messageOf(2, first.signature), 3);
  using write = spyOn(LogWriter.prototype, "write");
  write.mockRejectedValueOnce(new Error("the disk is full"));
  const stream = streamOf([asMessage(first, 2), second]);
  const isFailing = Promise.withResolvers<void>();
  stream.follow = async function* (_, signal) {
    yield asMessage(first, 2);
    await isFailing.promise;
    yield second;
    await aborted(signal);
  };
  const log = new JetStreamLog({
    local,
    stream,
    node: "this",
    position,
    canLoad,
    clock,
    logger: silentLogger,
  });
  const stale: boolean[] = [];
  log.health.onStale(() => stale.push(log.health.staleSince !== undefined));
  const taken: number[] = [];
  log.onArrival(() => void log.take().then((batch) => batch && taken.push(batch.revision)));
  log.start();
  while (taken.length === 0) await Bun.sleep(0);
  while (!log.health.trouble) await clock.advance(10);
  expect(log.health.trouble).toMatchObject({
    condition: "disk",
    message: "this node cannot write its copy of the log: the log could not be written: the disk is full",
  });
  // The time of the last revision that it shows.
  expect(log.health.staleSince).toBe(time);
  // Nothing more is applied.
  isFailing.resolve();
  while (log.lag === 0) await Bun.sleep(0);
  expect([log.lag, taken]).toEqual([1, [1]]);
  await clock.advance(5_000);
  while (taken.length === 1) await Bun.sleep(0);
  expect(log.health.trouble).toBeUndefined();
  expect(log.lag).toBe(0);
  expect(stale).toEqual([true, false]);
  await log.close();
});

test("a node whose clock is wrong publishes nothing; a time from before it was right is computed again", async () => {
  const local = openEmbeddedLog(":memory:", { retry });
  const stream = streamOf([]);
  stream.publish = () => Promise.reject(new Error("published"));
  let [state, isAhead]: ["right" | "wrong", boolean] = ["wrong", false];
  const clockCheck = { check: async () => state, isAhead: () => isAhead };
  const log = new JetStreamLog({ local, stream, node: "this", position, canLoad, clockCheck, ...retry });
  const entries = [{ kind: "devices" as const, id: "d", before: null, after: "{}", changed: [] }];
  const refusal = (source?: string) =>
    log.append({ revision: 1, time: 7_200_000, entries }, source).catch((error: LogError) => error.code);
  expect(await refusal("x")).toBe("not-holder");
  expect(await refusal()).toBe("write-failed");
  [state, isAhead] = ["right", true];
  expect(await refusal("x")).toBe("overtaken");
  await log.close();
});
