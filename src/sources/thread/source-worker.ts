/**
 * The thread of one source: creates the source from its entry of the configuration and runs it once. What it reports goes
 * to the service as messages (`protocol.ts`); the source does not know that it runs in a thread.
 */

import { readlinkSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { basename } from "node:path";
import { systemClock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import { sameJson } from "../../lib/same-json.ts";
import type { Claims } from "../../model/claim.ts";
import { createUnthreadedSource } from "../registry.ts";
import { type Source, SourceError } from "../source.ts";
import { readClaims } from "./claim-batches.ts";
import { DiffingSink, type Outlet } from "./diffing-sink.ts";
import {
  type BatchReport,
  decodeError,
  encodeError,
  type Metrics,
  type RunRequest,
  type ThreadError,
  type ThreadReport,
  type ThreadRequest,
} from "./protocol.ts";

declare const self: Worker;

const METRICS_INTERVAL_MS = 1000;
/** Steps of `nice`: the thread gets about a third of the share of one that serves requests. */
const NICE_STEPS = 5;
/** Number of records of a set after which the thread returns memory. */
const MANY_RECORDS = 10_000;
const RELEASE_DELAY_MS = 500;

const abort = new AbortController();
let commit: PromiseWithResolvers<void> | undefined;
let lastClaims: PromiseWithResolvers<void> | undefined;
let lastClaimBatches: BatchReport[] = [];
let source: Source | undefined;
let sentMetrics: Metrics | undefined;
let releaseTimer: ReturnType<typeof setTimeout> | undefined;

lowerPriority();
self.onmessage = ({ data: request }: MessageEvent<ThreadRequest>) => {
  switch (request.op) {
    case "run":
      void run(request);
      return;
    case "abort":
      abort.abort();
      return;
    case "committed":
      settle(commit, request.error);
      return;
    case "lastClaims":
      settle(lastClaims, request.error);
      return;
    default:
      lastClaimBatches.push(request);
  }
};

function settle(waiting: PromiseWithResolvers<void> | undefined, error: ThreadError | undefined): void {
  if (error) waiting?.reject(decodeError(error));
  else waiting?.resolve();
}

async function run({ entry, logId, stateDir, hasLastClaims }: RunRequest): Promise<void> {
  const timer = setInterval(sendMetrics, METRICS_INTERVAL_MS);
  let error: unknown;
  try {
    const context = { clock: systemClock, log, logId: () => logId, stateDir };
    const created = createUnthreadedSource(entry, context);
    // The service has checked the same entry.
    if (!created.ok) throw new Error(`options are not valid: ${created.faults[0]?.message}`);
    source = created.source;
    const sink = new DiffingSink(
      { ...outlet, ...(hasLastClaims && { lastClaims: readLastClaims }) },
      abort.signal,
    );
    await source.run(sink, abort.signal);
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
    // Finding the line of a fault in a large document takes much memory.
    releaseMemory();
  },
  setUpstreamLogs: (ids) => send({ op: "upstream-logs", ids }),
  onSetCommitted(records) {
    if (records >= MANY_RECORDS) releaseMemory();
  },
};

/**
 * Collects garbage once the source has had time to let go of what it has read. An idle thread would keep that until it
 * reads again.
 */
function releaseMemory(): void {
  clearTimeout(releaseTimer);
  releaseTimer = setTimeout(() => Bun.gc(true), RELEASE_DELAY_MS);
}

async function readLastClaims(): Promise<Claims> {
  lastClaims = Promise.withResolvers();
  lastClaimBatches = [];
  send({ op: "lastClaims" });
  await lastClaims.promise;
  return readClaims(lastClaimBatches);
}

const logAt =
  (level: keyof Logger): Logger["info"] =>
  (event, fields) =>
    send({ op: "log", level, event, ...(fields && { fields }) });

const log: Logger = {
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

/**
 * Gives the calling thread less of a busy processor than the thread that serves requests: reading a network can wait for a
 * moment, a reader should not. Only Linux has priorities of threads; elsewhere nothing happens.
 */
function lowerPriority(): void {
  try {
    const thread = Number(basename(readlinkSync("/proc/thread-self")));
    setPriority(thread, Math.min(constants.priority.PRIORITY_LOW, getPriority(thread) + NICE_STEPS));
  } catch {
    // No such file, or not permitted: the thread runs at the priority of the process.
  }
}
