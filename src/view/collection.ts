/**
 * One collection of the view at one revision: JSON values in order of id, on encoded pages. Its content never changes. A
 * changed collection is a new one (`withWrites`), which shares all pages with its predecessor, so that readers can use
 * theirs across pauses.
 *
 * A write is pending beside its page and costs one map entry. `pages()` rewrites the pages with pending writes in steps,
 * and keeps the result: only the representation changes, not the content. The newest collection also uses rewritten pages
 * if it has the same pending writes. When too many writes are pending without a read, `withWrites` rewrites some pages in
 * turn, so that memory stays bounded and no single write pays for all.
 */
import { lowerBound } from "../lib/sorted.ts";
import { replaceRange, SortedTexts } from "../lib/sorted-texts.ts";
import { COST, Pause, runToEnd, SharedSteps, type Steps, sortInSteps } from "../lib/steps.ts";
import { EncodedPage, MAX_PAGE_BYTES, TARGET_PAGE_BYTES, TARGET_PAGE_SIZE } from "./encoded-page.ts";

/** Number of pending writes allowed: this many, or one per 16 values. The more writes a page collects, the less each costs. */
const MAX_PENDING_WRITES = 16_384;
const VALUES_PER_PENDING_WRITE = 16;
/** Number and total length of the pending writes allowed on one page, which bounds their memory. */
const MAX_WRITES_PER_PAGE = 512;
const MAX_WRITTEN_PER_PAGE = 2 * MAX_PAGE_BYTES;

/** The JSON of a value, with its id. It exists as text or as bytes of a page, and is converted when the other is read. */
export class EncodedValue {
  readonly id: string;
  #json: string | Buffer;

  constructor(id: string, json: string | Buffer) {
    this.id = id;
    this.#json = json;
  }

  get text(): string {
    if (typeof this.#json !== "string") this.#json = this.#json.toString();
    return this.#json;
  }

  /** Bytes that must not be changed, and must not be kept: they may be a part of a page, which they keep in memory. */
  get bytes(): Buffer {
    return typeof this.#json === "string" ? Buffer.from(this.#json) : this.#json;
  }

  /** Length of the JSON, in bytes or characters. */
  get length(): number {
    return this.#json.length;
  }
}

/** A change of a value; null removes it. A `LogEntry` is one. */
export interface Write {
  readonly id: string;
  readonly after: string | null;
}

const NO_PAGES: readonly EncodedPage[] = [];

/** The state that a collection shares with the collections made from it. */
interface Line {
  newest: Collection | undefined;
  /** Bytes of all pages that were replaced so far. Older collections may still have them. */
  replacedBytes: number;
}

export class Collection {
  readonly size: number;
  #content: PageLists;
  #settling: SharedSteps<void> | undefined;
  /** The page at which the search for the next page to rewrite starts. */
  readonly #nextRewrite: number;
  /** The state shared with the collections that this one is made from and that are made from it. */
  readonly #line: Line;
  /** `Line.replacedBytes` when this collection was made. */
  readonly #replacedBefore: number;
  /** Bytes of the pages replaced since then that this collection no longer has either. */
  #replacedHere = 0;

  private constructor(content: PageLists, size: number, nextRewrite: number, line: Line) {
    this.#content = content;
    this.size = size;
    this.#nextRewrite = nextRewrite;
    this.#line = line;
    this.#replacedBefore = line.replacedBytes;
  }

  static of(pages: readonly EncodedPage[]): Collection {
    const content: PageLists = {
      pages: pages.length > 0 ? pages : [EncodedPage.empty],
      writes: [],
      firstIds: runToEnd(SortedTexts.create(pages.map((page) => page.firstId))),
      pendingCount: 0,
      bytes: sumOfBytes(pages),
    };
    const size = pages.reduce((sum, page) => sum + page.length, 0);
    return new Collection(content, size, 0, { newest: undefined, replacedBytes: 0 });
  }

