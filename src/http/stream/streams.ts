/**
 * All open streams: opens them within limits, wakes them after each change, keeps them alive, and ends them when their
 * credentials change or the service stops.
 *
 * A stream is pulled by its socket: it renders when the reader has taken what it was given, so a reader that stalls
 * costs its place in the history and nothing more. One that stalls past the ring of recent changes is ended with
 * `overflow`; it resumes by id.
 */
import type { Clock } from "../../lib/clock.ts";
import type { History } from "../../view/history.ts";
import { OURSELVES } from "../auth/authenticate.ts";
import { Problem } from "../problem.ts";
import type { Follower } from "./follower.ts";
import { closingRecord, GREETING, heartbeat, overflowRecord } from "./records.ts";

export interface StreamLimits {
  readonly streamsPerUser: number;
  readonly heartbeatMs: number;
}

const RETRY_AFTER_STOP_MS = 2_000;
const RETRY_AFTER_CREDENTIALS_MS = 10_000;

export class Streams {
  readonly #limits: StreamLimits;
  readonly #open = new Set<Stream>();
  readonly #perUser = new Map<string, number>();
  #opened = 0;
  #overflowed = 0;
  #stopping = false;

  constructor(history: History, limits: StreamLimits) {
    this.#limits = limits;
    history.follow(() => {
      for (const stream of this.#open) stream.wake();
    });
  }

  get open(): number {
    return this.#open.size;
  }

  get opened(): number {
    return this.#opened;
  }

  get overflowed(): number {
    return this.#overflowed;
  }

  /** A body that follows until the client goes or the stream is ended. */
  start(user: string, follower: Follower): ReadableStream<Uint8Array> {
    if (this.#stopping)
      throw new Problem("stopping", "The service is stopping; try again in a moment.", {
        "Retry-After": "2",
      });
    const mine = this.#perUser.get(user) ?? 0;
    if (mine >= this.#limits.streamsPerUser && user !== OURSELVES) {
      throw new Problem(
        "too-many-streams",
        `This user has ${mine} open streams, which is as many as one may have; close one first.`,
        { "Retry-After": "10" },
      );
    }
    this.#perUser.set(user, mine + 1);
    this.#opened++;
    const stream = new Stream(user, follower, (overflow) => this.#ended(stream, overflow));
    this.#open.add(stream);
    return stream.body();
  }

  #ended(stream: Stream, overflow: boolean): void {
    if (!this.#open.delete(stream)) return;
    if (overflow) this.#overflowed++;
    const left = (this.#perUser.get(stream.user) ?? 1) - 1;
    if (left > 0) this.#perUser.set(stream.user, left);
    else this.#perUser.delete(stream.user);
  }

  /** Keeps idle streams (and the proxies before them) from being taken for dead, until the signal aborts. */
  async beat(clock: Clock, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(this.#limits.heartbeatMs, signal);
      for (const stream of this.#open) stream.beat();
    }
  }

  endOf(users: ReadonlySet<string>): void {
    for (const stream of this.#open) {
      if (users.has(stream.user)) stream.end(closingRecord("credentials", RETRY_AFTER_CREDENTIALS_MS));
    }
  }

  endAll(): void {
    this.#stopping = true;
    for (const stream of this.#open) stream.end(closingRecord("shutdown", RETRY_AFTER_STOP_MS));
  }
}

class Stream {
  readonly user: string;
  readonly #follower: Follower;
  readonly #onEnd: (overflow: boolean) => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #resume: (() => void) | undefined;
  #beat: (() => void) | undefined;
  #greeted = false;
  #ended = false;

  constructor(user: string, follower: Follower, onEnd: (overflow: boolean) => void) {
    this.user = user;
    this.#follower = follower;
    this.#onEnd = onEnd;
  }

  body(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pull(),
        cancel: () => this.#finish(false),
      },
      { highWaterMark: 0 },
    );
  }

  async #pull(): Promise<void> {
    if (!this.#greeted) {
      this.#greeted = true;
      return this.#say(GREETING);
    }
    for (;;) {
      if (this.#ended) return;
      const text = this.#follower.next();
      if (text === "overflow") return this.#overflow();
      if (text !== "") return this.#say(text);
      if (this.#follower.behind) {
        await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      // Somebody waits for more: whoever wakes us finds it, or a heartbeat takes its place.
      const beaten = await new Promise<boolean>((resolve) => {
        this.#resume = () => resolve(false);
        this.#beat = () => resolve(true);
      });
      this.#resume = undefined;
      this.#beat = undefined;
      if (beaten && !this.#ended) return this.#say(heartbeat(this.#follower.revision));
    }
  }

  wake(): void {
    if (this.#resume) this.#resume();
    else if (this.#greeted && this.#follower.lost) this.#overflow();
  }

  beat(): void {
    this.#beat?.();
  }

  #overflow(): void {
    this.end(overflowRecord(this.#follower.revision), true);
  }

  end(farewell: string, overflow = false): void {
    if (this.#ended) return;
    this.#say(farewell);
    this.#controller?.close();
    this.#finish(overflow);
  }

  #finish(overflow: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#resume?.();
    this.#onEnd(overflow);
  }

  #say(text: string): void {
    this.#controller?.enqueue(Buffer.from(text));
  }
}
