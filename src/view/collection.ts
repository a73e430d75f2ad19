/**
 * One collection of the view: values by id, in order of id, on pages of ready bytes.
 *
 * A change costs a note beside its page. Pages are made anew when somebody reads the list, and only those with notes;
 * when notes pile up while nobody reads, the page that has waited longest is made anew, so that memory stays bounded
 * and no single change pays for all. `pages()` answers an immutable array: whoever holds it holds the collection as
 * it was.
 */
import { SortedTexts } from "../lib/sorted-texts.ts";
import { EncodedPage, PAGE_TARGET } from "./encoded-page.ts";

/** Notes kept: so many, or one for so many values. The more there are for a page, the less each costs. */
const MAX_NOTES = 16_384;
const NOTES_PART = 16;

type PendingWrites = Map<string, string | null>;

/** A value and its id. */
export interface Item {
  readonly id: string;
  readonly text: string;
}

export class Collection {
  /** The revision that last changed anything here: what ETags are made of. */
  revision = 0;
  /** None of them is empty. */
  #pages: EncodedPage[];
  #bytes: number;
  /** The first id of each page, beside the pages: a search from page to page would be all over memory. */
  readonly #firsts: SortedTexts;
  /** Whether a reader has the array: then the next change of it makes another. */
  #handedOut = false;
  #size: number;
  readonly #notes = new Map<EncodedPage, PendingWrites>();
  #noteCount = 0;

  constructor(pages: readonly EncodedPage[] = []) {
    this.#pages = [...pages];
    this.#firsts = new SortedTexts(pages.map((page) => page.first));
    this.#size = pages.reduce((sum, page) => sum + page.length, 0);
    this.#bytes = sumOfBytes(pages);
  }

  get size(): number {
    return this.#size;
  }

  get(id: string): string | undefined {
    const page = this.#pageFor(id);
    const note = this.#notes.get(page)?.get(id);
    return note === undefined ? page.get(id) : (note ?? undefined);
  }

  has(id: string): boolean {
    const page = this.#pageFor(id);
    const note = this.#notes.get(page)?.get(id);
    return note === undefined ? page.has(id) : note !== null;
  }

  /** Puts a value in the place of `before`, which the caller has looked up; null is "not there". */
  put(id: string, before: string | null, after: string | null): void {
    const page = this.#pageFor(id);
    let notes = this.#notes.get(page);
    if (!notes) {
      notes = new Map();
      this.#notes.set(page, notes);
    }
    if (!notes.has(id)) this.#noteCount++;
    notes.set(id, after);
    this.#size += (after === null ? 0 : 1) - (before === null ? 0 : 1);
    if (this.#noteCount > MAX_NOTES && this.#noteCount > this.#size / NOTES_PART) this.#renewLongestWaiting();
  }

  /** The pages as of now. Never changed afterwards. */
  pages(): readonly EncodedPage[] {
    for (const [page, notes] of this.#notes) this.#renew(page, notes);
    this.#handedOut = true;
    totals.set(this.#pages, this.#bytes);
    return this.#pages;
  }

  #renewLongestWaiting(): void {
    for (const [page, notes] of this.#notes) {
      this.#renew(page, notes);
      return;
    }
  }

  /** Makes a page anew from its notes. */
  #renew(page: EncodedPage, notes: PendingWrites): void {
    if (this.#handedOut) this.#pages = [...this.#pages];
    this.#handedOut = false;
    this.#notes.delete(page);
    this.#noteCount -= notes.size;
    const made = page.with(notes);
    let from = page === EncodedPage.empty ? 0 : this.#firsts.lastNotAfter(page.first);
    let until = page === EncodedPage.empty ? 0 : from + 1;
    // Neighbours that shrank are joined, or removals would leave a trail of tiny pages.
    const [only] = made;
    if (made.length === 1 && only) {
      const left = this.#pages[from - 1];
      const right = this.#pages[until];
      if (left && this.#fits(left, only)) {
        made.splice(0, 1, ...left.with(only.toMap()));
        from--;
      } else if (right && this.#fits(right, only)) {
        made.splice(0, 1, ...right.with(only.toMap()));
        until++;
      }
    }
    this.#bytes += sumOfBytes(made) - sumOfBytes(this.#pages.slice(from, until));
    const [one] = made;
    if (one && made.length === 1 && until - from === 1) {
      this.#pages[from] = one;
      if (one.first === page.first) return;
    } else this.#pages.splice(from, until - from, ...made);
    this.#firsts.splice(
      from,
      until - from,
      made.map((page) => page.first),
    );
  }

  #fits(neighbour: EncodedPage, page: EncodedPage): boolean {
    return neighbour.length + page.length <= PAGE_TARGET / 2 && !this.#notes.has(neighbour);
  }

  /** The values whose ids lie in [from, to], in order. */
  *range(from: string, to: string): Generator<string> {
    const pages = this.pages();
    for (let at = pageFor(pages, from); at < pages.length; at++) {
      const page = pages[at];
      if (!page) return;
      for (let i = page.position(from); i < page.length; i++) {
        if ((page.ids[i] ?? "") > to) return;
        yield page.value(i);
      }
    }
  }

  /** The same with their ids, all at once. */
  between(from: string, to: string): Item[] {
    return itemsBetween(this.pages(), from, to, this.#firsts.lastNotAfter(from));
  }

  /** The page that holds, or would hold, `id`. */
  #pageFor(id: string): EncodedPage {
    return this.#pages[this.#firsts.lastNotAfter(id)] ?? EncodedPage.empty;
  }
}

const totals = new WeakMap<readonly EncodedPage[], number>();

const sumOfBytes = (pages: readonly EncodedPage[]): number =>
  pages.reduce((sum, { bytes }) => sum + bytes.length, 0);

/** How many bytes pages hold together. For those of a collection it is known: to look at each would take a while. */
export function bytesOn(pages: readonly EncodedPage[]): number {
  const total = totals.get(pages) ?? sumOfBytes(pages);
  totals.set(pages, total);
  return total;
}

/** What lies in [from, to] on pages, of which the one at `first` is where it begins. */
export function itemsBetween(
  pages: readonly EncodedPage[],
  from: string,
  to: string,
  first = pageFor(pages, from),
): Item[] {
  const found: Item[] = [];
  for (let at = first; at < pages.length; at++) {
    const page = pages[at];
    if (!page) break;
    for (let i = page.position(from); i < page.length; i++) {
      const id = page.ids[i] ?? "";
      if (id > to) return found;
      found.push({ id, text: page.value(i) });
    }
  }
  return found;
}

/** The last page that does not begin after `id`. */
export function pageFor(pages: readonly EncodedPage[], id: string): number {
  let low = 0;
  let high = pages.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((pages[middle]?.first ?? "") <= id) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}
