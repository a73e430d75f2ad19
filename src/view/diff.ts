/** Two states of one collection compared, value by value, without reading what they share. */
import type { EncodedPage } from "./encoded-page.ts";

export interface ValueDiff {
  readonly id: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/**
 * The values in which two lists of pages differ, in order of id. Both are walked side by side and compared as bytes;
 * pages that both have are passed over, so what did not change between two moments of the network costs nothing.
 */
export function* diffPages(
  before: readonly EncodedPage[],
  after: readonly EncodedPage[],
): Generator<ValueDiff> {
  const then = new PageCursor(before, new Set(after));
  const now = new PageCursor(after, new Set(before));
  for (;;) {
    const [was, is] = [then.id, now.id];
    if (was === undefined && is === undefined) return;
    if (is === undefined || (was !== undefined && was < is)) {
      yield { id: was ?? "", before: then.text(), after: undefined };
      then.advance();
    } else if (was === undefined || is < was) {
      yield { id: is, before: undefined, after: now.text() };
      now.advance();
    } else {
      if (!then.sameAs(now)) yield { id: is, before: then.text(), after: now.text() };
      then.advance();
      now.advance();
    }
  }
}

/** A place on the pages of a list, less those that both lists have. */
class PageCursor {
  readonly #pages: readonly EncodedPage[];
  #page = 0;
  #at = 0;

  constructor(pages: readonly EncodedPage[], others: ReadonlySet<EncodedPage>) {
    this.#pages = pages.filter((page) => page.length > 0 && !others.has(page));
  }

  get id(): string | undefined {
    return this.#pages[this.#page]?.ids[this.#at];
  }

  text(): string | undefined {
    return this.#pages[this.#page]?.value(this.#at);
  }

  sameAs(other: PageCursor): boolean {
    const mine = this.#bytes();
    const theirs = other.#bytes();
    return mine !== undefined && theirs !== undefined && mine.equals(theirs);
  }

  advance(): void {
    this.#at++;
    if (this.#at < (this.#pages[this.#page]?.length ?? 0)) return;
    this.#page++;
    this.#at = 0;
  }

  #bytes(): Buffer | undefined {
    const page = this.#pages[this.#page];
    return page?.bytes.subarray(page.start(this.#at), page.ends[this.#at]);
  }
}
