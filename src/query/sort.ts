/**
 * Sorts selected entities by the keys of a query, then by id, in steps. Only ids and keys are kept while sorting, not the
 * texts of the entities; and where only the first `max` are needed, no more than twice as many rows. Sorting a million
 * hosts for one page of them needs the memory of two pages.
 */

import { Pace, type Paced, type Steps, sortInSteps } from "../lib/steps.ts";
import type { Kind } from "../model/ids.ts";
import type { EncodedValue } from "../view/collection.ts";
import { type NetworkState, parseStored } from "../view/view.ts";
import type { CountBytes } from "./count-bytes.ts";
import { DeviceNames } from "./device-names.ts";
import { ANNOTATION_PREFIX, type Scalar } from "./fields.ts";
import { type Entity, scalarOf } from "./filter.ts";
import type { FilteredState } from "./filtered-state.ts";
import { getEntity } from "./missing.ts";
import type { SortKey } from "./query.ts";

/** Entities that are parsed, or looked up, between two pauses. */
const ENTITIES_PER_STEP = 64;
/** Rows that are kept beyond twice `max`, so that a small page does not sort after every few rows. */
const SPARE_ROWS = 512;

/** Of a row with a few keys, besides the texts of its keys. The text of the id is that of the page. */
const ROW_BYTES = 100;
const POINTER_BYTES = 8;

interface Row {
  readonly id: string;
  readonly keys: readonly Scalar[];
}

type Compare = (a: Row, b: Row) => number;

/** The ids in order; at most the first `max`. `state` has the names of the devices at ends and places. */
export function* sortedIds(
  state: Pick<NetworkState, "get">,
  kind: Kind,
  items: Paced<EncodedValue>,
  sort: readonly SortKey[],
  count: CountBytes,
  max = Number.POSITIVE_INFINITY,
): Steps<string[]> {
  const compare = comparator(sort);
  const names = new DeviceNames(state, count);
  let rows: Row[] = [];
  let counted = 0;
  /** The last row that is still in the result, once there are `max`. */
  let last: Row | undefined;
  let longest = 0;
  const pace = new Pace(ENTITIES_PER_STEP);
  for (const item of items) {
    if (item === undefined) {
      yield;
      continue;
    }
    const entity = parseStored(kind, item.text);
    const row = { id: item.id, keys: sort.map(({ field }) => sortKeyOf(entity, field, names)) };
    if (!last || compare(row, last) < 0) {
      const size = sizeOf(row);
      rows.push(row);
      longest = Math.max(longest, size - ROW_BYTES);
      counted += size;
      count(size);
    }
    if (rows.length >= 2 * max + SPARE_ROWS) {
      const before = rows.length;
      rows = (yield* sortInSteps(rows, compare, longest)).slice(0, max);
      const dropped = counted * (1 - rows.length / before);
      counted -= dropped;
      count(-dropped);
      last = rows.at(-1);
    }
    if (pace.isDue(item.text.length)) yield;
  }
  names.release();
  const ids: string[] = [];
  for (const { id } of yield* sortInSteps(rows, compare, longest)) {
    if (ids.length === max) break;
    ids.push(id);
  }
  // The rows are free again, the list of ids stays until the response is sent.
  count(ids.length * POINTER_BYTES - counted);
  return ids;
}

/** The value that an entity is sorted by. What it does not have is the empty text. */
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
 * By the name of the device, by its id where two have the same name, then by port in order of number: 2 before 10. NUL,
 * which no id contains, is before every character.
 */
const pointKey = (names: DeviceNames, device: string, port: string): string =>
  `${names.of(device)}\u0000${device}\u0000${port.padStart(PORT_DIGITS, "0")}`;
const PORT_DIGITS = 10;

const sizeOf = ({ keys }: Row): number =>
  ROW_BYTES + keys.reduce<number>((sum, key) => sum + (typeof key === "string" ? key.length : 0), 0);

function comparator(sort: readonly SortKey[]): Compare {
  const directions = sort.map(({ descending }) => descending);
  return (a, b) => {
    for (let i = 0; i < directions.length; i++) {
      const left = a.keys[i] ?? "";
      const right = b.keys[i] ?? "";
      if (left !== right) return left < right === directions[i] ? 1 : -1;
    }
    return a.id < b.id ? -1 : 1;
  };
}

/** The entities with these ids, from the one at `from`. */
export function* entitiesOf(
  filtered: FilteredState,
  kind: Kind,
  ids: readonly string[],
  from: number,
): Generator<EncodedValue | undefined, void, void> {
  const pace = new Pace(ENTITIES_PER_STEP);
  for (let at = from; at < ids.length; at++) {
    const id = ids[at] ?? "";
    const text = getEntity(filtered, kind, id);
    if (text !== undefined) yield { id, text };
    if (pace.isDue(text?.length)) yield undefined;
  }
}
