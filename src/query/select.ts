/**
 * Selects the entities that match all filters, in order of id. If ids or an index narrow the search, only the candidates
 * are read. Otherwise the pages are scanned; if the filters have substrings of every match, the bytes are searched first
 * and only entities with a hit are parsed. Only the newest state has indexes; all others are scanned.
 *
 * Indexes change with the view, so they are read within the call of `select`. Everything else is read while the caller
 * iterates, with a pause after every few entities, and after each page.
 */

import { compareTexts } from "../lib/sorted.ts";
import type { SortedIndex } from "../lib/sorted-index.ts";
import { BYTES_PER_STEP, COST, onlyPausing, type Paced, Pause, sortInSteps } from "../lib/steps.ts";
import type { Kind } from "../model/ids.ts";
import { EncodedValue, pageIndexFor, valuesInRange } from "../view/collection.ts";
import type { EncodedPage } from "../view/encoded-page.ts";
import type { NetworkState } from "../view/view.ts";
import { type Filter, type IdHint, type IndexRanges, type KeyRange, matchesAll } from "./filter.ts";

/** Number of candidates above which a scan is as fast; its result needs no sorting. */
const MAX_CANDIDATES = 20_000;
/** Number of ranges above which the index lookups, which run in one turn, take longer than a scan that pauses. */
const MAX_RANGES = 512;
/**
 * Number of entities that are read and matched between two pauses. The caller's work on each of them is part of the step,
 * and takes up to 20 µs where they are rendered. A result that needs no pause is an array.
 */
const MAX_IDS_AT_ONCE = 64;

/** The entities to select. */
interface Selection {
  readonly state: NetworkState;
  readonly kind: Kind;
  readonly filters: readonly Filter[];
  /** Only entities with a greater id are selected. */
  readonly after: string;
}

type Selected = Generator<EncodedValue | undefined, void, void>;

/** The matches with an id greater than `after`, in order of id. */
export function select(
  state: NetworkState,
  kind: Kind,
  filters: readonly Filter[],
  after = "",
): Paced<EncodedValue> {
  const selection = { state, kind, filters, after };
  if (filters.length === 0) return scan(selection);
  for (const filter of filters) if (filter.ids) return selectByIdHint(selection, filter, filter.ids);
  const unsorted = unsortedIndexes(selection);
  if (unsorted) return selectAfterSorting(unsorted, selection);
  const candidates = findCandidates(selection);
  if (!candidates) return scan(selection);
  const { filter, ids } = candidates;
  const rest = filter.exact && state.indexesAreExact ? without(filters, filter) : filters;
  return getByIds({ state, kind, filters: rest, after }, ids);
}

/** The indexes in which a range lookup, which runs in one turn, would have to scan many keys. */
function unsortedIndexes({ state, kind, filters }: Selection): readonly SortedIndex[] | undefined {
  let found: SortedIndex[] | undefined;
  for (const { indexRanges } of filters) {
    if (!indexRanges) continue;
    for (const { index: name, ranges } of indexRanges) {
      if (!ranges.some(isRange)) continue;
      const index = state.findIndex(kind, name);
      if (!index?.isUnsorted) continue;
      found ??= [];
      found.push(index);
    }
  }
  return found;
}

const isRange = (range: KeyRange): boolean => range[0] !== range[1];

function* selectAfterSorting(unsorted: readonly SortedIndex[], selection: Selection): Selected {
  const { state, kind, filters, after } = selection;
  for (const index of unsorted) yield* onlyPausing(index.sortKeys());
  yield* select(state, kind, filters, after);
}

const without = (filters: readonly Filter[], filter: Filter): readonly Filter[] =>
  filters.length === 1 ? NO_FILTERS : filters.filter((other) => other !== filter);
const NO_FILTERS: readonly Filter[] = [];

const uniqueInOrder = (ids: readonly string[]): readonly string[] =>
  ids.length < 2 ? ids : [...new Set(ids)].sort();

function* scan({ state, kind, filters, after }: Selection): Selected {
  const pages = yield* onlyPausing(state.pages(kind));
  const substrings = filters
    .find((filter) => filter.substrings)
    ?.substrings?.map((substring) => Buffer.from(substring));
  const anyCase = filters.find((filter) => filter.substringAnyCase !== undefined)?.substringAnyCase;
  const candidatesOn = (page: EncodedPage): Iterable<number> => {
    if (substrings) return positionsContaining(page, substrings);
    return anyCase === undefined ? page.ends.keys() : positionsContainingAnyCase(page, anyCase);
  };
  const pause = new Pause();
  for (let at = after === "" ? 0 : pageIndexFor(pages, after); at < pages.length; at++) {
    const page = pages[at];
    if (!page) return;
    for (const i of candidatesOn(page)) {
      const id = page.id(i);
      if (id <= after) continue;
      const text = page.value(i);
      if (matchesAll(kind, text, filters)) yield new EncodedValue(id, text);
      if (pause.due(COST.entity, text.length)) yield undefined;
    }
    yield undefined;
  }
}

