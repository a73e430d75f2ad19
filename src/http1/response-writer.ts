/**
 * What is on its way to one socket: bytes that are ready, and a feed that gives more when they are gone. Nothing is
 * copied that is large, and nothing is asked of a feed before the socket has taken what it gave.
 */
import type { BodySource } from "./body-source.ts";

/** What is written to; `write` says how much was taken, or a negative number when there is nobody any more. */
export interface ByteSink {
  write(bytes: Uint8Array): number;
}

export interface ResponseWriterCallbacks {
  /** Everything is sent, after `send` could not send it at once. */
  sent(): void;
  /** The feed failed in the middle: what was sent of it has no end. */
  failed(error: unknown): void;
}

/** So much is asked of a feed for one chunk, if it has it. */
const CHUNK_BYTES = 1024 * 1024;
/** After so much the others get their turn; more at once is also no faster. */
const TURN_BYTES = 2 * 1024 * 1024;
/** Up to this size, bytes are copied together to be one write. */
const SMALL_BYTES = 64 * 1024;

export class ResponseWriter {
  readonly #sink: ByteSink;
  readonly #hooks: ResponseWriterCallbacks;
  #queue: Uint8Array[] = [];
  #feed: BodySource | undefined;
  #chunked = false;
  #busy = false;
  #blocked = false;
  #scheduled = false;

  constructor(sink: ByteSink, hooks: ResponseWriterCallbacks) {
    this.#sink = sink;
    this.#hooks = hooks;
  }

  /** Whether the socket has not yet taken what it was given. */
  get blocked(): boolean {
    return this.#blocked;
  }

  /** Whether it feeds somebody who may be silent, and may be slow. */
  get noTimeout(): boolean {
    return this.#feed?.noTimeout === true;
  }

  /** Only after what was sent before is gone. True when all of this is gone, too. */
  send(parts: readonly Uint8Array[], feed?: BodySource, chunked = false): boolean {
    this.#busy = true;
    this.#feed = feed;
    this.#chunked = chunked;
    for (const part of parts) this.#queue.push(part);
    feed?.open(() => this.flush());
    return this.#pump();
  }

  /** Goes on: the socket has room, or the feed has more. */
  flush(): void {
    if (this.#busy && this.#pump()) this.#hooks.sent();
  }

  abandon(): void {
    this.#busy = false;
    this.#queue = [];
    this.#feed?.close();
    this.#feed = undefined;
  }

  #pump(): boolean {
    try {
      for (let left = TURN_BYTES; this.#busy; ) {
        left = this.#drain(left);
        if (this.#blocked) return false;
        if (this.#queue.length === 0 && !this.#feed) {
          this.#busy = false;
          return true;
        }
        if (left <= 0) {
          this.#goOnLater();
          return false;
        }
        if (this.#feed && this.#gather(this.#feed) === 0 && this.#feed) return false;
      }
    } catch (error) {
      this.abandon();
      this.#hooks.failed(error);
    }
    return false;
  }

  #goOnLater(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  /** Writes what is ready, up to `most` bytes; how many of them are left then. */
  #drain(most: number): number {
    const queue = this.#queue;
    let left = most;
    let gone = 0;
    this.#blocked = false;
    for (let part = queue[0]; part && left > 0 && !this.#blocked; part = queue[gone]) {
      const offered = part.length > left ? part.subarray(0, left) : part;
      const taken = Math.max(0, this.#sink.write(offered));
      left -= taken;
      this.#blocked = taken < offered.length;
      if (taken === part.length) gone++;
      else if (taken > 0) queue[gone] = part.subarray(taken);
    }
    if (gone === queue.length) queue.length = 0;
    else queue.splice(0, gone);
    return left;
  }

  /** Takes a chunk's worth from the feed; how many bytes it was. */
  #gather(feed: BodySource): number {
    const pieces: Uint8Array[] = [];
    let size = 0;
    let over = false;
    while (size < CHUNK_BYTES) {
      const piece = feed.next();
      over = piece === "end";
      if (typeof piece === "string") break;
      if (piece.length > 0) pieces.push(piece);
      size += piece.length;
    }
    if (over) {
      this.#feed = undefined;
      feed.close();
    }
    const framed = this.#chunked ? framedChunk(pieces, size, over) : pieces;
    for (const part of framed) this.#queue.push(part);
    return size;
  }
}

const LINE_END = Buffer.from("\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

function framedChunk(pieces: readonly Uint8Array[], size: number, last: boolean): readonly Uint8Array[] {
  if (size === 0) return last ? [LAST_CHUNK] : [];
  const [only] = pieces;
  if (pieces.length === 1 && only && size <= SMALL_BYTES && !last) return [framedAlone(only)];
  const framed = [
    Buffer.from(`${size.toString(16)}\r\n`),
    ...pieces,
    LINE_END,
    ...(last ? [LAST_CHUNK] : []),
  ];
  return size <= SMALL_BYTES ? [Buffer.concat(framed)] : framed;
}

let lastAlone: Uint8Array | undefined;
let lastFramed: Uint8Array = LAST_CHUNK;

/** One event goes to many streams as the same bytes: the frame around it is made for the first of them. */
function framedAlone(piece: Uint8Array): Uint8Array {
  if (piece === lastAlone) return lastFramed;
  lastFramed = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, LINE_END]);
  lastAlone = piece;
  return lastFramed;
}
