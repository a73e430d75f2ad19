/**
 * Watching: one sequence of events over as many connections as it takes. This file decides when to connect again and
 * when to give up; course.ts decides what the consumer is told.
 *
 * The consumer's pace is the pace of reading: nothing is read while it is busy. One that is too slow for the service
 * is cut off by it (`overflow`) and resumes where it was.
 */
import { createBackoff } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import type { Kind } from "../model/ids.ts";
import { ClientError } from "./client-error.ts";
import { EventStreamParser } from "./event-stream.ts";
import { reasonIn } from "./stream-records.ts";
import type { ConnectionState, WatchEvent } from "./types.ts";
import { WatchState } from "./watch-state.ts";

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** However long a peer asks to be left alone. */
const MAX_HINT_MS = 5 * 60_000;

export interface WatchOptions {
  /** Ends the watch, quietly. */
  readonly signal?: AbortSignal | undefined;
  /** Begin with the changes after this revision instead of with what there is. */
  readonly since?: number | undefined;
  readonly onState?: ((state: ConnectionState) => void) | undefined;
  /** Everything up to this revision has been given out: also told where none of it concerned what is watched. */
  readonly onRevision?: ((revision: number) => void) | undefined;
}

export interface WatchContext<K extends Kind> {
  readonly kinds: readonly K[];
  /** The bytes of a stream that begins after `since`. Throws a `ClientError`, also while they come. */
  connect(since: number | undefined): Promise<AsyncGenerator<Uint8Array, void, void>>;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Why a connection is over, and what to do before the next. */
interface Ending {
  readonly reason: string;
  readonly atOnce: boolean;
  /** How long the service asks to be left alone. */
  readonly hintMs: number;
}

export async function* watch<K extends Kind>(
  context: WatchContext<K>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<K>, void, void> {
  const { signal, onState = () => {} } = options;
  const { clock } = context;
  const course = new WatchState(context.kinds, options.since);
  const backoff = createBackoff(FIRST_PAUSE_MS, MAX_PAUSE_MS, context.random);
  try {
    while (!signal?.aborted) {
      onState({ state: "connecting" });
      const [began, before] = [clock.now(), course.since];
      const { reason, atOnce, hintMs } = yield* connection(context, course, options);
      if (signal?.aborted) return;
      // Being connected is not yet success: a service that lets everybody in and breaks down is to be spared.
      const advanced = course.since !== undefined && course.since !== before;
      if (advanced || clock.now() - began > MAX_PAUSE_MS) backoff.reset();
      // On top of what is asked for, so that those who were told the same do not come back together.
      const afterMs = atOnce ? 0 : Math.min(hintMs, MAX_HINT_MS) + backoff.nextMs();
      onState({ state: "reconnecting", afterMs, reason });
      if (afterMs > 0) await clock.sleep(afterMs, signal);
    }
  } finally {
    onState({ state: "closed" });
  }
}

/** One connection, from first to last byte. Throws what trying again would not mend. */
async function* connection<K extends Kind>(
  { connect }: WatchContext<K>,
  course: WatchState<K>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<K>, Ending, void> {
  const { signal, onState, onRevision } = options;
  const parser = new EventStreamParser();
  const from = course.since;
  const over = (reason: string, hintMs = parser.retryMs ?? 0): Ending => ({ reason, atOnce: false, hintMs });
  course.begin();
  try {
    const chunks = await connect(from);
    onState?.({ state: "connected" });
    for await (const chunk of chunks) {
      for (const record of parser.push(chunk)) {
        if (record.event === "overflow") return overflow(course, from);
        if (record.event === "closing") return over(`the service ends the stream (${reasonIn(record)})`);
        for (const event of course.take(record)) {
          yield event;
          if (signal?.aborted) return over("aborted");
        }
      }
      for (const event of course.reach(parser.lastEventId)) yield event;
      if (course.since !== undefined) onRevision?.(course.since);
    }
    return over("the connection ended");
  } catch (error) {
    if (signal?.aborted) return over("aborted");
    if (!(error instanceof ClientError)) throw error;
    if (isForgotten(error, from, options.since)) {
      course.forget();
      return { reason: error.detail, atOnce: true, hintMs: 0 };
    }
    if (!error.transient) throw error;
    return over(error.detail, error.retryAfterMs);
  }
}

/** Who fell behind resumes at once, unless it did not get anywhere: then catching up takes a fresh start. */
function overflow(course: WatchState<Kind>, from: number | undefined): Ending {
  const stuck = course.since === from;
  if (stuck) course.forget();
  return { reason: "fell behind", atOnce: !stuck, hintMs: 0 };
}

/**
 * Whether the service no longer has what happened since, or lost its memory and counts from the beginning. A revision
 * that the caller made up is an error and not that.
 */
function isForgotten(error: ClientError, from: number | undefined, given: number | undefined): boolean {
  if (from === undefined) return false;
  return error.status === 410 || (error.code === "revision-unknown" && from !== given);
}
