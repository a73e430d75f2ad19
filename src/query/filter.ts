/**
 * Filters. Each decides whether an entity matches, and may carry hints that find matches without a full scan: ranges of
 * ids, ranges of an index, and substrings that the JSON of every match contains. A hint may admit too much, never too
 * little; `matches` decides. Only where `exact` is set do the ranges hold matches and nothing else, and then `matches`
 * need not run.
 */

import { ipKey } from "../model/address.ts";
import type { Entities, Host, Link } from "../model/entity.ts";
import { type Kind, portId } from "../model/ids.ts";
import { compositeKey, compositeKeyRange } from "../view/indexes.ts";
import { parseStored } from "../view/view.ts";
import type { Scalar } from "./fields.ts";

export type Entity = Entities[Kind];
/** Both ends belong to the range. */
export type KeyRange = readonly [from: string, to: string];

export interface Filter {
  matches(entity: Entity): boolean;
  /** Together these ranges hold every match. An index that the kind does not have is skipped. */
  readonly indexRanges?: readonly IndexRanges[] | undefined;
  /** Together these ranges hold the id of every match. */
  readonly idRanges?: readonly KeyRange[] | undefined;
  /** Whether the ranges hold nothing but matches. */
  readonly exact?: boolean;
  /** The JSON of every match contains at least one of these. */
  readonly substrings?: readonly string[];
  /** The JSON of every match contains this in upper or lower case. Given in lower case and free of JSON escapes. */
  readonly substringAnyCase?: string;
}

export interface IndexRanges {
  /** The name of the index. */
  readonly index: string;
  readonly ranges: readonly KeyRange[];
}

/** Whether an entity, given as stored JSON, matches all filters. Parses it only when the substrings are there. */
export function matchesAll(kind: Kind, json: string, filters: readonly Filter[]): boolean {
  for (const { substrings } of filters) {
    if (substrings && !substrings.some((substring) => json.includes(substring))) return false;
  }
  const entity = parseStored(kind, json);
  return filters.every((filter) => filter.matches(entity));
}

/** False when no entity with this id can match. */
export const idCanMatch = (id: string, filters: readonly Filter[]): boolean =>
  filters.every(({ idRanges }) => !idRanges || isInRanges(id, idRanges));

/** Scalar fields that have an index of the same name. */
const INDEXED_FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  devices: ["type", "available"],
  ports: [],
  links: ["state"],
  hosts: [],
};

/** Matches entities whose field equals one of the values. */
export class ScalarFilter implements Filter {
  readonly #field: string;
  readonly #values: readonly Scalar[];
  #substrings: readonly string[] | undefined;
  readonly idRanges: readonly KeyRange[] | undefined;
  readonly indexRanges: readonly IndexRanges[] | undefined;
  readonly exact: boolean;

  constructor(kind: Kind, field: string, values: readonly Scalar[]) {
    this.#field = field;
    this.#values = values;
    this.idRanges = idRangesOf(kind, field, values);
    this.indexRanges = INDEXED_FIELDS[kind].includes(field)
      ? [{ index: field, ranges: values.map(exactRange) }]
      : undefined;
    // A device id may contain slashes, so the range of `element` may hold ports of another device.
    this.exact = field !== "element";
  }

  matches(entity: Entity): boolean {
    return this.#values.includes(scalarOf(entity, this.#field));
  }

  /** Computed when a scan needs it: most scalar filters use an index instead. */
  get substrings(): readonly string[] {
    this.#substrings ??= this.#values.map((value) => memberText(this.#field, value));
    return this.#substrings;
  }
}

/** A member of an object as it stands in stored JSON, which has no white space. */
const memberText = (name: string, value: Scalar): string =>
  `${JSON.stringify(name)}:${JSON.stringify(value)}`;

function idRangesOf(kind: Kind, field: string, values: readonly Scalar[]): readonly KeyRange[] | undefined {
  if (field === "id") return values.map(exactRange);
  const isIdPrefix = (field === "mac" && kind === "hosts") || (field === "element" && kind === "ports");
  return isIdPrefix ? values.map((value) => [`${value}/`, `${value}/\uffff`]) : undefined;
}

export function exactRange(value: Scalar): KeyRange {
  const key = String(value);
  return [key, key];
}

/** A missing annotation equals the empty text. */
export function annotationFilter(key: string, values: readonly string[]): Filter {
  const wanted = new Set(values);
  return {
    matches: ({ annotations }) =>
      wanted.has(annotations && Object.hasOwn(annotations, key) ? (annotations[key] ?? "") : ""),
    // The JSON of an entity without the annotation contains no substring to search for.
    ...(wanted.has("") ? {} : { substrings: values.map((value) => memberText(key, value)) }),
  };
}

export function sourceFilter(names: readonly string[]): Filter {
  return {
    matches: (entity) => names.some((name) => entity.sources.includes(name)),
    indexRanges: [{ index: "source", ranges: names.map(exactRange) }],
    exact: true,
  };
}

