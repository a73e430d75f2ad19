/**
 * Whether a text came by lately: what keeps a cache from filling with questions that are asked once. Forgetting is
 * wholesale, which is cheap and, for this, as good as any order.
 */
const MAX_TEXTS = 1000;

export class Doorkeeper {
  readonly #texts = new Set<string>();

  /** True for the first time in a while. */
  isNew(text: string): boolean {
    if (this.#texts.has(text)) return false;
    if (this.#texts.size >= MAX_TEXTS) this.#texts.clear();
    this.#texts.add(text);
    return true;
  }
}
