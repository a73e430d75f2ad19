/**
 * One collection of the view: values by id, in order of id, on pages of ready bytes.
 *
 * A change costs a note; pages are made anew when somebody reads the list (or when notes have piled up), and only
 * those that changed. `pages()` answers an immutable array: whoever holds it holds the collection as it was.
 */
import { PAGE_TARGET, Page } from "./page.ts";

/** Notes kept before pages are made anew without anybody reading: bounds memory while nobody looks. */
const MOST_PENDING = 16_384;

export class Collection {
  /** The revision that last changed anything here: what ETags are made of. */
  revision = 0;
  #pages: Page[];
  #size: number;
  #pending = new Map<Page, Map<string, string | null>>();
  #pendingCount = 0;

  constructor(pages: readonly Page[] = []) {
    this.#pages = [...pages];
    this.#size = pages.reduce((sum, page) => sum + page.length, 0);
  }

  get size(): number {
    return this.#size;
  }

  get(id: string): string | undefined {
    const page = this.#pages[this.#pageFor(id)];
    if (!page) return undefined;
    const note = this.#pending.get(page)?.get(id);
    if (note !== undefined) return note ?? undefined;
    return page.get(id);
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  /** Puts a value (null removes it) and answers the one before. */
  set(id: string, value: string | null): string | null {
    const before = this.get(id) ?? null;
    if (before === value) return before;
    // A new array, not a push: the old one may be in the hands of a reader.
    if (this.#pages.length === 0) this.#pages = [new Page([], Buffer.alloc(0), new Uint32Array())];
    const page = this.#pages[this.#pageFor(id)];
    if (!page) throw new Error("a collection without pages");
    let notes = this.#pending.get(page);
    if (!notes) {
      notes = new Map();
      this.#pending.set(page, notes);
    }
    if (!notes.has(id)) this.#pendingCount++;
    notes.set(id, value);
    this.#size += (value === null ? 0 : 1) - (before === null ? 0 : 1);
    if (this.#pendingCount > MOST_PENDING) this.pages();
    return before;
  }

  /** The pages as of now. Never changed afterwards. */
  pages(): readonly Page[] {
    if (this.#pendingCount === 0) return this.#pages;
    const next: Page[] = [];
    for (const page of this.#pages) {
      const notes = this.#pending.get(page);
      if (!notes) {
        next.push(page);
        continue;
      }
      for (const made of page.with(notes)) {
        const last = next.at(-1);
        // Neighbours that shrank are joined, or removals would leave a trail of tiny pages.
        if (last && last.length + made.length <= PAGE_TARGET / 2)
          next.splice(-1, 1, ...last.with(made.toMap()));
        else next.push(made);
      }
    }
    this.#pages = next;
    this.#pending = new Map();
    this.#pendingCount = 0;
    return this.#pages;
  }

  /** The values whose ids lie in [from, to], in order. */
  *range(from: string, to: string): Generator<string> {
    const pages = this.pages();
    for (let at = this.#pageFor(from); at < pages.length; at++) {
      const page = pages[at];
      if (!page) return;
      for (let i = page.position(from); i < page.length; i++) {
        if ((page.ids[i] ?? "") > to) return;
        yield page.value(i);
      }
    }
  }

  /** The last page that does not begin after `id`. */
  #pageFor(id: string): number {
    return pageFor(this.#pages, id);
  }
}

export function pageFor(pages: readonly Page[], id: string): number {
  let low = 0;
  let high = pages.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((pages[middle]?.first ?? "") <= id) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}
