/**
 * The difference between two states of one collection. Pages that both states share are skipped, and the others are
 * compared as bytes, so that the cost depends on what changed and not on the size of the collection. States that were read
 * from different snapshots share no pages; so it pauses after every so many values and bytes.
 */
import { COST, Pause } from "../lib/steps.ts";
import type { EncodedPage } from "../view/encoded-page.ts";

export interface ValueDiff {
  readonly id: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The values that differ between two lists of pages, in order of id. */
export function* diffPages(
  before: readonly EncodedPage[],
  after: readonly EncodedPage[],
): Generator<ValueDiff | undefined, void, void> {
  const oldCursor = new PageCursor(before, new Set(after));
  const newCursor = new PageCursor(after, new Set(before));
  for (const pause = new Pause(); ; ) {
    if (pause.due(COST.key, oldCursor.length, newCursor.length)) yield undefined;
    const [oldId, newId] = [oldCursor.id, newCursor.id];
    if (oldId === undefined && newId === undefined) return;
    if (newId === undefined || (oldId !== undefined && oldId < newId)) {
      yield { id: oldId ?? "", before: oldCursor.text(), after: undefined };
      oldCursor.advance();
    } else if (oldId === undefined || newId < oldId) {
      yield { id: newId, before: undefined, after: newCursor.text() };
      newCursor.advance();
    } else {
      if (!oldCursor.sameAs(newCursor))
        yield { id: newId, before: oldCursor.text(), after: newCursor.text() };
      oldCursor.advance();
      newCursor.advance();
    }
  }
}

/** A position in a list of pages, without the pages of the other list. */
class PageCursor {
  readonly #pages: readonly EncodedPage[];
  #pageIndex = 0;
  #valueIndex = 0;

  constructor(pages: readonly EncodedPage[], shared: ReadonlySet<EncodedPage>) {
    this.#pages = pages.filter((page) => page.length > 0 && !shared.has(page));
  }

  get id(): string | undefined {
    return this.#pages[this.#pageIndex]?.ids[this.#valueIndex];
  }

  /** Of the value, in bytes. */
  get length(): number {
    const page = this.#pages[this.#pageIndex];
    return page ? (page.ends[this.#valueIndex] ?? 0) - page.start(this.#valueIndex) : 0;
  }

  text(): string | undefined {
    return this.#pages[this.#pageIndex]?.value(this.#valueIndex);
  }

  sameAs(other: PageCursor): boolean {
    const bytes = this.#bytes();
    const otherBytes = other.#bytes();
    return bytes !== undefined && otherBytes !== undefined && bytes.equals(otherBytes);
  }

  advance(): void {
    this.#valueIndex++;
    if (this.#valueIndex < (this.#pages[this.#pageIndex]?.length ?? 0)) return;
    this.#pageIndex++;
    this.#valueIndex = 0;
  }

  #bytes(): Buffer | undefined {
    const page = this.#pages[this.#pageIndex];
    return page?.bytes.subarray(page.start(this.#valueIndex), page.ends[this.#valueIndex]);
  }
}
