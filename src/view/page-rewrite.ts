/**
 * Rewrites pages with pending writes, and builds the resulting list of pages. Small neighbouring pages are joined, because
 * removals would otherwise leave many tiny pages.
 */
import { replaceRange, type SortedTexts } from "../lib/sorted-texts.ts";
import { COST, Pause, type Steps, sortInSteps } from "../lib/steps.ts";
import { EncodedPage, MAX_PAGE_BYTES, TARGET_PAGE_BYTES, TARGET_PAGE_SIZE } from "./encoded-page.ts";

/** The written values by id; null is a removal. */
export type PendingWrites = ReadonlyMap<string, string | null>;

/** Number of writes that are applied to a page in one step; fewer if they are longer than a page. */
const WRITES_PER_REWRITE = 512;

/** Applies pending writes to a page, which gives any number of pages. Pauses only if the writes are many or large. */
export function* rewritePage(page: EncodedPage, writes: PendingWrites): Steps<EncodedPage[]> {
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
export function lengthOf(writes: PendingWrites): number {
  let length = 0;
  for (const value of writes.values()) length += value?.length ?? 0;
  return length;
}

/** The pages of a collection with their pending writes. It is immutable, and the arrays are parallel. */
export interface PageLists {
  /** The pages. The array is never empty: `EncodedPage.empty` alone stands for no pages, and no other page is empty. */
  readonly pages: readonly EncodedPage[];
  readonly writes: readonly (PendingWrites | undefined)[];
  /** The first id of each page, in a separate object, because a binary search over the pages would miss the CPU cache. */
  readonly firstIds: SortedTexts;
  readonly pendingCount: number;
  readonly bytes: number;
}

/** Returns the lists with the pages at these indexes replaced. The new pages have no pending writes. */
export function* replacePages(
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

export const sumOfBytes = (pages: readonly EncodedPage[]): number =>
  pages.reduce((sum, { bytes }) => sum + bytes.length, 0);
