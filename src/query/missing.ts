/**
 * Entities that are intended and not observed. The view keeps them in a collection of their own, so that no other read
 * finds them. A query with `includesMissing` reads both collections, merged in order of id; no id is in both.
 */
import { COST, mapPaced, onlyPausing, type Paced, Pause } from "../lib/steps.ts";
import { idKey, type Kind } from "../model/ids.ts";
import { EncodedValue, valuesInRange } from "../view/collection.ts";
import type { EncodedPage } from "../view/encoded-page.ts";
import { missingKey, parseClaimsKey } from "../view/indexes.ts";
import type { NetworkState } from "../view/view.ts";
import { type Filter, matchesAll } from "./filter.ts";
import type { FilteredState } from "./filtered-state.ts";
import { select } from "./select.ts";

/*
 * The difference between two states of one collection. Pages that both states share are skipped, and the others are
 * compared as bytes, so that the cost depends on what changed and not on the size of the collection. States that were read
 * from different snapshots share no pages, so the comparison pauses regularly.
 */

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

/** A position in a list of pages, which skips the pages that both lists share. */
class PageCursor {
  readonly #pages: readonly EncodedPage[];
  #pageIndex = 0;
  #valueIndex = 0;

  constructor(pages: readonly EncodedPage[], shared: ReadonlySet<EncodedPage>) {
    this.#pages = pages.filter((page) => page.length > 0 && !shared.has(page));
  }

  get id(): string | undefined {
    return this.#pages[this.#pageIndex]?.id(this.#valueIndex);
  }

  /** Length of the current value, in bytes. */
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

/** Selects entities like `select`, with the missing ones if the query includes them. */
export function selectEntities(
  { state, filters, includesMissing }: FilteredState,
  kind: Kind,
  after = "",
): Paced<EncodedValue> {
  const observed = select(state, kind, filters(kind), after);
  if (!includesMissing || state.size("missing") === 0) return observed;
  return mergeById(observed, selectMissing(state, kind, filters(kind), after), (shown) => shown);
}

/** The entity with this shown id. */
export const getEntity = (
  { state, includesMissing }: Pick<FilteredState, "state" | "includesMissing">,
  kind: Kind,
  id: string,
): string | undefined =>
  state.get(kind, id) ?? (includesMissing ? state.get("missing", missingKey(kind, id)) : undefined);

/** A missing entity by its own id. Historical states have no index, so there the id must be spelled as in the plan. */
export function findMissing(
  state: Pick<NetworkState, "get" | "findIndex">,
  kind: Kind,
  id: string,
): string | undefined {
  const key = missingKey(kind, idKey(kind, id));
  const [indexed] = state.findIndex("missing", "key")?.get(key) ?? [];
  return state.get("missing", missingKey(kind, id)) ?? state.get("missing", indexed ?? key);
}

/** The differences of a kind between two states, in order of id. Observed in one and missing in the other is one difference. */
export function* diffEntities(
  from: FilteredState,
  to: FilteredState,
  kind: Kind,
): Generator<ValueDiff | undefined, void, void> {
  const observed = diffPages(
    yield* onlyPausing(from.state.pages(kind)),
    yield* onlyPausing(to.state.pages(kind)),
  );
  if (!to.includesMissing) return yield* observed;
  const missing = diffPages(
    yield* onlyPausing(from.state.pages("missing")),
    yield* onlyPausing(to.state.pages("missing")),
  );
  const ofKind = mapPaced(missing, (pair) => {
    const parsed = parseClaimsKey(pair.id);
    return parsed?.kind === kind ? { ...pair, id: parsed.key } : undefined;
  });
  return yield* mergeById(observed, ofKind, (shown, planned) => ({
    id: shown.id,
    before: shown.before ?? planned.before,
    after: shown.after ?? planned.after,
  }));
}

function* selectMissing(
  state: NetworkState,
  kind: Kind,
  filters: readonly Filter[],
  after: string,
): Generator<EncodedValue | undefined, void, void> {
  const pages = yield* onlyPausing(state.pages("missing"));
  const prefix = missingKey(kind, "");
  const pause = new Pause();
  for (const { id: key, text } of valuesInRange(pages, prefix + after, `${prefix}\uffff`)) {
    const id = key.slice(prefix.length);
    if (id !== after && matchesAll(kind, text, filters)) yield new EncodedValue(id, text);
    if (pause.due(COST.entity, text.length)) yield undefined;
  }
}

/** Merges two sequences that are in order of id. `join` combines two items with the same id. */
function* mergeById<Item extends { readonly id: string }>(
  first: Paced<Item>,
  second: Paced<Item>,
  join: (first: Item, second: Item) => Item,
): Generator<Item | undefined, void, void> {
  const others = second[Symbol.iterator]();
  let other = yield* nextItem(others);
  for (const item of first) {
    while (item && other && other.id < item.id) {
      yield other;
      other = yield* nextItem(others);
    }
    if (item && other && other.id === item.id) {
      yield join(item, other);
      other = yield* nextItem(others);
    } else yield item;
  }
  for (; other; other = yield* nextItem(others)) yield other;
}

/** The next item, after pauses; undefined at the end. */
function* nextItem<Item>(items: Iterator<Item | undefined>): Generator<undefined, Item | undefined, void> {
  for (let next = items.next(); !next.done; next = items.next()) {
    if (next.value !== undefined) return next.value;
    yield undefined;
  }
  return undefined;
}
