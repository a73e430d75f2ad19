/**
 * Yields one sequence of events over any number of connections. This file decides when to reconnect and when to fail;
 * watch-state.ts decides which events the consumer receives.
 *
 * Nothing is read while the consumer is busy, so a slow consumer causes backpressure and not memory use. A consumer
 * that is too slow for the service receives `overflow`, is disconnected, and resumes where it was.
 */
import { createBackoff } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import type { Kind } from "../model/ids.ts";
import { ClientError } from "./client-error.ts";
import { EventStreamParser } from "./event-stream.ts";
import { parseClosingReason } from "./stream-records.ts";
import type { ConnectionState, WatchEvent } from "./types.ts";
import { WatchState } from "./watch-state.ts";

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

export interface WatchContext<K extends Kind> {
  readonly kinds: readonly K[];
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

export async function* watch<K extends Kind>(
  context: WatchContext<K>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<K>, void, void> {
  const { signal, onState = () => {} } = options;
  const { clock } = context;
  const state = new WatchState(context.kinds, options.since);
  const backoff = createBackoff(INITIAL_BACKOFF_MS, MAX_BACKOFF_MS, context.random);
  try {
    while (!signal?.aborted) {
      onState({ state: "connecting" });
      const [startedAtMs, sinceBefore] = [clock.monotonic(), state.since];
      const { reason, immediate, requestedDelayMs } = yield* readConnection(context, state, options);
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
async function* readConnection<K extends Kind>(
  { connect }: WatchContext<K>,
  state: WatchState<K>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<K>, ConnectionEnd, void> {
  const { signal, onState, onRevision } = options;
  const parser = new EventStreamParser();
  const { since } = state;
  const ended = (reason: string, requestedDelayMs = parser.retryMs ?? 0): ConnectionEnd => ({
    reason,
    immediate: false,
    requestedDelayMs,
  });
  state.startConnection();
  try {
    const chunks = await connect(since);
    onState?.({ state: "connected" });
    for await (const chunk of chunks) {
      for (const record of parser.push(chunk)) {
        if (record.event === "overflow") return endAfterOverflow(state, since);
        if (record.event === "closing") {
          return ended(`the service ends the stream (${parseClosingReason(record)})`);
        }
        for (const event of state.receive(record)) {
          yield event;
          if (signal?.aborted) return ended("aborted");
        }
      }
      for (const event of state.advanceTo(parser.lastEventId)) yield event;
      if (state.since !== undefined) onRevision?.(state.since);
    }
    return ended("the connection ended");
  } catch (error) {
    if (signal?.aborted) return ended("aborted");
    if (!(error instanceof ClientError)) throw error;
    if (isRevisionUnavailable(error, since, options.since)) {
      state.requestSnapshot();
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
function endAfterOverflow(state: WatchState<Kind>, since: number | undefined): ConnectionEnd {
  const madeNoProgress = state.since === since;
  if (madeNoProgress) state.requestSnapshot();
  return { reason: "fell behind", immediate: !madeNoProgress, requestedDelayMs: 0 };
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
