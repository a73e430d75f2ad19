/**
 * Selects the entities that match all filters, in order of id. Where ids or an index narrow the search, only
 * the candidates are read. Otherwise the pages are scanned; where the filters know substrings of every match, their bytes
 * are searched first and only entities with a hit are parsed. Historical states have no indexes and are always scanned.
 */

import { runToEnd } from "../lib/steps.ts";
import type { Kind } from "../model/ids.ts";
import { type EncodedValue, pageIndexFor, valuesInRange } from "../view/collection.ts";
import type { EncodedPage } from "../view/encoded-page.ts";
import { type NetworkState, parseStored } from "../view/view.ts";
import { type Filter, type IdHint, type IndexRanges, matchesAll, scalarOf } from "./filter.ts";
import type { SortKey } from "./query.ts";

/** With more candidates than this a scan is as fast, and its result needs no sorting. */
const MAX_CANDIDATES = 20_000;

/**
 * Matches with an id greater than `after`, in order of id. The state is fixed by this call: changes that are applied
 * while the caller iterates do not show.
 */
export function select(
  state: NetworkState,
  kind: Kind,
  filters: readonly Filter[],
  after = "",
): Iterable<EncodedValue> {
  if (filters.length === 0) return allEntities(runToEnd(state.pages(kind)), after);
  const byId = filters.find((filter) => filter.ids);
  if (byId?.ids) return filterCandidates(getByIdHint(state, kind, byId.ids, after), kind, byId, filters);
  const candidates = findCandidates(state, kind, filters);
  if (!candidates) return scan(kind, runToEnd(state.pages(kind)), filters, after);
  const hint = state.indexesAreExact ? candidates.filter : undefined;
  return filterCandidates(getByIds(state, kind, candidates.ids, after), kind, hint, filters);
}

/** Applies all filters to the candidates that the hint of one filter found; if that hint is exact, all others. */
function filterCandidates(
  candidates: EncodedValue[],
  kind: Kind,
  hint: Filter | undefined,
  filters: readonly Filter[],
): EncodedValue[] {
  const rest = hint?.exact ? filters.filter((filter) => filter !== hint) : filters;
  return rest.length === 0 ? candidates : candidates.filter(({ text }) => matchesAll(kind, text, rest));
}

function* scan(
  kind: Kind,
  pages: readonly EncodedPage[],
  filters: readonly Filter[],
  after: string,
): Generator<EncodedValue> {
  const substrings = filters
    .find((filter) => filter.substrings)
    ?.substrings?.map((substring) => Buffer.from(substring));
  const anyCase = filters.find((filter) => filter.substringAnyCase !== undefined)?.substringAnyCase;
  const candidatesOn = (page: EncodedPage): Iterable<number> => {
    if (substrings) return positionsContaining(page, substrings);
    return anyCase === undefined ? page.ids.keys() : positionsContainingAnyCase(page, anyCase);
  };
  for (let at = after === "" ? 0 : pageIndexFor(pages, after); at < pages.length; at++) {
    const page = pages[at];
    if (!page) return;
    for (const i of candidatesOn(page)) {
      const id = page.ids[i] ?? "";
      if (id <= after) continue;
      const text = page.value(i);
      if (matchesAll(kind, text, filters)) yield { id, text };
    }
  }
}

function* allEntities(pages: readonly EncodedPage[], after: string): Generator<EncodedValue> {
  for (let at = after === "" ? 0 : pageIndexFor(pages, after); at < pages.length; at++) {
    const page = pages[at];
    if (!page) return;
    let i = page.insertionIndex(after);
    if (page.ids[i] === after) i++;
    for (; i < page.length; i++) yield { id: page.ids[i] ?? "", text: page.value(i) };
  }
}

/** The positions on a page whose JSON contains one of the substrings, in order. */
function positionsContaining(page: EncodedPage, substrings: readonly Buffer[]): Iterable<number> {
  const positions = new Set<number>();
  for (const substring of substrings) {
    for (let at = page.bytes.indexOf(substring); at >= 0; ) {
      const i = page.indexAtByte(at);
      positions.add(i);
      // One hit in an entity is enough: go on behind its end.
      at = page.bytes.indexOf(substring, (page.ends[i] ?? page.bytes.length) + 1);
    }
  }
  return inOrder(positions);
}

/** The only letters outside ASCII whose lower case contains ASCII: the Kelvin sign, and the capital dotted I. */
const LOWERED_TO_ASCII = ["\u212a", "\u0130"].map((letter) => Buffer.from(letter));