/** Matches a substring of any string in the entity, keys aside, in upper or lower case. */
export function textFilter(text: string): Filter {
  const lowerCase = text.toLowerCase();
  return {
    matches: (entity) => containsText(entity, lowerCase),
    ...(UNESCAPED_ASCII.test(lowerCase) && { substringAnyCase: lowerCase }),
  };
}

/** Printable ASCII that JSON does not escape. */
const UNESCAPED_ASCII = /^[ !#-[\]-~]+$/;

function containsText(value: unknown, lowerCase: string): boolean {
  if (typeof value === "string") return value.toLowerCase().includes(lowerCase);
  if (value === null || typeof value !== "object") return false;
  return Object.values(value).some((inner) => containsText(inner, lowerCase));
}

/** Matches hosts with an address in one of the ranges of `ipKey`. */
export class IpFilter implements Filter {
  readonly #ranges: readonly KeyRange[];
  readonly indexRanges: readonly IndexRanges[];
  readonly exact = true;

  constructor(ranges: readonly KeyRange[]) {
    this.#ranges = ranges;
    this.indexRanges = [{ index: "ip", ranges }];
  }

  /** Keys of IPv4 and IPv6 begin differently, so a range never holds an address of the other family. */
  matches(entity: Entity): boolean {
    return isHost(entity) && entity.ipAddresses.some((ip) => isInRanges(ipKey(ip), this.#ranges));
  }
}

const isInRanges = (key: string, ranges: readonly KeyRange[]): boolean =>
  ranges.some(([from, to]) => key >= from && key <= to);

/** Matches hosts located at one of the devices, and at one of the ports where ports are given. */
export function locationFilter(devices: readonly string[], ports: readonly string[] | undefined): Filter {
  return {
    matches: (entity) =>
      isHost(entity) &&
      entity.locations.some(
        (location) => devices.includes(location.elementId) && (!ports || ports.includes(location.port)),
      ),
    indexRanges: [{ index: "location", ranges: portRanges(devices, ports) }],
    exact: true,
  };
}

/** Matches links with one of the devices, and one of the ports where ports are given, at one of the ends. */
export function linkEndFilter(
  ends: readonly ("src" | "dst")[],
  devices: readonly string[],
  ports: readonly string[] | undefined,
): Filter {
  const ranges = portRanges(devices, ports);
  let substrings: string[] | undefined;
  return {
    matches: (entity) =>
      isLink(entity) &&
      ends.some(
        (end) => devices.includes(entity[end].device) && (!ports || ports.includes(entity[end].port)),
      ),
    indexRanges: ends.map((index) => ({ index, ranges })),
    exact: true,
    get substrings() {
      substrings ??= devices.map((id) => memberText("device", id));
      return substrings;
    },
  };
}

const portRanges = (devices: readonly string[], ports: readonly string[] | undefined): KeyRange[] =>
  devices.flatMap((id) =>
    ports
      ? ports.map((port): KeyRange => [compositeKey(id, port), compositeKey(id, port)])
      : [compositeKeyRange(id)],
  );

/** Searching a page for more substrings than this costs more than parsing its entities. */
const MAX_SUBSTRINGS = 32;

/** Matches the given devices, their ports, the links between them and the hosts located at them. */
export function neighbourhoodFilter(kind: Kind, devices: ReadonlySet<string>): Filter {
  const ids = [...devices];
  const substrings = (field: string) =>
    ids.length <= MAX_SUBSTRINGS && { substrings: ids.map((id) => memberText(field, id)) };
  switch (kind) {
    case "devices":
      return {
        matches: (entity) => "id" in entity && devices.has(entity.id),
        idRanges: ids.map((id) => [id, id]),
      };
    case "ports":
      return {
        matches: (entity) => "element" in entity && devices.has(entity.element),
        idRanges: ids.map((id) => [portId(id, ""), portId(id, "\uffff")]),
      };
    case "links":
      return {
        matches: (entity) =>
          isLink(entity) && devices.has(entity.src.device) && devices.has(entity.dst.device),
        indexRanges: [{ index: "src", ranges: ids.map((id) => compositeKeyRange(id)) }],
        ...substrings("device"),
      };
    case "hosts":
      return {
        matches: (entity) =>
          isHost(entity) && entity.locations.some((location) => devices.has(location.elementId)),
        indexRanges: [{ index: "location", ranges: ids.map((id) => compositeKeyRange(id)) }],
        ...substrings("elementId"),
      };
  }
}

const isHost = (entity: Entity): entity is Host => "locations" in entity;
const isLink = (entity: Entity): entity is Link => "src" in entity;

/** The value of a scalar field; the empty text where the entity has none. */
export function scalarOf(entity: Entity, field: string): Scalar {
  const fields: Readonly<Record<string, unknown>> = entity;
  const value = fields[field];
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : "";
}
