/**
 * All open event streams: opens them within the limits, wakes them after each change, sends heartbeats, and closes them
 * when their credentials change or the service stops.
 *
 * Streams are woken in rounds. Thousands of streams take several turns of the event loop, a slice in each. After a round the hub
 * rests for half the time that the round took, and a stream gets all changes that came meanwhile in one write, because a write
 * costs much more than a change. So streams leave a third of the time to others, and with few streams the rest is too short to
 * be noticed.
 *
 * A subscriber whose cursor falls out of the ring of recent changes receives `overflow` and is closed; it resumes by id.
 */

import type { BodySource } from "../../http1/body-source.ts";
import type { Clock } from "../../lib/clock.ts";
import { Quota } from "../../lib/quota.ts";
import type { Scheduler } from "../../lib/scheduler.ts";
import type { History } from "../../view/history.ts";
import { INTERNAL_USER } from "../auth/authenticate.ts";
import { ProblemDetails } from "../response/problem.ts";
import { EventStream, type EventStreamOptions } from "./event-stream.ts";
import { SharedChunks } from "./shared-chunks.ts";
import { closingRecord } from "./sse.ts";

/** The limits of streams. They must be read at each use, because a reload of the configuration changes them. */
export interface StreamLimits {
  readonly streamsPerUser: number;
}

const SHUTDOWN_RETRY_MS = 2_000;
const CREDENTIALS_RETRY_MS = 10_000;
/** Number of streams and bytes in one turn of the event loop. A write takes about 8 µs, and copying a megabyte 0.5 ms. */
const STREAMS_PER_TURN = 256;
const BYTES_PER_TURN = 2 * 1024 * 1024;
/** Rest after a round, as a share of the time that the round took. */
const REST_SHARE = 0.5;
/** Bounds of the rest. Timers are no more precise than the shortest, and the longest is still a short delay. */
const MIN_REST_MS = 1;
const MAX_REST_MS = 20;

export class SseHub {
  /** The chunks that streams at the same position share. */
  readonly chunks = new SharedChunks();
  readonly #scheduler: Scheduler;
  readonly #limits: StreamLimits;
  readonly #quota: Quota;
  readonly #clock: Clock;
  readonly #heartbeatMs: number;
  readonly #streams = new Set<EventStream>();
  #openedTotal = 0;
  #overflowedTotal = 0;
  #isStopping = false;
  /** The streams that are left to wake in this round, in this order. */
  #round = new Set<EventStream>();
  /** The streams to wake in the next round. */
  #due = new Set<EventStream>();
  /** Time that this round has taken so far, without the work of others between its turns. */
  #roundMs = 0;
  /** The end of the rest after the last round, by the monotonic clock. */
  #restUntil = 0;
  /** Whether a stream of the next round has more to send already, so that nothing is gained by a rest. */
  #isCatchingUp = false;
  #isTurnScheduled = false;

  constructor(
    history: History,
    scheduler: Scheduler,
    limits: StreamLimits,
    clock: Clock,
    heartbeatMs: number,
  ) {
    this.#clock = clock;
    this.#scheduler = scheduler;
    this.#limits = limits;
    this.#quota = new Quota({
      get perKey() {
        return limits.streamsPerUser;
      },
      total: Number.POSITIVE_INFINITY,
    });
    this.#heartbeatMs = heartbeatMs;
    history.subscribe(() => this.wakeAll());
  }

  /** Must be called when streams may have something to send. */
  wakeAll(): void {
    for (const stream of this.#streams) this.#due.add(stream);
    this.#scheduleTurn();
  }

  /** Schedules one turn for all batches that are committed in the current turn of the event loop, or during a rest. */
  #scheduleTurn(): void {
    if (this.#isTurnScheduled || this.#round.size + this.#due.size === 0) return;
    this.#isTurnScheduled = true;
    const isResting = this.#round.size === 0 && !this.#isCatchingUp;
    const restMs = isResting ? this.#restUntil - this.#clock.monotonic() : 0;
    if (restMs < MIN_REST_MS) setImmediate(() => this.#turn());
    else void this.#clock.sleep(restMs).then(() => this.#turn());
  }

  #turn(): void {
    this.#isTurnScheduled = false;
    const start = this.#clock.monotonic();
    if (this.#round.size === 0) {
      this.#round = this.#due;
      this.#due = new Set();
      this.#roundMs = 0;
      this.#isCatchingUp = false;
    }
    let streamsLeft = STREAMS_PER_TURN;
    let bytesLeft = BYTES_PER_TURN;
    for (const stream of this.#round) {
      if (streamsLeft-- === 0 || bytesLeft <= 0) break;
      this.#round.delete(stream);
      // It gets everything now. If it pauses, it is due again.
      this.#due.delete(stream);
      const before = stream.bytesTaken;
      stream.wake();
      bytesLeft -= stream.bytesTaken - before;
    }
    const end = this.#clock.monotonic();
    this.#roundMs += end - start;
    this.#restUntil = end + Math.min(REST_SHARE * this.#roundMs, MAX_REST_MS);
    this.#scheduleTurn();
  }

  get openCount(): number {
    return this.#streams.size;
  }

  get openedTotal(): number {
    return this.#openedTotal;
  }

  get overflowedTotal(): number {
    return this.#overflowedTotal;
  }

  /** Throws a `ProblemDetails` if the user may not open another stream. */
  requireRoom(user: string): void {
    if (this.#isStopping)
      throw new ProblemDetails("stopping", "The service is stopping; try again in a moment.", {
        "Retry-After": "2",
      });
    if (user === INTERNAL_USER || !this.#quota.exceededBy(user)) return;
    throw new ProblemDetails(
      "too-many-streams",
      `This user has ${this.#limits.streamsPerUser} open streams, which is the maximum; close one first.`,
      { "Retry-After": "10" },
    );
  }

  /** Returns a body that lasts until the client disconnects or the stream is closed. Throws like `requireRoom`. */
  openStream(options: Omit<EventStreamOptions, "scheduler" | "onPause" | "onEnd">): BodySource {
    const { user } = options;
    this.requireRoom(user);
    this.#quota.add(user);
    this.#openedTotal++;
    const stream = new EventStream({
      ...options,
      scheduler: this.#scheduler,
      onPause: this.#onPause,
      onEnd: this.#onEnd,
    });
    this.#streams.add(stream);
    return stream;
  }

  readonly #onPause = (stream: EventStream): void => {
    this.#due.add(stream);
    this.#isCatchingUp = true;
    this.#scheduleTurn();
  };

  readonly #onEnd = (stream: EventStream, overflow: boolean): void => {
    if (!this.#streams.delete(stream)) return;
    if (overflow) this.#overflowedTotal++;
    this.#quota.remove(stream.user);
    if (this.#streams.size === 0) this.chunks.clear();
  };

  /** Sends heartbeats until the signal aborts, because clients and proxies close idle connections. */
  async runHeartbeat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(this.#heartbeatMs, signal);
      for (const stream of this.#streams) stream.requestHeartbeat();
      this.wakeAll();
    }
  }

  closeStreamsOf(users: ReadonlySet<string>): void {
    for (const stream of this.#streams) {
      if (users.has(stream.user)) stream.end(closingRecord("credentials", CREDENTIALS_RETRY_MS));
    }
  }

  /** Closes all streams and refuses new ones, because the service stops. */
  closeAll(): void {
    this.#isStopping = true;
    for (const stream of this.#streams) stream.end(closingRecord("shutdown", SHUTDOWN_RETRY_MS));
  }
}
