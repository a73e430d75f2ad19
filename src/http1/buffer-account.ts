/**
 * Counts the received bytes that all anonymous connections together hold. Each connection holds little, but anybody can
 * open thousands. Above the maximum, `onExceeded` is called, which closes some of them.
 */
export class BufferAccount {
  readonly #maxBytes: number;
  readonly #onExceeded: () => void;
  #bytes = 0;

  constructor(maxBytes: number, onExceeded: () => void) {
    this.#maxBytes = maxBytes;
    this.#onExceeded = onExceeded;
  }

  get isExceeded(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  /** Records that one connection holds `after` bytes instead of `before`. */
  change(before: number, after: number): void {
    this.#bytes += after - before;
    if (after > before && this.isExceeded) this.#onExceeded();
  }
}