  /** The memory that exists only because this collection is kept although it is not the newest one, as an upper bound. */
  get heldBytes(): number {
    const replaced = this.#line.replacedBytes - this.#replacedBefore - this.#replacedHere;
    return Math.min(replaced, this.#content.bytes);
  }

  get(id: string): string | undefined {
    const { pages, writes, firstIds } = this.#content;
    const at = firstIds.lastNotAfter(id);
    const pending = writes[at]?.get(id);
    return pending === undefined ? pages[at]?.get(id) : (pending ?? undefined);
  }

  /** The value with its id. Nothing is copied or decoded. */
  find(id: string): EncodedValue | undefined {
    const { pages, writes, firstIds } = this.#content;
    const at = firstIds.lastNotAfter(id);
    const pending = writes[at]?.get(id);
    if (pending !== undefined) return pending === null ? undefined : new EncodedValue(id, pending);
    const page = pages[at];
    const i = page?.indexOf(id) ?? -1;
    return page && i >= 0
      ? new EncodedValue(id, page.bytes.subarray(page.start(i), page.ends[i]))
      : undefined;
  }

  has(id: string): boolean {
    const { pages, writes, firstIds } = this.#content;
    const at = firstIds.lastNotAfter(id);
    const pending = writes[at]?.get(id);
    return pending === undefined ? pages[at]?.has(id) === true : pending !== null;
  }

  /** Number of pages with pending writes, which bounds the cost of capturing and reading. */
  get pendingPages(): number {
    return this.#content.writes.reduce((count, writes) => count + (writes ? 1 : 0), 0);
  }

  /** Returns a collection with these writes. `sizeChange` is the number of added values minus that of removed ones. */
  *withWrites(changes: Iterable<Write>, sizeChange: number): Steps<Collection> {
    const { pages, writes, firstIds, pendingCount, bytes } = this.#content;
    const changedWrites = [...writes];
    changedWrites.length = pages.length;
    const ownMaps = new Map<number, Map<string, string | null>>();
    let count = pendingCount;
    const pause = new Pause();
    for (const { id, after } of changes) {
      const at = firstIds.lastNotAfter(id);
      let own = ownMaps.get(at);
      if (!own) {
        own = new Map(writes[at]);
        ownMaps.set(at, own);
        changedWrites[at] = own;
      }
      count -= own.size;
      own.set(id, after);
      count += own.size;
      if (pause.due(COST.key)) yield;
    }
    const size = this.size + sizeChange;
    const rewritten = new Map<number, EncodedPage[]>();
    const line = this.#line;
    const rewrite = function* (at: number, page: EncodedPage, pageWrites: PendingWrites): Steps<void> {
      line.replacedBytes += page.bytes.length;
      rewritten.set(at, yield* rewritePage(page, pageWrites));
      count -= pageWrites.size;
      yield;
    };
    for (const [at, own] of ownMaps) {
      const page = pages[at];
      if (page && (own.size > MAX_WRITES_PER_PAGE || lengthOf(own) > MAX_WRITTEN_PER_PAGE))
        yield* rewrite(at, page, own);
    }
    let next = this.#nextRewrite;
    for (const limit = Math.max(MAX_PENDING_WRITES, size / VALUES_PER_PENDING_WRITE); count > limit; next++) {
      const at = next % pages.length;
      const [page, pageWrites] = [pages[at], changedWrites[at]];
      if (page && pageWrites && !rewritten.has(at)) yield* rewrite(at, page, pageWrites);
    }
    const content = { pages, writes: changedWrites, firstIds, pendingCount: count, bytes };
    return new Collection(yield* replacePages(content, rewritten), size, next % pages.length, this.#line);
  }

  /** Makes this the newest collection, which also uses the pages that readers of older ones rewrite. */
  publish(): void {
    this.#line.newest = this;
  }

  /** The pages with all writes applied. The array never changes. Pauses only if pages must be rewritten. */
  *pages(): Steps<readonly EncodedPage[]> {
    if (this.#content.pendingCount > 0) {
      this.#settling ??= new SharedSteps(this.#settle());
      yield* this.#settling.result();
      this.#settling = undefined;
    }
    const { pages, bytes } = this.#content;
    if (pages[0] === EncodedPage.empty) return NO_PAGES;
    byteTotals.set(pages, bytes);
    return pages;
  }

  *#settle(): Steps<void> {
    const content = this.#content;
    const rewritten = new Map<number, EncodedPage[]>();
    for (const [at, writes] of content.writes.entries()) {
      const page = content.pages[at];
      if (!writes || !page) continue;
      rewritten.set(at, yield* rewritePage(page, writes));
      this.#line.replacedBytes += page.bytes.length;
      yield;
    }
    this.#content = { ...(yield* replacePages(content, rewritten)), pendingCount: 0 };
    const { newest } = this.#line;
    if (!newest) return;
    const shared = newest === this ? rewritten : yield* newest.#adopt(content, rewritten);
    for (const at of shared.keys()) this.#replacedHere += content.pages[at]?.bytes.length ?? 0;
  }

  /** Adopts the rewritten pages that have the same pending writes here, and returns them by their index in `from`. */
  *#adopt(
    from: PageLists,
    rewritten: ReadonlyMap<number, readonly EncodedPage[]>,
  ): Steps<ReadonlyMap<number, readonly EncodedPage[]>> {
    const content = this.#content;
    const { pages, writes, firstIds, pendingCount } = content;
    const adopted = new Map<number, readonly EncodedPage[]>();
    const indexes = new Map<number, readonly EncodedPage[]>();
    let count = pendingCount;
    for (const [index, replacement] of rewritten) {
      const page = from.pages[index];
      const at = firstIds.lastNotAfter(page?.firstId ?? "");
      const pageWrites = writes[at];
      if (!pageWrites || pages[at] !== page || pageWrites !== from.writes[index]) continue;
      adopted.set(at, replacement);
      indexes.set(index, replacement);
      count -= pageWrites.size;
    }
    if (adopted.size === 0) return indexes;
    const replaced = yield* replacePages(content, adopted);
    // Other readers may have rewritten pages of this collection meanwhile.
    if (this.#content !== content) return new Map();
    this.#content = { ...replaced, pendingCount: count };
    for (const at of indexes.keys()) this.#replacedHere += from.pages[at]?.bytes.length ?? 0;
    return indexes;
  }

  /** The values whose ids are in [from, to], in order of id. Pages with writes are rewritten one at a time and not kept. */
  *range(from: string, to: string): Generator<EncodedValue> {
    const { pages, writes, firstIds } = this.#content;
    for (let at = firstIds.lastNotAfter(from); at < pages.length; at++) {
      const page = pages[at];
      if (!page || (at > 0 && page.firstId > to)) return;
      const pageWrites = writes[at];
      for (const part of pageWrites ? page.withChanges(pageWrites) : [page]) {
        for (let i = part.insertionIndex(from); i < part.length; i++) {
          const id = part.id(i);
          if (id > to) return;
          yield new EncodedValue(id, part.value(i));
        }
      }
    }
  }
}

const byteTotals = new WeakMap<readonly EncodedPage[], number>();

/** The total length of the pages. It is cached per array: a collection sets its own sum, and other arrays are summed once. */
export function totalBytes(pages: readonly EncodedPage[]): number {
  const total = byteTotals.get(pages) ?? sumOfBytes(pages);
  byteTotals.set(pages, total);
  return total;
}

/** The values whose ids are in [from, to]. `first` is the index of the page where the range starts. */
export function* valuesInRange(
  pages: readonly EncodedPage[],
  from: string,
  to: string,
  first = pageIndexFor(pages, from),
): Generator<EncodedValue, void, void> {
  for (let at = first; at < pages.length; at++) {
    const page = pages[at];
    if (!page) break;
    for (let i = page.insertionIndex(from); i < page.length; i++) {
      const id = page.id(i);
      if (id > to) return;
      yield new EncodedValue(id, page.value(i));
    }
  }
}

/** The index of the last page whose first id is not after `id`; 0 when there is none. */
export const pageIndexFor = (pages: readonly EncodedPage[], id: string): number =>
  Math.max(0, lowerBound(pages.length, (i) => (pages[i]?.firstId ?? "") <= id) - 1);

/*
 * Rewrites pages with pending writes, and builds the resulting list of pages. Small neighbouring pages are joined, because
 * removals would otherwise leave many tiny pages.
 */

/** The written values by id; null is a removal. */
type PendingWrites = ReadonlyMap<string, string | null>;

/** Number of writes that are applied to a page in one step; fewer if they are longer than a page. */
const WRITES_PER_REWRITE = 512;

/** Applies pending writes to a page, which gives any number of pages. Pauses only if the writes are many or large. */
function* rewritePage(page: EncodedPage, writes: PendingWrites): Steps<EncodedPage[]> {
  if (writes.size <= WRITES_PER_REWRITE && lengthOf(writes) <= MAX_PAGE_BYTES)
    return page.withChanges(writes);
  const sorted = yield* sortInSteps([...writes], ([a], [b]) => (a < b ? -1 : 1));
  const rewritten: EncodedPage[] = [];
  let from = 0;
  for (let start = 0; start < sorted.length; ) {
    let end = start;
    for (let length = 0; end < start + WRITES_PER_REWRITE && length < MAX_PAGE_BYTES; end++)
      length += sorted[end]?.[1]?.length ?? 0;
    const next = sorted[end];
    const until = next ? page.insertionIndex(next[0]) : page.length;
    rewritten.push(...page.withSortedChanges(sorted.slice(start, end), from, until));
    [start, from] = [end, until];
    yield;
  }
  return rewritten;
}

/** The total length of the written values. */
function lengthOf(writes: PendingWrites): number {
  let length = 0;
  for (const value of writes.values()) length += value?.length ?? 0;
  return length;
}

/** The pages of a collection with their pending writes. It is immutable, and the arrays are parallel. */
interface PageLists {
  /** The pages. The array is never empty: `EncodedPage.empty` alone stands for no pages, and no other page is empty. */
  readonly pages: readonly EncodedPage[];
  readonly writes: readonly (PendingWrites | undefined)[];
  /** The first id of each page, in a separate object, because a binary search over the pages would miss the CPU cache. */
  readonly firstIds: SortedTexts;
  readonly pendingCount: number;
  readonly bytes: number;
}

/** Returns the lists with the pages at these indexes replaced. The new pages have no pending writes. */
function* replacePages(
  content: PageLists,
  rewritten: ReadonlyMap<number, readonly EncodedPage[]>,
): Steps<PageLists> {
  if (rewritten.size === 0) return content;
  return replaceEach(content, rewritten) ?? (yield* rebuild(content, rewritten));
}

/** Replaces pages if each new one has the same first id and is too large to be joined; otherwise returns undefined. */
function replaceEach(
  { pages, writes, firstIds, pendingCount, bytes }: PageLists,
  rewritten: ReadonlyMap<number, readonly EncodedPage[]>,
): PageLists | undefined {
  const replaced = [...pages];
  const left = [...writes];
  let total = bytes;
  for (const [at, [single, ...more]] of rewritten) {
    const page = pages[at];
    if (!page || !single || more.length > 0 || single.firstId !== page.firstId || isSmall(single)) {
      return undefined;
    }
    replaced[at] = single;
    left[at] = undefined;
    total += single.bytes.length - page.bytes.length;
  }
  return { pages: replaced, writes: left, firstIds, pendingCount, bytes: total };
}

/** Copies the pages before the first and after the last changed one as a whole, which is much faster than visiting each. */
function* rebuild(
  { pages, writes, firstIds, pendingCount, bytes }: PageLists,
  rewritten: ReadonlyMap<number, readonly EncodedPage[]>,
): Steps<PageLists> {
  const newPages: EncodedPage[] = [];
  const newWrites: (PendingWrites | undefined)[] = [];
  let total = bytes;
  let lastIsNew = false;
  const append = (page: EncodedPage, pageWrites: PendingWrites | undefined, isNew: boolean) => {
    const last = newPages.at(-1);
    if (
      last &&
      (isNew || lastIsNew) &&
      isSmall(last, page) &&
      !pageWrites &&
      !newWrites[newPages.length - 1]
    ) {
      const [joined = last] = last.withChanges(page.toMap());
      newPages[newPages.length - 1] = joined;
      total += joined.bytes.length - last.bytes.length;
      lastIsNew = true;
      return;
    }
    newPages.push(page);
    newWrites.push(pageWrites);
    total += page.bytes.length;
    lastIsNew = isNew;
  };
  let [start, last] = [pages.length, 0];
  for (const at of rewritten.keys()) {
    start = Math.min(start, Math.max(0, at - 1));
    last = Math.max(last, at);
  }
  let end = start;
  const pause = new Pause();
  for (; end < pages.length && (end <= last || lastIsNew); end++) {
    const page = pages[end];
    if (!page) break;
    total -= page.bytes.length;
    const replacement = rewritten.get(end);
    if (replacement) for (const newPage of replacement) append(newPage, undefined, true);
    else append(page, writes[end], false);
    if (pause.due(COST.key)) yield;
  }
  if (newPages.length === 0 && end - start === pages.length) append(EncodedPage.empty, undefined, false);
  return {
    pages: replaceRange(pages, start, end, newPages),
    writes: replaceRange(writes, start, end, newWrites),
    firstIds: yield* firstIds.withReplaced(
      start,
      end,
      newPages.map(({ firstId }) => firstId),
    ),
    pendingCount,
    bytes: total,
  };
}

/** Whether the values of the pages should be on one page. */
const isSmall = (...pages: readonly EncodedPage[]): boolean =>
  pages.reduce((sum, page) => sum + page.length, 0) <= TARGET_PAGE_SIZE / 2 &&
  sumOfBytes(pages) <= TARGET_PAGE_BYTES / 2;

const sumOfBytes = (pages: readonly EncodedPage[]): number =>
  pages.reduce((sum, { bytes }) => sum + bytes.length, 0);
