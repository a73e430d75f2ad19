/**
 * Writes one response after another to a socket, no faster than the socket accepts bytes. Large buffers are not copied,
 * and a body source is read again only when the socket has accepted its previous bytes.
 */
import type { BodySource } from "./body-source.ts";

export interface ByteSink {
  /**
   * Writes the bytes, or only `length` of them from `start` on. Returns how many were accepted, or a negative number when the
   * socket is closed. The bytes may be changed after the call.
   */
  write(bytes: Uint8Array, start?: number, length?: number): number;
}

export interface ResponseWriterCallbacks {
  /** Called when a response that `send` could not write at once is written completely. */
  onSent(): void;
  /** Called when the body source failed after the head was written, so that the response cannot be completed. */
  onBodyError(error: unknown): void;
}

/** Number of bytes after which no more is read from a body source until the socket has accepted them. */
export const MAX_CHUNK_BYTES = 1024 * 1024;
/** Number of bytes after which other connections get their turn. Writing more in one turn is not faster. */
const MAX_BYTES_PER_TURN = 2 * 1024 * 1024;
/** Size up to which the parts of a chunk are copied into one buffer, so that they need one write. */
const MAX_COALESCED_BYTES = 64 * 1024;

export class ResponseWriter {
  readonly #sink: ByteSink;
  readonly #callbacks: ResponseWriterCallbacks;
  #queue: Uint8Array[] = [];
  #body: BodySource | undefined;
  #chunked = false;
  #busy = false;
  #acceptedBytes = 0;
  #blocked = false;
  #flushScheduled = false;

  constructor(sink: ByteSink, callbacks: ResponseWriterCallbacks) {
    this.#sink = sink;
    this.#callbacks = callbacks;
  }

  /** Whether the socket did not accept everything that was written. */
  get blocked(): boolean {
    return this.#blocked;
  }

  /** Whether a response is not written completely: the socket is full, or other connections have their turn. */
  get busy(): boolean {
    return this.#busy;
  }

  /** Number of bytes that the socket has accepted, of all responses. */
  get acceptedBytes(): number {
    return this.#acceptedBytes;
  }

  /** Number of queued bytes of the response in flight, which the socket has not accepted yet. */
  get queuedBytes(): number {
    return this.#queue.reduce((sum, { length }) => sum + length, 0);
  }

  /** Whether the response in flight may take any time, as an event stream does. */
  get noTimeout(): boolean {
    return this.#body?.noTimeout === true;
  }

  /** Must be called only after the previous response is sent. Returns whether everything was written at once. */
  send(parts: readonly Uint8Array[], body?: BodySource, chunked = false): boolean {
    this.#busy = true;
    this.#body = body;
    this.#chunked = chunked;
    for (const part of parts) this.#queue.push(part);
    body?.open(() => this.flush());
    return this.#writeUntilBlocked();
  }

  /**
   * The same for a response of `length` bytes in a buffer that the caller uses again. Bytes that the socket does not accept are
   * copied.
   */
  sendCopy(buffer: Buffer, length: number): boolean {
    const accepted = Math.max(0, this.#sink.write(buffer, 0, length));
    this.#acceptedBytes += accepted;
    this.#blocked = accepted < length;
    if (!this.#blocked) return true;
    this.#busy = true;
    this.#queue.push(Buffer.from(buffer.subarray(accepted, length)));
    return false;
  }

  /** Continues after the socket has drained, or when the body source has bytes again. */
  flush(): void {
    if (this.#busy && this.#writeUntilBlocked()) this.#callbacks.onSent();
  }

  abort(): void {
    this.#busy = false;
    this.#queue = [];
    this.#body?.close();
    this.#body = undefined;
  }

  /** Returns whether the response is written completely. */
  #writeUntilBlocked(): boolean {
    try {
      for (let left = MAX_BYTES_PER_TURN; this.#busy; ) {
        left = this.#writeQueue(left);
        if (this.#blocked) return false;
        if (this.#queue.length === 0 && !this.#body) {
          this.#busy = false;
          return true;
        }
        if (left <= 0) {
          this.#flushNextTurn();
          return false;
        }
        if (this.#body && this.#fillQueue(this.#body) === 0 && this.#body) return false;
      }
    } catch (error) {
      this.abort();
      this.#callbacks.onBodyError(error);
    }
    return false;
  }

  #flushNextTurn(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    setImmediate(() => {
      this.#flushScheduled = false;
      this.flush();
    });
  }

  /** Writes queued buffers, at most `maxBytes`. Returns how many bytes of that budget are left. */
  #writeQueue(maxBytes: number): number {
    const queue = this.#queue;
    let left = maxBytes;
    let written = 0;
    this.#blocked = false;
    for (let part = queue[0]; part && left > 0 && !this.#blocked; part = queue[written]) {
      const offered = part.length > left ? part.subarray(0, left) : part;
      const accepted = Math.max(0, this.#sink.write(offered));
      left -= accepted;
      this.#blocked = accepted < offered.length;
      if (accepted === part.length) written++;
      else if (accepted > 0) queue[written] = part.subarray(accepted);
    }
    this.#acceptedBytes += maxBytes - left;
    if (written === queue.length) queue.length = 0;
    else queue.splice(0, written);
    return left;
  }

  /** Reads one chunk from the body source and queues it. Returns its size in bytes. */
  #fillQueue(body: BodySource): number {
    const pieces: Uint8Array[] = [];
    let size = 0;
    let ended = false;
    while (size < MAX_CHUNK_BYTES) {
      const piece = body.next();
      ended = piece === "end";
      if (typeof piece === "string") break;
      if (piece.length > 0) pieces.push(piece);
      size += piece.length;
    }
    if (ended) {
      this.#body = undefined;
      body.close();
    }
    const framed = this.#chunked ? frameChunk(pieces, size, ended) : pieces;
    for (const part of framed) this.#queue.push(part);
    return size;
  }
}

const LINE_END = Buffer.from("\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

function frameChunk(pieces: readonly Uint8Array[], size: number, last: boolean): readonly Uint8Array[] {
  if (size === 0) return last ? [LAST_CHUNK] : [];
  const [only] = pieces;
  if (pieces.length === 1 && only && size <= MAX_COALESCED_BYTES && !last) return [frameSinglePiece(only)];
  const framed = [
    Buffer.from(`${size.toString(16)}\r\n`),
    ...pieces,
    LINE_END,
    ...(last ? [LAST_CHUNK] : []),
  ];
  return size <= MAX_COALESCED_BYTES ? [Buffer.concat(framed)] : framed;
}

let lastPiece: Uint8Array | undefined;
let lastFrame: Uint8Array = LAST_CHUNK;

/** Reuses the last frame, because an event is sent to many streams, one right after the other, as the same buffer. */
function frameSinglePiece(piece: Uint8Array): Uint8Array {
  if (piece === lastPiece) return lastFrame;
  lastFrame = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, LINE_END]);
  lastPiece = piece;
  return lastFrame;
}
