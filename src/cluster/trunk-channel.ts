/**
 * One byte channel within a trunk. Each side may have `WINDOW_BYTES` on their way; what it consumes it grants again, unless
 * the handler has paused it. What exceeds the window waits at the sender, in bounds: so a slow end slows down the other
 * one, and no other channel.
 */
import type { ByteChannel, ByteHandler } from "../lib/byte-channel.ts";
import { decodeClose, encodeClose, encodeCredit, FRAME, type Frame } from "./frames.ts";

export const WINDOW_BYTES = 64 * 1024;
const MAX_BACKLOG_BYTES = 4 * 1024 * 1024;

export interface FrameSender {
  sendFrame(type: Frame["type"], channel: number, payload: Uint8Array): void;
  /** The channel is closed. */
  forget(channel: number): void;
}

export class TrunkChannel implements ByteChannel {
  readonly #id: number;
  readonly #trunk: FrameSender;
  #handler: ByteHandler | undefined;
  #credit = WINDOW_BYTES;
  /** Received and not granted again. */
  #owedBytes = 0;
  #isPaused = false;
  #isClosed = false;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #isFlushScheduled = false;

  constructor(id: number, trunk: FrameSender) {
    this.#id = id;
    this.#trunk = trunk;
  }

  set handler(handler: ByteHandler) {
    this.#handler = handler;
  }

  get backlogBytes(): number {
    return this.#queuedBytes;
  }

  /** Everything of one turn of the event loop is sent as one. */
  send(bytes: Uint8Array): void {
    if (this.#isClosed || bytes.length === 0) return;
    // Copied: the buffer of a socket is used again.
    this.#queue.push(bytes.slice());
    this.#queuedBytes += bytes.length;
    if (this.#queuedBytes > MAX_BACKLOG_BYTES) {
      this.#close("does not read what it is sent", false);
    } else if (!this.#isFlushScheduled && this.#credit > 0) {
      this.#isFlushScheduled = true;
      queueMicrotask(() => this.#flush());
    }
  }

  close(reason: string, byPeer = false): void {
    this.#flush();
    this.#close(reason, byPeer);
  }

  terminate(): void {
    this.#close("terminated", false);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#grant(1);
  }

  /** Returns false for what the other end must not send. */
  onFrame({ type, payload }: Frame, credit: number): boolean {
    if (type === FRAME.data) return this.#onData(payload);
    if (type === FRAME.credit) {
      this.#credit = Math.min(WINDOW_BYTES, this.#credit + credit);
      this.#flush();
    } else if (type === FRAME.close) {
      const { reason, byPeer } = decodeClose(payload);
      this.onEnd(reason, byPeer);
    } else return false;
    return true;
  }

  /** Closed by the other end, or with the trunk. */
  onEnd(reason: string, byPeer: boolean): void {
    if (this.#isClosed) return;
    this.#end();
    this.#handler?.onClose(reason, byPeer);
  }

  #onData(payload: Uint8Array): boolean {
    this.#owedBytes += payload.length;
    if (this.#owedBytes > WINDOW_BYTES) return false;
    this.#handler?.onData(payload);
    this.#grant(WINDOW_BYTES / 2);
    return true;
  }

  #grant(minBytes: number): void {
    if (this.#isPaused || this.#isClosed || this.#owedBytes < minBytes) return;
    this.#trunk.sendFrame(FRAME.credit, this.#id, encodeCredit(this.#owedBytes));
    this.#owedBytes = 0;
  }

  #flush(): void {
    this.#isFlushScheduled = false;
    if (this.#isClosed || this.#queuedBytes === 0 || this.#credit === 0) return;
    const [first] = this.#queue;
    const bytes = this.#queue.length === 1 && first ? first : Buffer.concat(this.#queue);
    const count = Math.min(this.#credit, bytes.length);
    this.#credit -= count;
    this.#queuedBytes = bytes.length - count;
    this.#queue = this.#queuedBytes > 0 ? [bytes.subarray(count)] : [];
    this.#trunk.sendFrame(FRAME.data, this.#id, bytes.subarray(0, count));
    if (this.#queuedBytes === 0) this.#handler?.onDrain?.();
  }

  #close(reason: string, byPeer: boolean): void {
    if (this.#isClosed) return;
    this.#trunk.sendFrame(FRAME.close, this.#id, encodeClose(reason, byPeer));
    this.#end();
    // Later, as that of a socket.
    queueMicrotask(() => this.#handler?.onClose(reason, false));
  }

  #end(): void {
    this.#isClosed = true;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#trunk.forget(this.#id);
  }
}
