/**
 * The thread of one source: creates the source from its entry of the configuration and runs it once. Its reports are sent to
 * the service as messages (`protocol.ts`). The source itself is the same as without a thread.
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
/** Steps of `nice`. With these, the thread gets about a third of the CPU share of a thread that serves requests. */
const NICE_STEPS = 5;
/** Minimum size of a set, in records, after which the thread releases memory. */
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
    // This does not happen, because the service has checked the same entry.
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
    // Memory is released, because finding the line of a fault in a large document needs much.
    releaseMemory();
  },
  setUpstreamLogs: (ids) => send({ op: "upstream-logs", ids }),
  onSetRead(records) {
    if (records >= MANY_RECORDS) releaseMemory();
  },
};

/**
 * Collects garbage after a delay, in which the source drops its references to the input. An idle thread would otherwise keep
 * the memory until it reads again.
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
 * Lowers the priority of the calling thread, because reading a network can wait for a moment and serving requests should not.
 * Only Linux has priorities of threads; elsewhere nothing happens.
 */
function lowerPriority(): void {
  try {
    const thread = Number(basename(readlinkSync("/proc/thread-self")));
    setPriority(thread, Math.min(constants.priority.PRIORITY_LOW, getPriority(thread) + NICE_STEPS));
  } catch {
    // There is no such file, or the change is not permitted. The thread runs at the priority of the process.
  }
}