/** The positions on a page whose JSON contains one of the substrings, in order. */
function positionsContaining(page: EncodedPage, substrings: readonly Buffer[]): Iterable<number> {
  const positions = new Set<number>();
  for (const substring of substrings) {
    for (let at = page.bytes.indexOf(substring); at >= 0; ) {
      const i = page.indexAtByte(at);
      positions.add(i);
      // One hit in an entity is enough, so the search continues after its end.
      at = page.bytes.indexOf(substring, (page.ends[i] ?? page.bytes.length) + 1);
    }
  }
  return inOrder(positions);
}

/** The only letters outside ASCII whose lower case contains ASCII: the Kelvin sign, and the capital dotted I. */
const LOWERED_TO_ASCII = ["\u212a", "\u0130"].map((letter) => Buffer.from(letter));

/** The positions of hits in upper or lower case. In Latin-1 every byte is one character, so offsets are equal in both. */
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
  readonly ids: string[];
}

/** The candidates of the filter whose index ranges contain the fewest ids; undefined when no index is selective enough. */
function findCandidates({ state, kind, filters }: Selection): Candidates | undefined {
  let best: Candidates | undefined;
  let maxIds = Math.min(MAX_CANDIDATES, state.size(kind) / 2);
  for (const filter of filters) {
    const ids = filter.indexRanges && readIndexes(state, kind, filter.indexRanges, maxIds);
    if (!ids) continue;
    best = { filter, ids };
    maxIds = ids.length;
  }
  return best;
}

/** Returns undefined when the ranges contain more than `maxIds`, or when the state has none of the indexes. */
function readIndexes(
  state: NetworkState,
  kind: Kind,
  indexRanges: readonly IndexRanges[],
  maxIds: number,
): string[] | undefined {
  let ids: string[] | undefined;
  for (const { index: name, ranges } of indexRanges) {
    if (ranges.length > MAX_RANGES) return undefined;
    const index = state.findIndex(kind, name);
    if (!index) continue;
    ids ??= [];
    for (const range of ranges) if (!index.collect(range[0], range[1], ids, maxIds)) return undefined;
  }
  return ids;
}

/**
 * Reads the entities one by one and not from `pages`, because encoding the changed pages would cost more than the lookups.
 * Returns an array, unless the entities are so many or so large that reading them all takes more than a step.
 */
function getByIds(selection: Selection, ids: string[]): Paced<EncodedValue> {
  const { state, kind, filters, after } = selection;
  if (ids.length > MAX_IDS_AT_ONCE) return getByIdsInSteps(selection, ids);
  const found: EncodedValue[] = [];
  let length = 0;
  for (const id of uniqueInOrder(ids)) {
    if (length > BYTES_PER_STEP) return getByIdsInSteps(selection, ids);
    const value = id > after ? state.find(kind, id) : undefined;
    if (!value) continue;
    length += value.length;
    if (filters.length === 0 || matchesAll(kind, value.text, filters)) found.push(value);
  }
  return found;
}

function* getByIdsInSteps({ state, kind, filters, after }: Selection, ids: string[]): Selected {
  const sorted = yield* sortInSteps(ids, compareTexts);
  const pause = new Pause();
  let last: string | undefined;
  for (const id of sorted) {
    if (id === last) continue;
    last = id;
    const value = id > after ? state.find(kind, id) : undefined;
    if (value && (filters.length === 0 || matchesAll(kind, value.text, filters))) yield value;
    if (pause.due(COST.entity, value?.length)) yield undefined;
  }
}

function selectByIdHint(selection: Selection, filter: Filter, { by, values }: IdHint): Paced<EncodedValue> {
  const { state, kind, filters } = selection;
  const rest = { ...selection, filters: filter.exact ? without(filters, filter) : filters };
  if (by === "owners") return itemsOfOwners(rest, values);
  return getByIds(
    rest,
    values.map((value) => state.spelledId(kind, value)),
  );
}

/** The entities whose ids begin with an owner and a slash. Owners are devices, or MAC addresses, which have one spelling. */
function* itemsOfOwners({ state, kind, filters, after }: Selection, owners: readonly string[]): Selected {
  const pages = yield* onlyPausing(state.pages(kind));
  const shown = (owner: string) => (kind === "hosts" ? owner : state.spelledId("devices", owner));
  const pause = new Pause();
  let last: string | undefined;
  for (const prefix of owners.map((owner) => `${shown(owner)}/`).sort()) {
    if (pause.due(COST.record)) yield undefined;
    // The id of a device may contain slashes, so the entities of one owner may be among those of the previous one.
    if (last !== undefined && prefix.startsWith(last)) continue;
    last = prefix;
    for (const item of valuesInRange(pages, prefix, `${prefix}\uffff`)) {
      if (item.id > after && matchesAll(kind, item.text, filters)) yield item;
      if (pause.due(COST.entity, item.text.length)) yield undefined;
    }
  }
}

/** The JSON of an entity with only these fields, which are in the order of the JSON. */
export function projectFields(json: string, fields: readonly string[]): string {
  const entity: Record<string, unknown> = JSON.parse(json);
  const projected: Record<string, unknown> = {};
  for (const field of fields) if (field in entity) projected[field] = entity[field];
  return JSON.stringify(projected);
}
