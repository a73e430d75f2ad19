/**
 * One open event stream, as the body of its response. It takes chunks from its cursor. A chunk that is rendered already is
 * taken at once; any other is rendered on the scheduler for the user of the stream.
 *
 * Backpressure: a stream takes a chunk only when its socket has accepted all previous bytes. A subscriber that does not
 * read costs only its cursor and one chunk.
 */
import type { BodySource } from "../../http1/body-source.ts";
import type { MemoryAccount } from "../../lib/memory-budget.ts";
import { Cancelled, type Scheduler } from "../../lib/scheduler.ts";
import type { ChangeCursor } from "./change-cursor.ts";
import { encodeText, OPENING_COMMENT, overflowRecord } from "./sse.ts";

/** Size of a chunk above which other streams get their turn after it, because copying many such chunks to sockets takes long. */
const LARGE_CHUNK_BYTES = 16 * 1024;

const OPENING = encodeText(OPENING_COMMENT);

export interface EventStreamOptions {
  readonly user: string;
  /** The name of the user on the scheduler. */
  readonly owner: string;
  readonly scheduler: Scheduler;
  readonly cursor: ChangeCursor;
  /** The record that is sent before those of the cursor; empty for none. */
  readonly firstRecord: string;
  /** The account of the state that the snapshot is rendered from. The rest of the stream holds almost no memory. */
  readonly memory: MemoryAccount;
  /** Called when the stream has more to send in a later turn, in which `wake` must be called. */
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
  /** Whether `next` had nothing to send when it was last called. */
  #isWaiting = false;
  /** Whether a large chunk was taken in this turn. */
  #isPaused = false;
  #isRendering = false;
  /** The chunk that the scheduler has rendered and that is not sent yet. */
  #rendered: Uint8Array | undefined;
  #error: { readonly cause: unknown } | undefined;
  #isHeartbeatDue = false;
  #bytesTaken = 0;
  /** The last record of the stream, if it is not sent yet. */
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

  /** Whether the stream has ended, so that the scheduler does not render its next chunk any further. */
  get aborted(): boolean {
    return this.#hasEnded;
  }

  /** Number of bytes of all chunks taken so far. */
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

  /** The next chunk; undefined if there is none now. */
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
    // New changes were committed while the chunk was rendered.
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
    // The rendered chunk must be sent before the last record.
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
   * Called after each change and after a pause. Overflow is checked first. While the socket does not accept bytes, `next` is
   * not called, so only this check ends the stream of a subscriber that does not read.
   */
  wake(): void {
    this.#isPaused = false;
    if (this.#isOpeningSent && this.#cursor.hasOverflowed)
      this.end(overflowRecord(this.#cursor.revision), true);
    else if (this.#isWaiting || this.#hasEnded) this.#onReadable();
  }

  /** Makes the next `wake` send a heartbeat, unless there is something else to send. */
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
