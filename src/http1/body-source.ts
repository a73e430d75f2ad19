/**
 * A response body that is produced while it is sent. The writer reads one chunk (at most 1 MiB) and reads on only when the
 * socket has accepted it, so a client that stalls costs only its socket buffer and one chunk.
 */
export interface BodySource {
  /** Called once, before `next`. The source calls `onReadable` when it has bytes again after it returned "wait". */
  open(onReadable: () => void): void;
  next(): Uint8Array | "wait" | "end";
  /** Called once: after "end", after an error, or when the client is gone. It may be called without a call of `open`. */
  close(): void;
  /** Whether the connection waits without a time-out for a client that does not read. Set for event streams only. */
  readonly noTimeout: boolean;
}

export const isBodySource = (body: object): body is BodySource => "next" in body && "open" in body;

/** The `read` of a stream's reader, or the `next` of an asynchronous iterator. */
export type ReadChunk = () => Promise<{
  readonly done?: boolean | undefined;
  readonly value?: Uint8Array | undefined;
}>;

/** A body from asynchronous chunks. `next` throws the error that a read was rejected with. */
export class AsyncBodySource implements BodySource {
  readonly noTimeout: boolean;
  readonly #readChunk: ReadChunk;
  readonly #cancel: () => unknown;
  #received: Uint8Array | "wait" | "end" = "wait";
  #error: unknown;
  #reading = false;
  #closed = false;
  #onReadable = () => {};

  /** `cancel` is called once, also after the end. Its errors are ignored, because no body can fail any more. */
  constructor(readChunk: ReadChunk, cancel: () => unknown, noTimeout = false) {
    this.#readChunk = readChunk;
    this.#cancel = cancel;
    this.noTimeout = noTimeout;
  }

  open(onReadable: () => void): void {
    this.#onReadable = onReadable;
  }

  next(): Uint8Array | "wait" | "end" {
    if (this.#error !== undefined) throw this.#error;
    const received = this.#received;
    if (received === "wait") this.#read();
    else if (received !== "end") this.#received = "wait";
    return received;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    (async () => this.#cancel())().catch(() => {});
  }

  #read(): void {
    if (this.#reading) return;
    this.#reading = true;
    this.#readChunk().then(
      ({ value, done }) => this.#onChunk(done || !value ? "end" : value),
      (error: unknown) => {
        this.#error = error ?? new Error("the stream failed");
        this.#onChunk("wait");
      },
    );
  }

  #onChunk(received: Uint8Array | "wait" | "end"): void {
    this.#reading = false;
    this.#received = received;
    if (!this.#closed) this.#onReadable();
  }
}
