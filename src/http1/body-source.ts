/**
 * A body that is made while it is sent. It is asked for more when the socket has taken what it was given, so a reader
 * that stalls costs what is in its hands and nothing more.
 */
export interface BodySource {
  /** Called once, before anything else: `more` is to be called when there is something again after a "wait". */
  open(more: () => void): void;
  next(): Uint8Array | "wait" | "end";
  /** Whoever reads is gone, or the end was reached. */
  close(): void;
  /** Whether a reader that takes nothing is waited for without end. */
  readonly noTimeout: boolean;
}

export const isBodySource = (body: object): body is BodySource => "next" in body && "open" in body;

/** Pieces that are all at hand, or made when asked for. */
export class IterableBodySource implements BodySource {
  readonly noTimeout = false;
  readonly #pieces: Iterator<Uint8Array>;

  constructor(pieces: Iterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.iterator]();
  }

  open(): void {}

  next(): Uint8Array | "end" {
    const { value, done } = this.#pieces.next();
    return done ? "end" : value;
  }

  close(): void {
    this.#pieces.return?.();
  }
}

/** Where chunks come from in their own time: an iterator over them, or a reader's `read`. */
export type ReadChunk = () => Promise<{
  readonly done?: boolean | undefined;
  readonly value?: Uint8Array | undefined;
}>;

/** Chunks that come in their own time. What they fail with is thrown by `next`. */
export class AsyncBodySource implements BodySource {
  readonly noTimeout: boolean;
  readonly #chunks: ReadChunk;
  readonly #cancel: () => unknown;
  #came: Uint8Array | "wait" | "end" = "wait";
  #failure: unknown;
  #reading = false;
  #closed = false;
  #more = () => {};

  /** `cancel` is called once, also after the end, and what it fails with is of no interest. */
  constructor(chunks: ReadChunk, cancel: () => unknown, patient = false) {
    this.#chunks = chunks;
    this.#cancel = cancel;
    this.noTimeout = patient;
  }

  open(more: () => void): void {
    this.#more = more;
  }

  next(): Uint8Array | "wait" | "end" {
    if (this.#failure !== undefined) throw this.#failure;
    const came = this.#came;
    if (came === "wait") this.#read();
    else if (came !== "end") this.#came = "wait";
    return came;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    (async () => this.#cancel())().catch(() => {});
  }

  #read(): void {
    if (this.#reading) return;
    this.#reading = true;
    this.#chunks().then(
      ({ value, done }) => this.#arrived(done || !value ? "end" : value),
      (error: unknown) => {
        this.#failure = error ?? new Error("the stream failed");
        this.#arrived("wait");
      },
    );
  }

  #arrived(what: Uint8Array | "wait" | "end"): void {
    this.#reading = false;
    this.#came = what;
    if (!this.#closed) this.#more();
  }
}
