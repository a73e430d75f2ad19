/**
 * All open streams: opens them within limits, wakes them after each change, keeps them alive, and ends them when their
 * credentials change or the service stops.
 *
 * A stream is pulled by its socket: it renders when the reader has taken what it was given, so a reader that stalls
 * costs its place in the history and nothing more. One that stalls past the ring of recent changes is ended with
 * `overflow`; it resumes by id.
 */

import type { BodySource } from "../../http1/body-source.ts";
import type { Clock } from "../../lib/clock.ts";
import type { History } from "../../view/history.ts";
import { INTERNAL_USER } from "../auth/authenticate.ts";
import { Problem } from "../problem.ts";
import type { ChangeCursor } from "./change-cursor.ts";
import { closingRecord, GREETING, heartbeat, overflowRecord } from "./sse.ts";

export interface StreamLimits {
  readonly streamsPerUser: number;
  readonly heartbeatMs: number;
}

const RETRY_AFTER_STOP_MS = 2_000;
const RETRY_AFTER_CREDENTIALS_MS = 10_000;

export class SseHub {
  readonly #limits: StreamLimits;
  readonly #open = new Set<Stream>();
  readonly #perUser = new Map<string, number>();
  #opened = 0;
  #overflowed = 0;
  #stopping = false;
  #waking = false;

  constructor(history: History, limits: StreamLimits) {
    this.#limits = limits;
    history.subscribe(() => this.#wakeSoon());
  }

  /** Changes that come faster than streams can be told of them are told together. */
  #wakeSoon(): void {
    if (this.#waking) return;
    this.#waking = true;
    setImmediate(() => {
      this.#waking = false;
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
  start(user: string, follower: ChangeCursor): BodySource {
    if (this.#stopping)
      throw new Problem("stopping", "The service is stopping; try again in a moment.", {
        "Retry-After": "2",
      });
    const mine = this.#perUser.get(user) ?? 0;
    if (mine >= this.#limits.streamsPerUser && user !== INTERNAL_USER) {
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
    return stream;
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

class Stream implements BodySource {
  readonly user: string;
  readonly #follower: ChangeCursor;
  readonly #onEnd: (overflow: boolean) => void;
  #more = () => {};
  #greeted = false;
  #waiting = false;
  #beatDue = false;
  /** Said last, and said. */
  #farewell: string | undefined;
  #ended = false;

  constructor(user: string, follower: ChangeCursor, onEnd: (overflow: boolean) => void) {
    this.user = user;
    this.#follower = follower;
    this.#onEnd = onEnd;
  }

  get noTimeout(): boolean {
    return !this.#ended;
  }

  open(more: () => void): void {
    this.#more = more;
  }

  next(): Uint8Array | "wait" | "end" {
    this.#waiting = false;
    if (!this.#greeted) {
      this.#greeted = true;
      return bytesOf(GREETING);
    }
    const text = this.#ended ? "" : this.#follower.next();
    if (text === "overflow") this.#conclude(overflowRecord(this.#follower.revision), true);
    else if (text !== "") return bytesOf(text);
    if (this.#ended) return this.#lastWords();
    return this.#nothing();
  }

  #lastWords(): Uint8Array | "end" {
    const text = this.#farewell;
    this.#farewell = undefined;
    return text === undefined ? "end" : bytesOf(text);
  }

  /** Somebody waits for more: whoever wakes us finds it, or a heartbeat takes its place. */
  #nothing(): Uint8Array | "wait" {
    this.#waiting = true;
    // What was looked at passed no filter; the rest of it when others had their turn.
    if (this.#follower.behind) setImmediate(() => this.#more());
    else if (this.#beatDue) {
      this.#beatDue = false;
      return bytesOf(heartbeat(this.#follower.revision));
    }
    return "wait";
  }

  wake(): void {
    if (this.#waiting) this.#more();
    else if (this.#greeted && this.#follower.lost) this.end(overflowRecord(this.#follower.revision), true);
  }

  beat(): void {
    if (!this.#waiting) return;
    this.#beatDue = true;
    this.#more();
  }

  end(farewell: string, overflow = false): void {
    this.#conclude(farewell, overflow);
    this.#more();
  }

  close(): void {
    this.#conclude(undefined, false);
  }

  #conclude(farewell: string | undefined, overflow: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#farewell = farewell;
    this.#onEnd(overflow);
  }
}

let lastText = "";
let lastBytes: Uint8Array = new Uint8Array();

/** Most streams say the same at the same time: then it is the same bytes. */
function bytesOf(text: string): Uint8Array {
  if (text !== lastText) {
    lastBytes = Buffer.from(text);
    lastText = text;
  }
  return lastBytes;
}