/** The same in upper or lower case. Decoded as Latin-1, a byte is a character, so offsets in both are the same. */
function positionsContainingAnyCase(page: EncodedPage, lowerCase: string): Iterable<number> {
  const positions = new Set(positionsContaining(page, LOWERED_TO_ASCII));
  const text = page.bytes.toString("latin1").toLowerCase();
  for (let at = text.indexOf(lowerCase); at >= 0; ) {
    const i = page.indexAtByte(at);
    positions.add(i);
    at = text.indexOf(lowerCase, (page.ends[i] ?? text.length) + 1);
  }
  return inOrder(positions);
}

const inOrder = (positions: ReadonlySet<number>): Iterable<number> =>
  positions.size < 2 ? positions : [...positions].sort((a, b) => a - b);

interface Candidates {
  /** The filter whose index ranges were read. */
  readonly filter: Filter;
  readonly ids: readonly string[];
}

/** The candidates of the filter whose index ranges hold the fewest ids; undefined when no index is selective enough. */
function findCandidates(view: NetworkState, kind: Kind, filters: readonly Filter[]): Candidates | undefined {
  let best: Candidates | undefined;
  let maxIds = Math.min(MAX_CANDIDATES, view.size(kind) / 2);
  for (const filter of filters) {
    const ids = filter.indexRanges && readIndexes(view, kind, filter.indexRanges, maxIds);
    if (!ids) continue;
    best = { filter, ids };
    maxIds = ids.length;
  }
  return best;
}

/** Undefined when the ranges hold more than `maxIds`, and when the kind has none of the indexes. */
function readIndexes(
  view: NetworkState,
  kind: Kind,
  indexRanges: readonly IndexRanges[],
  maxIds: number,
): string[] | undefined {
  let ids: string[] | undefined;
  for (const { index: name, ranges } of indexRanges) {
    const index = view.findIndex(kind, name);
    if (!index) continue;
    ids ??= [];
    for (const [from, to] of ranges) if (!index.collect(from, to, ids, maxIds)) return undefined;
  }
  return ids;
}

/** Reads entity by entity and not from `pages`: encoding the changed pages would cost more than the look-ups. */
function getByIds(state: NetworkState, kind: Kind, ids: readonly string[], after: string): EncodedValue[] {
  const found: EncodedValue[] = [];
  for (const id of ids.length < 2 ? ids : [...new Set(ids)].sort()) addById(found, state, kind, id, after);
  return found;
}

function getByIdHint(state: NetworkState, kind: Kind, { by, values }: IdHint, after: string): EncodedValue[] {
  const found: EncodedValue[] = [];
  for (const value of values) {
    if (by === "keys") addById(found, state, kind, state.shownId(kind, value), after);
    else {
      // Owners are devices or MAC addresses; the latter have one spelling.
      const owner = kind === "hosts" ? value : state.shownId("devices", value);
      for (const item of itemsInRange(state, kind, `${owner}/`, `${owner}/\uffff`))
        if (item.id > after) found.push(item);
    }
  }
  if (found.length < 2) return found;
  // Values may repeat and come in any order.
  found.sort((a, b) => (a.id < b.id ? -1 : 1));
  return found.filter(({ id }, i) => id !== found[i + 1]?.id);
}

function addById(found: EncodedValue[], state: NetworkState, kind: Kind, id: string, after: string): void {
  if (id <= after) return;
  const text = state.get(kind, id);
  if (text !== undefined) found.push({ id, text });
}

const itemsInRange = (state: NetworkState, kind: Kind, from: string, to: string): readonly EncodedValue[] =>
  valuesInRange(runToEnd(state.pages(kind)), from, to);

/** Sorts by the keys, then by id. */
export function sortItems(
  kind: Kind,
  items: Iterable<EncodedValue>,
  sort: readonly SortKey[],
): EncodedValue[] {
  const rows = [...items].map((item) => {
    const entity = parseStored(kind, item.text);
    return { item, keys: sort.map(({ field }) => scalarOf(entity, field)) };
  });
  rows.sort((a, b) => {
    for (const [i, { descending }] of sort.entries()) {
      const left = a.keys[i] ?? "";
      const right = b.keys[i] ?? "";
      if (left !== right) return left < right === descending ? 1 : -1;
    }
    return a.item.id < b.item.id ? -1 : 1;
  });
  return rows.map((row) => row.item);
}

/** The JSON of an entity with only these fields, which are in the order of the JSON. */
export function projectFields(json: string, fields: readonly string[]): string {
  const entity: Record<string, unknown> = JSON.parse(json);
  const projected: Record<string, unknown> = {};
  for (const field of fields) if (field in entity) projected[field] = entity[field];
  return JSON.stringify(projected);
}
