/**
 * The thread of one source: creates the source from its entry of the configuration and runs it once. What it reports goes
 * to the service as messages (`protocol.ts`); the source does not know that it runs in a thread.
 */
import { systemClock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import { sameJson } from "../../lib/same-json.ts";
import { createUnthreadedSource } from "../registry.ts";
import { type Source, SourceError } from "../source.ts";
import { DiffingSink, type Outlet } from "./diffing-sink.ts";
import { decodeError, encodeError, type Metrics, type ThreadReport, type ThreadRequest } from "./protocol.ts";

declare const self: Worker;

const METRICS_INTERVAL_MS = 1000;
/** A set of more records is collected as garbage once the source has released it. */
const MANY_RECORDS = 10_000;
const RELEASE_DELAY_MS = 500;

const abort = new AbortController();
let commit: PromiseWithResolvers<void> | undefined;
let source: Source | undefined;
let sentMetrics: Metrics | undefined;

self.onmessage = ({ data: request }: MessageEvent<ThreadRequest>) => {
  if (request.op === "run") void run(request.entry);
  else if (request.op === "abort") abort.abort();
  else if (request.error) commit?.reject(decodeError(request.error));
  else commit?.resolve();
};

async function run(entry: Readonly<Record<string, unknown>>): Promise<void> {
  const timer = setInterval(sendMetrics, METRICS_INTERVAL_MS);
  let error: unknown;
  try {
    const created = createUnthreadedSource(entry, { clock: systemClock, log });
    // The service has checked the same entry.
    if (!created.ok) throw new Error(`options are not valid: ${created.faults[0]?.message}`);
    source = created.source;
    await source.run(new DiffingSink(outlet, abort.signal), abort.signal);
  } catch (thrown) {
    error = thrown ?? new Error("the source threw nothing");
  }
  clearInterval(timer);
  sendMetrics();
  send({ op: "ended", ...(error !== undefined && { error: encodeError(error) }) });
}

const outlet: Outlet = {
  sendBatch: (batch) => send(batch, [batch.json.buffer]),
  discard: () => send({ op: "discard" }),
  async commit(mode) {
    if (abort.signal.aborted) throw new SourceError("the source was stopped");
    commit = Promise.withResolvers();
    sendMetrics();
    send({ op: "commit", mode });
    await commit.promise;
  },
  reject: (records) => send({ op: "reject", records }),
  markStale(reason) {
    sendMetrics();
    send({ op: "stale", reason });
  },
  onSetCommitted(records) {
    if (records >= MANY_RECORDS) setTimeout(() => Bun.gc(true), RELEASE_DELAY_MS);
  },
};

const logAt =
  (level: keyof Logger): Logger["info"] =>
  (event, fields) =>
    send({ op: "log", level, event, ...(fields && { fields }) });

const log: Logger = {
  debug: logAt("debug"),
  info: logAt("info"),
  warn: logAt("warn"),
  error: logAt("error"),
  audit: logAt("audit"),
};

function sendMetrics(): void {
  const values = source?.metrics?.();
  if (!values || sameJson(values, sentMetrics)) return;
  sentMetrics = { ...values };
  send({ op: "metrics", values: sentMetrics });
}

function send(report: ThreadReport, transfer: ArrayBuffer[] = []): void {
  self.postMessage(report, transfer);
}
