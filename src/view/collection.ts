/**
 * One collection of the view: JSON values in order of id, on encoded pages.
 *
 * A write is buffered beside its page and costs one map entry. A read of the pages rewrites only those with pending
 * writes. When too many writes are pending without a read, the page with the oldest pending write is rewritten, so that
 * memory stays bounded and no single write pays for all. `pages()` returns an immutable array, which is the state of the
 * collection at that moment.
 */
import { SortedTexts } from "../lib/sorted-texts.ts";
import { EncodedPage, TARGET_PAGE_SIZE } from "./encoded-page.ts";

/** Pending writes allowed: this many, or one per 16 values. The more writes a page collects, the less each costs. */
const MAX_PENDING_WRITES = 16_384;
const VALUES_PER_PENDING_WRITE = 16;

/** By id; null is a removal. */
type PendingWrites = Map<string, string | null>;

/** The JSON text of a value, with its id. */
export interface EncodedValue {
  readonly id: string;
  readonly text: string;
}

export class Collection {
  /** The revision that last changed the collection. ETags are derived from it. */
  revision = 0;
  /** None of them is empty. */
  #pages: EncodedPage[];
  #bytes: number;
  /** The first id of each page. A separate array, because a binary search over the pages would miss the CPU cache. */
  readonly #firstIds: SortedTexts;
  /** Whether a reader holds the array. The next rewrite then copies it. */
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
    const pending = this.#pendingWrites.get(page)?.get(id);
    return pending === undefined ? page.get(id) : (pending ?? undefined);
  }

  has(id: string): boolean {
    const page = this.#pageFor(id);
    const pending = this.#pendingWrites.get(page)?.get(id);
    return pending === undefined ? page.has(id) : pending !== null;
  }

  /** Replaces `before`, which the caller has looked up. Null means that there is no value. */
  put(id: string, before: string | null, after: string | null): void {
    const page = this.#pageFor(id);
    let writes = this.#pendingWrites.get(page);
    if (!writes) {
      writes = new Map();
      this.#pendingWrites.set(page, writes);
    }
    if (!writes.has(id)) this.#pendingCount++;
    writes.set(id, after);
    this.#size += (after === null ? 0 : 1) - (before === null ? 0 : 1);
    if (
      this.#pendingCount > MAX_PENDING_WRITES &&
      this.#pendingCount > this.#size / VALUES_PER_PENDING_WRITE
    ) {
      this.#rewriteOldestPendingPage();
    }
  }

  /** The current pages. The returned array never changes. */
  pages(): readonly EncodedPage[] {
    for (const [page, writes] of this.#pendingWrites) this.#rewritePage(page, writes);
    this.#pagesShared = true;
    byteTotals.set(this.#pages, this.#bytes);
    return this.#pages;
  }

  #rewriteOldestPendingPage(): void {
    for (const [page, writes] of this.#pendingWrites) {
      this.#rewritePage(page, writes);
      return;
    }
  }

  /** Replaces a page by one with its pending writes, or by none or several. */
  #rewritePage(page: EncodedPage, writes: PendingWrites): void {
    if (this.#pagesShared) this.#pages = [...this.#pages];
    this.#pagesShared = false;
    this.#pendingWrites.delete(page);
    this.#pendingCount -= writes.size;
    const rewritten = page.withChanges(writes);
    let from = page === EncodedPage.empty ? 0 : this.#firstIds.lastNotAfter(page.firstId);
    let until = page === EncodedPage.empty ? 0 : from + 1;
    // Small neighbours are joined: otherwise removals would leave many tiny pages.
    const [single] = rewritten;
    if (rewritten.length === 1 && single) {
      const left = this.#pages[from - 1];
      const right = this.#pages[until];
      if (left && this.#fits(left, single)) {
        rewritten.splice(0, 1, ...left.withChanges(single.toMap()));
        from--;
      } else if (right && this.#fits(right, single)) {
        rewritten.splice(0, 1, ...right.withChanges(single.toMap()));
        until++;
      }
    }
    this.#bytes += sumOfBytes(rewritten) - sumOfBytes(this.#pages.slice(from, until));
    const [replacement] = rewritten;
    if (replacement && rewritten.length === 1 && until - from === 1) {
      this.#pages[from] = replacement;
      if (replacement.firstId === page.firstId) return;
    } else this.#pages.splice(from, until - from, ...rewritten);
    this.#firstIds.splice(
      from,
      until - from,
      rewritten.map(({ firstId }) => firstId),
    );
  }

  #fits(neighbour: EncodedPage, page: EncodedPage): boolean {
    return neighbour.length + page.length <= TARGET_PAGE_SIZE / 2 && !this.#pendingWrites.has(neighbour);
  }

  /** The values whose ids are in [from, to], in order of id. */
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

  /** The same values with their ids, as an array. */
  rangeWithIds(from: string, to: string): EncodedValue[] {
    return valuesInRange(this.pages(), from, to, this.#firstIds.lastNotAfter(from));
  }

  /** The page that has, or would have, `id`. */
  #pageFor(id: string): EncodedPage {
    return this.#pages[this.#firstIds.lastNotAfter(id)] ?? EncodedPage.empty;
  }
}

const byteTotals = new WeakMap<readonly EncodedPage[], number>();

const sumOfBytes = (pages: readonly EncodedPage[]): number =>
  pages.reduce((sum, { bytes }) => sum + bytes.length, 0);

/** The summed length of the pages. Cached per array: a collection keeps its own sum, and others are summed once. */
export function totalBytes(pages: readonly EncodedPage[]): number {
  const total = byteTotals.get(pages) ?? sumOfBytes(pages);
  byteTotals.set(pages, total);
  return total;
}

/** The values whose ids are in [from, to]. `first` is the index of the page where the range starts. */
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

/** The index of the last page whose first id is not after `id`; 0 when there is none. */
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
