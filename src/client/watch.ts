/**
 * Yields one sequence of events over any number of connections. This file decides when to reconnect and when to fail. A
 * state decides which events the consumer receives: `WatchState` those of the log, `ProblemsState` those of the problems.
 *
 * Nothing is read while the consumer is busy, so a slow consumer causes backpressure and not memory use. A consumer
 * that is too slow for the service receives `overflow`, is disconnected, and resumes where it was.
 */
import { createBackoff } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import { ClientError } from "./client-error.ts";
import { type EventRecord, EventStreamParser } from "./event-stream.ts";
import { parseBody } from "./stream-records.ts";
import type { ConnectionState } from "./types.ts";

const INITIAL_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
/** Limits the delay that a service can request, so that a wrong value does not stop the watch. */
const MAX_REQUESTED_DELAY_MS = 5 * 60_000;

export interface WatchOptions {
  /** Aborting ends the watch without an error. */
  readonly signal?: AbortSignal | undefined;
  /** The revision after which the watch starts. Without it, the watch starts with a snapshot. */
  readonly since?: number | undefined;
  readonly onState?: ((state: ConnectionState) => void) | undefined;
  /** Called with the last complete revision, also when none of its changes is part of what is watched. */
  readonly onRevision?: ((revision: number) => void) | undefined;
}

/** What the consumer has received, over all connections. */
export interface StreamState<T> {
  /** The last complete revision, after which the next connection starts; undefined requests a snapshot. */
  since: number | undefined;
  /** Whether a connection can continue after `since`. Without it, each one begins with a snapshot. */
  readonly resumes: boolean;
  /** Discards what the last connection started and did not complete. */
  startConnection(): void;
  receive(record: EventRecord): Iterable<T>;
  /** Called after each chunk with the last id, which may be that of a record without data. */
  advanceTo?(id: string): Iterable<T>;
}

export interface WatchContext {
  /** The bytes of a stream that starts after `since`. Opening and reading may throw a `ClientError`. */
  connect(since: number | undefined): Promise<AsyncGenerator<Uint8Array, void, void>>;
  readonly clock: Clock;
  readonly random: () => number;
}

interface ConnectionEnd {
  readonly reason: string;
  /** Whether the watch reconnects without a delay. */
  readonly immediate: boolean;
  /** The delay that the service requested. */
  readonly requestedDelayMs: number;
}

export async function* watch<T>(
  state: StreamState<T>,
  context: WatchContext,
  options: WatchOptions,
): AsyncGenerator<T, void, void> {
  const { signal, onState = () => {} } = options;
  const { clock } = context;
  const backoff = createBackoff(INITIAL_BACKOFF_MS, MAX_BACKOFF_MS, context.random);
  try {
    while (!signal?.aborted) {
      onState({ state: "connecting" });
      state.startConnection();
      const [startedAtMs, sinceBefore] = [clock.monotonic(), state.since];
      const { reason, immediate, requestedDelayMs } = yield* readConnection(state, context, options);
      if (signal?.aborted) return;
      // Being connected is not enough to reset the backoff: a service may accept every connection and then fail.
      const advanced = state.since !== undefined && state.since !== sinceBefore;
      if (advanced || clock.monotonic() - startedAtMs > MAX_BACKOFF_MS) backoff.reset();
      // The backoff is added, so that clients that were sent the same delay do not reconnect at the same time.
      const afterMs = immediate ? 0 : Math.min(requestedDelayMs, MAX_REQUESTED_DELAY_MS) + backoff.nextMs();
      onState({ state: "reconnecting", afterMs, reason });
      if (afterMs > 0) await clock.sleep(afterMs, signal);
    }
  } finally {
    onState({ state: "closed" });
  }
}

/** Reads one connection to its end. Throws errors that another attempt would not resolve. */
async function* readConnection<T>(
  state: StreamState<T>,
  { connect }: WatchContext,
  options: WatchOptions,
): AsyncGenerator<T, ConnectionEnd, void> {
  const { signal, onState, onRevision } = options;
  const parser = new EventStreamParser();
  const { since } = state;
  const ended = (reason: string, requestedDelayMs = parser.retryMs ?? 0): ConnectionEnd => ({
    reason,
    immediate: false,
    requestedDelayMs,
  });
  try {
    const chunks = await connect(since);
    onState?.({ state: "connected" });
    for await (const chunk of chunks) {
      for (const record of parser.push(chunk)) {
        if (record.event === "overflow") return endAfterOverflow(state, since);
        if (record.event === "closing") {
          const { reason } = parseBody(record.data);
          return ended(`the service ends the stream (${typeof reason === "string" ? reason : "unknown"})`);
        }
        for (const event of state.receive(record)) {
          yield event;
          if (signal?.aborted) return ended("aborted");
        }
      }
      yield* state.advanceTo?.(parser.lastEventId) ?? [];
      if (state.since !== undefined) onRevision?.(state.since);
    }
    return ended("the connection ended");
  } catch (error) {
    if (signal?.aborted) return ended("aborted");
    if (!(error instanceof ClientError)) throw error;
    if (isRevisionUnavailable(error, since, options.since)) {
      state.since = undefined;
      return { reason: error.detail, immediate: true, requestedDelayMs: 0 };
    }
    if (!error.transient) throw error;
    return ended(error.detail, error.retryAfterMs);
  }
}

/**
 * A client that fell behind resumes immediately. If it made no progress on this connection, resuming would overflow
 * again, so it starts over with a snapshot.
 */
function endAfterOverflow(state: StreamState<unknown>, since: number | undefined): ConnectionEnd {
  const madeNoProgress = state.since === since;
  if (madeNoProgress) state.since = undefined;
  return { reason: "fell behind", immediate: state.resumes && !madeNoProgress, requestedDelayMs: 0 };
}

/**
 * Whether the service no longer has the changes since a revision, or has a new log. An unknown revision that the
 * caller passed as `since` is the caller's error instead.
 */
function isRevisionUnavailable(
  error: ClientError,
  since: number | undefined,
  callersSince: number | undefined,
): boolean {
  if (since === undefined) return false;
  return error.status === 410 || (error.code === "revision-unknown" && since !== callersSince);
}
