/**
 * One collection of the view: values by id, in order of id, on pages of ready bytes.
 *
 * A change costs a note beside its page. Pages are made anew when somebody reads the list, and only those with notes;
 * when notes pile up while nobody reads, the page that has waited longest is made anew, so that memory stays bounded
 * and no single change pays for all. `pages()` answers an immutable array: whoever holds it holds the collection as
 * it was.
 */
import { SortedTexts } from "../lib/sorted-texts.ts";
import { EncodedPage, TARGET_PAGE_SIZE } from "./encoded-page.ts";

/** Notes kept: so many, or one for so many values. The more there are for a page, the less each costs. */
const MAX_PENDING_WRITES = 16_384;
const VALUES_PER_PENDING_WRITE = 16;

type PendingWrites = Map<string, string | null>;

/** A value and its id. */
export interface EncodedValue {
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
  readonly #firstIds: SortedTexts;
  /** Whether a reader has the array: then the next change of it makes another. */
  #pagesShared = false;
  #size: number;
  readonly #pendingWrites = new Map<EncodedPage, PendingWrites>();
  #pendingCount = 0;

  constructor(pages: readonly EncodedPage[] = []) {
    this.#pages = [...pages];
    this.#firstIds = new SortedTexts(pages.map((page) => page.firstId));
    this.#size = pages.reduce((sum, page) => sum + page.length, 0);
    this.#bytes = sumOfBytes(pages);
  }

  get size(): number {
    return this.#size;
  }

  get(id: string): string | undefined {
    const page = this.#pageFor(id);
    const note = this.#pendingWrites.get(page)?.get(id);
    return note === undefined ? page.get(id) : (note ?? undefined);
  }

  has(id: string): boolean {
    const page = this.#pageFor(id);
    const note = this.#pendingWrites.get(page)?.get(id);
    return note === undefined ? page.has(id) : note !== null;
  }

  /** Puts a value in the place of `before`, which the caller has looked up; null is "not there". */
  put(id: string, before: string | null, after: string | null): void {
    const page = this.#pageFor(id);
    let notes = this.#pendingWrites.get(page);
    if (!notes) {
      notes = new Map();
      this.#pendingWrites.set(page, notes);
    }
    if (!notes.has(id)) this.#pendingCount++;
    notes.set(id, after);
    this.#size += (after === null ? 0 : 1) - (before === null ? 0 : 1);
    if (this.#pendingCount > MAX_PENDING_WRITES && this.#pendingCount > this.#size / VALUES_PER_PENDING_WRITE) this.#rewriteOldestPendingPage();
  }

  /** The pages as of now. Never changed afterwards. */
  pages(): readonly EncodedPage[] {
    for (const [page, notes] of this.#pendingWrites) this.#rewritePage(page, notes);
    this.#pagesShared = true;
    byteTotals.set(this.#pages, this.#bytes);
    return this.#pages;
  }

  #rewriteOldestPendingPage(): void {
    for (const [page, notes] of this.#pendingWrites) {
      this.#rewritePage(page, notes);
      return;
    }
  }

  /** Makes a page anew from its notes. */
  #rewritePage(page: EncodedPage, notes: PendingWrites): void {
    if (this.#pagesShared) this.#pages = [...this.#pages];
    this.#pagesShared = false;
    this.#pendingWrites.delete(page);
    this.#pendingCount -= notes.size;
    const made = page.withChanges(notes);
    let from = page === EncodedPage.empty ? 0 : this.#firstIds.lastNotAfter(page.firstId);
    let until = page === EncodedPage.empty ? 0 : from + 1;
    // Neighbours that shrank are joined, or removals would leave a trail of tiny pages.
    const [only] = made;
    if (made.length === 1 && only) {
      const left = this.#pages[from - 1];
      const right = this.#pages[until];
      if (left && this.#fits(left, only)) {
        made.splice(0, 1, ...left.withChanges(only.toMap()));
        from--;
      } else if (right && this.#fits(right, only)) {
        made.splice(0, 1, ...right.withChanges(only.toMap()));
        until++;
      }
    }
    this.#bytes += sumOfBytes(made) - sumOfBytes(this.#pages.slice(from, until));
    const [one] = made;
    if (one && made.length === 1 && until - from === 1) {
      this.#pages[from] = one;
      if (one.firstId === page.firstId) return;
    } else this.#pages.splice(from, until - from, ...made);
    this.#firstIds.splice(
      from,
      until - from,
      made.map((page) => page.firstId),
    );
  }

  #fits(neighbour: EncodedPage, page: EncodedPage): boolean {
    return neighbour.length + page.length <= TARGET_PAGE_SIZE / 2 && !this.#pendingWrites.has(neighbour);
  }

  /** The values whose ids lie in [from, to], in order. */
  *range(from: string, to: string): Generator<string> {
    const pages = this.pages();
    for (let at = pageIndexFor(pages, from); at < pages.length; at++) {
      const page = pages[at];
      if (!page) return;
      for (let i = page.insertionIndex(from); i < page.length; i++) {
        if ((page.ids[i] ?? "") > to) return;
        yield page.value(i);
      }
    }
  }

  /** The same with their ids, all at once. */
  rangeWithIds(from: string, to: string): EncodedValue[] {
    return valuesInRange(this.pages(), from, to, this.#firstIds.lastNotAfter(from));
  }

  /** The page that holds, or would hold, `id`. */
  #pageFor(id: string): EncodedPage {
    return this.#pages[this.#firstIds.lastNotAfter(id)] ?? EncodedPage.empty;
  }
}

const byteTotals = new WeakMap<readonly EncodedPage[], number>();

const sumOfBytes = (pages: readonly EncodedPage[]): number =>
  pages.reduce((sum, { bytes }) => sum + bytes.length, 0);

/** How many bytes pages hold together. For those of a collection it is known: to look at each would take a while. */
export function totalBytes(pages: readonly EncodedPage[]): number {
  const total = byteTotals.get(pages) ?? sumOfBytes(pages);
  byteTotals.set(pages, total);
  return total;
}

/** What lies in [from, to] on pages, of which the one at `first` is where it begins. */
export function valuesInRange(
  pages: readonly EncodedPage[],
  from: string,
  to: string,
  first = pageIndexFor(pages, from),
): EncodedValue[] {
  const found: EncodedValue[] = [];
  for (let at = first; at < pages.length; at++) {
    const page = pages[at];
    if (!page) break;
    for (let i = page.insertionIndex(from); i < page.length; i++) {
      const id = page.ids[i] ?? "";
      if (id > to) return found;
      found.push({ id, text: page.value(i) });
    }
  }
  return found;
}

/** The last page that does not begin after `id`. */
export function pageIndexFor(pages: readonly EncodedPage[], id: string): number {
  let low = 0;
  let high = pages.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((pages[middle]?.firstId ?? "") <= id) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}
