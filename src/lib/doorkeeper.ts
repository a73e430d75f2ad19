/**
 * Admission filter of a cache: tells whether a key was seen recently, so that keys that occur once do not evict others.
 * It stores no values and needs no eviction order, so that a set that is cleared when full is enough.
 */
const MAX_TEXTS = 1000;

export class Doorkeeper {
  readonly #texts = new Set<string>();

  /** True when the text was not seen since the last clear. */
  isNew(text: string): boolean {
    if (this.#texts.has(text)) return false;
    if (this.#texts.size >= MAX_TEXTS) this.#texts.clear();
    this.#texts.add(text);
    return true;
  }
}
