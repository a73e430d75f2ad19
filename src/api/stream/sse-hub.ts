/**
 * All open event streams: opens them within the limits, wakes them after each change, sends heartbeats, and closes them
 * when their credentials change or the service stops.
 *
 * Backpressure: a stream renders only when its socket has accepted everything before. A subscriber that does not read
 * costs its cursor and nothing more. When its cursor falls out of the ring of recent changes, it receives `overflow` and
 * is closed; it resumes by id.
 */

import type { BodySource } from "../../http1/body-source.ts";
import type { Clock } from "../../lib/clock.ts";
import type { History } from "../../view/history.ts";
import { INTERNAL_USER } from "../auth/authenticate.ts";
import type { Shares } from "../limits/shares.ts";
import { Problem } from "../problem.ts";
import type { ChangeCursor } from "./change-cursor.ts";
import { closingRecord, heartbeatRecord, OPENING_COMMENT, overflowRecord } from "./sse.ts";

/** Read at each use: the value changes when the service reloads its configuration. */
export interface StreamLimits {
  readonly streamsPerUser: number;
}

const SHUTDOWN_RETRY_MS = 2_000;
const CREDENTIALS_RETRY_MS = 10_000;

export class SseHub {
  readonly #limits: StreamLimits;
  readonly #shares: Shares;
  readonly #heartbeatMs: number;
  readonly #streams = new Set<EventStream>();
  #openedTotal = 0;
  #overflowedTotal = 0;
  #isStopping = false;
  #isWakeScheduled = false;

  constructor(history: History, limits: StreamLimits, shares: Shares, heartbeatMs: number) {
    this.#limits = limits;
    this.#shares = shares;
    this.#heartbeatMs = heartbeatMs;
    history.subscribe(() => this.#scheduleWake());
  }

  /** Batches that are committed in one turn of the event loop wake the streams once. */
  #scheduleWake(): void {
    if (this.#isWakeScheduled) return;
    this.#isWakeScheduled = true;
    setImmediate(() => {
      this.#isWakeScheduled = false;
      for (const stream of this.#streams) stream.wake();
    });
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

  /** A body that lasts until the client disconnects or the stream is closed. Throws a problem past the limits, or `ShareExhausted`. */
  openStream(user: string, cursor: ChangeCursor): BodySource {
    if (this.#isStopping)
      throw new Problem("stopping", "The service is stopping; try again in a moment.", {
        "Retry-After": "2",
      });
    if (user !== INTERNAL_USER && !this.#shares.admitsStream(user)) {
      throw new Problem(
        "too-many-streams",
        `This user has ${this.#limits.streamsPerUser} open streams, which is the maximum; close one first.`,
        { "Retry-After": "10" },
      );
    }
    this.#shares.countStream(user, 1);
    this.#openedTotal++;
    const stream = new EventStream(user, cursor, (overflow) => this.#remove(stream, overflow));
    this.#streams.add(stream);
    return stream;
  }

  #remove(stream: EventStream, overflow: boolean): void {
    if (!this.#streams.delete(stream)) return;
    if (overflow) this.#overflowedTotal++;
    this.#shares.countStream(stream.user, -1);
  }

  /** Sends heartbeats until the signal aborts: without them, clients and proxies close idle connections. */
  async runHeartbeat(clock: Clock, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(this.#heartbeatMs, signal);
      for (const stream of this.#streams) stream.sendHeartbeat();
    }
  }

  closeStreamsOf(users: ReadonlySet<string>): void {
    for (const stream of this.#streams) {
      if (users.has(stream.user)) stream.end(closingRecord("credentials", CREDENTIALS_RETRY_MS));
    }
  }

  /** Closes all streams and refuses new ones: the service stops. */
  closeAll(): void {
    this.#isStopping = true;
    for (const stream of this.#streams) stream.end(closingRecord("shutdown", SHUTDOWN_RETRY_MS));
  }
}

class EventStream implements BodySource {
  readonly user: string;
  readonly #cursor: ChangeCursor;
  readonly #onEnd: (overflow: boolean) => void;
  #onReadable = () => {};
  #isOpeningSent = false;
  /** `next` had nothing to send when it was last called. */
  #isWaiting = false;
  #isHeartbeatDue = false;
  /** Sent as the last text of the stream. */
  #lastRecord: string | undefined;
  #hasEnded = false;

  constructor(user: string, cursor: ChangeCursor, onEnd: (overflow: boolean) => void) {
    this.user = user;
    this.#cursor = cursor;
    this.#onEnd = onEnd;
  }

  get noTimeout(): boolean {
    return !this.#hasEnded;
  }

  open(onReadable: () => void): void {
    this.#onReadable = onReadable;
  }

  next(): Uint8Array | "wait" | "end" {
    this.#isWaiting = false;
    if (!this.#isOpeningSent) {
      this.#isOpeningSent = true;
      return encode(OPENING_COMMENT);
    }
    const text = this.#hasEnded ? "" : this.#cursor.next();
    if (text === "overflow") this.#finish(overflowRecord(this.#cursor.revision), true);
    else if (text !== "") return encode(text);
    return this.#hasEnded ? this.#lastRecordOrEnd() : this.#waitOrHeartbeat();
  }

  #lastRecordOrEnd(): Uint8Array | "end" {
    const text = this.#lastRecord;
    this.#lastRecord = undefined;
    return text === undefined ? "end" : encode(text);
  }

  #waitOrHeartbeat(): Uint8Array | "wait" {
    this.#isWaiting = true;
    // The batches read so far matched no filter. The rest waits until other work had its turn.
    if (this.#cursor.isBehind) setImmediate(() => this.#onReadable());
    else if (this.#isHeartbeatDue) {
      this.#isHeartbeatDue = false;
      return encode(heartbeatRecord(this.#cursor.revision));
    }
    return "wait";
  }

  /**
   * Called after each change. Overflow is checked first, because a waiting stream may still have bytes that its socket
   * does not accept: then `next` is not called, and only this check ends a subscriber that does not read.
   */
  wake(): void {
    if (this.#isOpeningSent && this.#cursor.hasOverflowed)
      this.end(overflowRecord(this.#cursor.revision), true);
    else if (this.#isWaiting) this.#onReadable();
  }

  sendHeartbeat(): void {
    if (!this.#isWaiting) return;
    this.#isHeartbeatDue = true;
    this.#onReadable();
  }

  end(lastRecord: string, overflow = false): void {
    this.#finish(lastRecord, overflow);
    this.#onReadable();
  }

  close(): void {
    this.#finish(undefined, false);
  }

  #finish(lastRecord: string | undefined, overflow: boolean): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#lastRecord = lastRecord;
    this.#onEnd(overflow);
  }
}

let lastText = "";
let lastBytes: Uint8Array = new Uint8Array();

/** Most streams send the same text at the same time: it is encoded once. */
function encode(text: string): Uint8Array {
  if (text !== lastText) {
    lastBytes = Buffer.from(text);
    lastText = text;
  }
  return lastBytes;
}
