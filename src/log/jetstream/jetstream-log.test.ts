/** What the log of a cluster stores of its place in the stream. With real servers: test/cluster. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { aborted } from "../../lib/aborted.ts";
import { systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../lib/logger.ts";
import { EngineError } from "../../nats/engine-error.ts";
import { openRetryingLog } from "../retrying-log.ts";
import { JetStreamLog } from "./jetstream-log.ts";
import { LogStream } from "./log-stream.ts";
import { encodeBatch, type StreamMessage } from "./messages.ts";
import { decodePosition } from "./position.ts";

const created = "2026-01-01T00:00:00Z";
const unused = (): never => {
  throw new EngineError("unreachable", "not used in this test");
};

/** A stream with these messages, without NATS. */
function streamOf(messages: readonly StreamMessage[]): LogStream {
  const engine = {
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
    reached: Promise.resolve(),
    close: async () => {},
  };
  const stream = new LogStream(engine, { stream: "test", subject: "test", replicas: 1 });
  stream.info = async () => ({
    created,
    firstSequence: 1,
    lastSequence: 1 + messages.length,
    messages: 1 + messages.length,
    bytes: 0,
    replicas: 1,
    followers: [],
  });
  stream.follow = async function* (_, signal) {
    yield* messages;
    await aborted(signal);
  };
  return stream;
}

test("the place of a batch is not stored before the batch, also when the log is closed meanwhile", async () => {
  const path = join(temporaryFolder(), "copy.sqlite");
  const retry = { clock: systemClock, logger: silentLogger };
  const local = openRetryingLog(path, retry);
  const store = local.store.bind(local);
  const [storing, isClosed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  local.store = async (...batch) => {
    storing.resolve();
    await isClosed.promise;
    return store(...batch);
  };
  const entries = [{ kind: "devices" as const, id: "d", before: null, after: "{}", changed: [] }];
  const writer = { log: local.id, key: local.signingKey, node: "other" };
  const encoded = await encodeBatch({ revision: 1, time: 1, entries }, writer, "batch", 1 << 20);
  const log = new JetStreamLog({
    local,
    stream: streamOf(encoded.map(({ headers, data }) => ({ sequence: 2, headers, data }))),
    node: "this",
    position: { created, sequence: 1, holders: {} },
    ...retry,
  });
  log.onArrival(() => void log.take().catch(() => {}));
  log.start();
  await storing.promise;
  await log.close();
  isClosed.resolve();
  const copy = openRetryingLog(path, retry);
  expect([copy.stats().newest, decodePosition(copy.position)]).toEqual([0, undefined]);
  await copy.close();
});
