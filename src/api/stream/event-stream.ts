/**
 * One open event stream, as the body of its response. It takes chunks from its cursor: those that are rendered already at
 * once, any other from the scheduler, as its user.
 *
 * Backpressure: a stream takes a chunk only when its socket has accepted everything before. A subscriber that does not
 * read costs its cursor and one chunk, nothing more.
 */
import type { BodySource } from "../../http1/body-source.ts";
import type { MemoryAccount } from "../../lib/memory-budget.ts";
import { Cancelled, type Scheduler } from "../../lib/scheduler.ts";
import type { ChangeCursor } from "./change-cursor.ts";
import { encodeText, OPENING_COMMENT, overflowRecord } from "./sse.ts";

/** After a larger chunk the other streams have their turn: copying many of them to sockets takes long. */
const LARGE_CHUNK_BYTES = 16 * 1024;

const OPENING = encodeText(OPENING_COMMENT);

export interface EventStreamOptions {
  readonly user: string;
  /** The user on the scheduler. */
  readonly owner: string;
  readonly scheduler: Scheduler;
  readonly cursor: ChangeCursor;
  /** Sent before what the cursor has. */
  readonly firstRecord: string;
  /** Of the state that the snapshot is rendered from. The rest of the stream holds next to nothing. */
  readonly memory: MemoryAccount;
  /** The stream has more to send, in a later turn: then `wake` is to be called. */
  readonly onPause: (stream: EventStream) => void;
  readonly onEnd: (stream: EventStream, overflow: boolean) => void;
}

type Rendered = Uint8Array | "overflow" | undefined;

export class EventStream implements BodySource {
  readonly user: string;
  readonly #options: EventStreamOptions;
  readonly #cursor: ChangeCursor;
  #onReadable = () => {};
  #isOpeningSent = false;
  /** `next` had nothing to send when it was last called. */
  #isWaiting = false;
  /** A large chunk was taken in this turn. */
  #isPaused = false;
  #isRendering = false;
  /** Rendered by the scheduler, and not sent yet. */
  #rendered: Uint8Array | undefined;
  #error: { readonly cause: unknown } | undefined;
  #isHeartbeatDue = false;
  #bytesTaken = 0;
  /** Sent as the last text of the stream. */
  #lastRecord: string | undefined;
  #hasEnded = false;

  constructor(options: EventStreamOptions) {
    this.user = options.user;
    this.#options = options;
    this.#cursor = options.cursor;
  }

  get noTimeout(): boolean {
    return !this.#hasEnded;
  }

  /** For the scheduler: what an ended stream would send next is not rendered any further. */
  get aborted(): boolean {
    return this.#hasEnded;
  }

  /** Of all chunks so far. */
  get bytesTaken(): number {
    return this.#bytesTaken;
  }

  open(onReadable: () => void): void {
    this.#onReadable = onReadable;
  }

  next(): Uint8Array | "wait" | "end" {
    if (this.#error) throw this.#error.cause;
    this.#isWaiting = false;
    if (!this.#isOpeningSent) {
      this.#isOpeningSent = true;
      const { firstRecord } = this.#options;
      return firstRecord === "" ? OPENING : encodeText(OPENING_COMMENT + firstRecord);
    }
    const bytes = this.#isPaused ? undefined : this.#nextChunk();
    if (bytes) return this.#take(bytes);
    return this.#hasEnded ? this.#lastRecordOrEnd() : this.#waitOrHeartbeat();
  }

  /** Undefined when there is none now. */
  #nextChunk(): Uint8Array | undefined {
    const rendered = this.#rendered;
    this.#rendered = undefined;
    if (rendered || this.#hasEnded || this.#isRendering) return rendered;
    if (!this.#cursor.isBehind) return undefined;
    const ready = this.#cursor.takeReady();
    if (ready && ready.length > 0) return ready;
    const { scheduler, owner } = this.#options;
    const next = scheduler.run(owner, this.#cursor.next(), this);
    if (!(next instanceof Promise)) return this.#received(next);
    this.#isRendering = true;
    next.then(
      (result) => this.#onRendered(() => this.#received(result)),
      (cause: unknown) =>
        this.#onRendered(() => {
          if (!(cause instanceof Cancelled)) this.#error = { cause };
          return undefined;
        }),
    );
    return undefined;
  }

  #received(rendered: Rendered): Uint8Array | undefined {
    if (rendered === "overflow") this.#finish(overflowRecord(this.#cursor.revision), true);
    else if (rendered) return rendered;
    // More came while it was rendered.
    else if (this.#cursor.isBehind) this.#options.onPause(this);
    return undefined;
  }

  #onRendered(receive: () => Uint8Array | undefined): void {
    this.#isRendering = false;
    this.#rendered = receive();
    this.#onReadable();
  }

  #take(bytes: Uint8Array): Uint8Array {
    this.#bytesTaken += bytes.length;
    if (!this.#cursor.isPartial) this.#options.memory.release();
    if (bytes.length > LARGE_CHUNK_BYTES) {
      this.#isPaused = true;
      this.#options.onPause(this);
    }
    return bytes;
  }

  #lastRecordOrEnd(): Uint8Array | "end" | "wait" {
    // It is sent after the chunk that is still to be sent.
    if (this.#rendered) return "wait";
    const text = this.#lastRecord;
    this.#lastRecord = undefined;
    return text === undefined ? "end" : encodeText(text);
  }

  #waitOrHeartbeat(): Uint8Array | "wait" {
    this.#isWaiting = true;
    if (!this.#isHeartbeatDue) return "wait";
    this.#isHeartbeatDue = false;
    return encodeText(this.#cursor.heartbeat);
  }

  /**
   * Called after each change, and after a pause. Overflow is checked first, because a waiting stream may still have bytes
   * that its socket does not accept: then `next` is not called, and only this check ends a subscriber that does not read.
   */
  wake(): void {
    this.#isPaused = false;
    if (this.#isOpeningSent && this.#cursor.hasOverflowed)
      this.end(overflowRecord(this.#cursor.revision), true);
    else if (this.#isWaiting || this.#hasEnded) this.#onReadable();
  }

  /** Sent by the next `wake`, unless there is something else to send. */
  requestHeartbeat(): void {
    if (this.#isWaiting) this.#isHeartbeatDue = true;
  }

  end(lastRecord: string, overflow = false): void {
    this.#finish(lastRecord, overflow);
    this.#onReadable();
  }

  close(): void {
    this.#finish(undefined, false);
    this.#rendered = undefined;
  }

  #finish(lastRecord: string | undefined, overflow: boolean): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#lastRecord = lastRecord;
    this.#options.memory.release();
    this.#options.onEnd(this, overflow);
  }
}
