/**
 * Counts the received bytes that anonymous connections hold together. Each holds little, but anybody can open thousands:
 * above the maximum `onExceeded` closes some.
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

  /** A holder has `after` bytes now, in place of `before`. */
  change(before: number, after: number): void {
    this.#bytes += after - before;
    if (after > before && this.isExceeded) this.#onExceeded();
  }
}
