/**
 * One page of a list: selects, sorts and limits the entities, and returns where the next page begins.
 *
 * Entities are sorted by the keys of a query, then by id, in steps. Only ids and keys are kept while sorting, not the texts
 * of the entities. If only the first `max` entities are needed, no more than about twice as many rows are kept, so sorting
 * a million hosts for one page needs the memory of two pages.
 */
import { COST, type Paced, Pause, type PausingSteps, type Steps, sortInSteps } from "../lib/steps.ts";
import type { Kind } from "../model/ids.ts";
import { EncodedValue } from "../view/collection.ts";
import { type NetworkState, parseStored } from "../view/view.ts";
import type { CountBytes } from "./count-bytes.ts";
import type { Cursor } from "./cursor.ts";
import { DeviceNames } from "./device-names.ts";
import { ANNOTATION_PREFIX, REQUIRED_TEXTS, type Scalar } from "./fields.ts";
import { type Entity, scalarOf } from "./filter.ts";
import type { FilteredState } from "./filtered-state.ts";
import { getEntity, selectEntities } from "./missing.ts";
import type { ParsedQuery, SortKey } from "./query.ts";

export interface ListPage {
  readonly items: Paced<EncodedValue>;
  /** `Cursor.after` of the next page; undefined on the last page. */
  readonly nextAfter: Cursor["after"] | undefined;
}

/** The page of a list with `sort` or `limit`; other lists use `selectEntities`. Without `limit` the page is the whole rest. */
export function* selectPage(
  filtered: FilteredState,
  kind: Kind,
  { limit, sort }: ParsedQuery,
  after: Cursor["after"] | undefined,
  count: CountBytes,
): Steps<ListPage> {
  if (sort.length > 0) return yield* sortedPage(filtered, kind, sort, limit, Number(after ?? 0), count);
  const items = selectEntities(filtered, kind, String(after ?? ""));
  const page: EncodedValue[] = [];
  for (const item of items) {
    if (item === undefined) yield;
    else if (limit === undefined || page.length < limit) {
      page.push(item);
      count(item.length);
    } else return { items: page, nextAfter: page.at(-1)?.id ?? "" };
  }
  return { items: page, nextAfter: undefined };
}

function* sortedPage(
  filtered: FilteredState,
  kind: Kind,
  sort: ParsedQuery["sort"],
  limit: number | undefined,
  from: number,
  count: CountBytes,
): Steps<ListPage> {
  // One id more than the page has is selected, which shows whether there is a next page.
  const max = limit === undefined ? undefined : from + limit + 1;
  const ids = yield* sortedIds(filtered.state, kind, selectEntities(filtered, kind), sort, count, max);
  const hasMore = limit !== undefined && ids.length > from + limit;
  if (hasMore) ids.pop();
  return { items: entitiesOf(filtered, kind, ids, from), nextAfter: hasMore ? from + limit : undefined };
}

/** Number of rows that are kept beyond twice `max`, so that a small page does not sort after every few rows. */
const SPARE_ROWS = 512;

/** Memory of a row with a few keys, besides the texts of its keys. The text of the id belongs to the page. */
const ROW_BYTES = 100;
const POINTER_BYTES = 8;

/**
 * The rows to sort, stored by column. An object for each row would be garbage that survives several collections, and
 * collecting it delays all requests.
 */
class Rows {
  readonly #kind: Kind;
  readonly #sort: readonly SortKey[];
  #ids: string[] = [];
  #columns: Scalar[][];
  /** Length of the texts of the longest row. */
  longest = 0;

  constructor(kind: Kind, sort: readonly SortKey[]) {
    this.#kind = kind;
    this.#sort = sort;
    this.#columns = sort.map(() => []);
  }

  get length(): number {
    return this.#ids.length;
  }

  id(row: number): string {
    return this.#ids[row] ?? "";
  }

  /** Adds a row and returns the number of bytes that it needs. */
  add({ id, text }: EncodedValue, names: DeviceNames): number {
    let entity: Entity | undefined;
    let length = 0;
    for (let i = 0; i < this.#columns.length; i++) {
      const field = this.#sort[i]?.field ?? "id";
      // The text of the id is shared with the page.
      let key: Scalar | undefined = field === "id" ? id : readText(this.#kind, text, field);
      if (key === undefined) {
        entity ??= parseStored(this.#kind, text);
        key = sortKeyOf(entity, field, names);
      }
      this.#columns[i]?.push(key);
      if (typeof key === "string" && key !== id) length += key.length;
    }
    this.#ids.push(id);
    this.longest = Math.max(this.longest, length);
    return ROW_BYTES + length;
  }

  removeLast(): void {
    this.#ids.pop();
    for (const column of this.#columns) column.pop();
  }

  /** The numbers of the rows, in order. */
  *order(): PausingSteps<number[]> {
    const rows: number[] = [];
    const pause = new Pause();
    for (const row of this.#ids.keys()) {
      if (pause.due(COST.item)) yield;
      rows.push(row);
    }
    return yield* sortInSteps(rows, (a, b) => this.compare(a, b), this.longest);
  }

  /** Keeps only these rows, in this order. */
  keep(rows: readonly number[]): void {
    this.#ids = rows.map((row) => this.id(row));
    this.#columns = this.#columns.map((column) => rows.map((row) => column[row] ?? ""));
  }

  compare(a: number, b: number): number {
    for (let i = 0; i < this.#columns.length; i++) {
      const column = this.#columns[i];
      const left = column?.[a] ?? "";
      const right = column?.[b] ?? "";
      if (left !== right) return left < right === this.#sort[i]?.descending ? 1 : -1;
    }
    return this.id(a) < this.id(b) ? -1 : 1;
  }
}

/** The ids in order; at most the first `max`. `state` has the names of the devices at ends and locations. */
function* sortedIds(
  state: Pick<NetworkState, "get">,
  kind: Kind,
  items: Paced<EncodedValue>,
  sort: readonly SortKey[],
  count: CountBytes,
  max = Number.POSITIVE_INFINITY,
): Steps<string[]> {
  const names = new DeviceNames(state, count);
  const rows = new Rows(kind, sort);
  let counted = 0;
  /** Whether the first `max` rows are in order, and a row after the last of them cannot be in the result. */
  let isFull = false;
  const pause = new Pause();
  for (const item of items) {
    if (item === undefined) {
      yield;
      continue;
    }
    const size = rows.add(item, names);
    if (isFull && rows.compare(rows.length - 1, max - 1) > 0) rows.removeLast();
    else {
      counted += size;
      count(size);
    }
    if (rows.length >= 2 * max + SPARE_ROWS) {
      const before = rows.length;
      rows.keep((yield* rows.order()).slice(0, max));
      const dropped = counted * (1 - rows.length / before);
      counted -= dropped;
      count(-dropped);
      isFull = true;
    }
    if (pause.due(COST.entity, item.text.length)) yield;
  }
  names.release();
  const ids: string[] = [];
  for (const row of yield* rows.order()) {
    if (pause.due(COST.item)) yield;
    if (ids.length < max) ids.push(rows.id(row));
  }
  // The rows are free again; the list of ids stays until the response is sent.
  count(ids.length * POINTER_BYTES - counted);
  return ids;
}

/**
 * Reads a text field that every entity has, which is much faster than parsing the entity. Returns undefined where only a
 * parser finds the value: quotes in a string are escaped, but a nested object or a key that ends in the name may look the
 * same.
 */
function readText(kind: Kind, json: string, field: string): string | undefined {
  if (!REQUIRED_TEXTS[kind].includes(field)) return undefined;
  const name = `"${field}":`;
  const at = json.indexOf(name);
  if (at < 0 || json.indexOf(name, at + 1) >= 0) return undefined;
  const start = at + name.length;
  const value = json.slice(start, json.indexOf('"', start + 1) + 1);
  // A backslash may escape the last quote. The value is parsed, because a slice keeps the whole text in memory.
  return value.includes("\\") ? undefined : JSON.parse(value);
}

/** The value by which an entity is sorted; the empty text where the entity does not have it. */
function sortKeyOf(entity: Entity, field: string, names: DeviceNames): Scalar {
  if (field.startsWith(ANNOTATION_PREFIX)) {
    const key = field.slice(ANNOTATION_PREFIX.length);
    const { annotations = {} } = entity;
    return Object.hasOwn(annotations, key) ? (annotations[key] ?? "") : "";
  }
  if ((field === "src" || field === "dst") && "src" in entity)
    return pointKey(names, entity[field].device, entity[field].port);
  if (field === "location" && "location" in entity)
    return pointKey(names, entity.location.elementId, entity.location.port);
  return scalarOf(entity, field);
}

/**
 * Sorts by the name of the device, by its id where two devices have the same name, then by port number: 2 before 10. NUL,
 * which no id contains, sorts before every character.
 */
const pointKey = (names: DeviceNames, device: string, port: string): string =>
  `${names.of(device)}\u0000${device}\u0000${port.padStart(PORT_DIGITS, "0")}`;
const PORT_DIGITS = 10;

/** The entities with these ids, from the one at `from`. */
function* entitiesOf(
  filtered: FilteredState,
  kind: Kind,
  ids: readonly string[],
  from: number,
): Generator<EncodedValue | undefined, void, void> {
  const pause = new Pause();
  for (let at = from; at < ids.length; at++) {
    const id = ids[at] ?? "";
    const text = getEntity(filtered, kind, id);
    if (text !== undefined) yield new EncodedValue(id, text);
    if (pause.due(COST.entity, text?.length)) yield undefined;
  }
}
