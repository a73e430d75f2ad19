/**
 * Filters. A filter decides whether an entity matches, and may have hints that find matches without a full scan: ids,
 * ranges of an index, and substrings that the JSON of every match contains. A hint may include entities that do not match,
 * but never misses one that does; `matches` decides. Only if `exact` is set do ids and ranges contain nothing but matches,
 * and then `matches` need not run. Ids of devices match in any spelling: filters compare keys (`idKey`). Aliases and names
 * are resolved before (`bound-filters.ts`).
 */

import { canonicalIp, canonicalMac, ipKey, ipKeyRange } from "../model/address.ts";
import { hasConflict } from "../model/conflict.ts";
import type { DriftState, Entities, Host, Link } from "../model/entity.ts";
import { deviceKey, hasOneSpelling, idKey, type Kind } from "../model/ids.ts";
import { devicesNamedIn, type ResolveDevice, resolvedIds } from "../view/device-lookup.ts";
import { parseStored } from "../view/view.ts";
import type { Scalar } from "./fields.ts";

export type Entity = Entities[Kind];
/** A range of keys that includes both ends. */
export type KeyRange = readonly [from: string, to: string];

export interface Filter {
  matches(entity: Entity): boolean;
  /** Ranges that together contain every match. An index that the kind does not have is skipped. */
  readonly indexRanges?: readonly IndexRanges[] | undefined;
  /** Hint that covers the id of every match. */
  readonly ids?: IdHint | undefined;
  /** Whether ids and ranges contain nothing but matches. */
  readonly exact?: boolean;
  /** Texts of which the JSON of every match contains at least one. */
  readonly substrings?: readonly string[] | undefined;
  /** Text that the JSON of every match contains in upper or lower case. It is given in lower case and has no JSON escapes. */
  readonly substringAnyCase?: string;
  /** The devices that the filter names, if it names any. */
  readonly devices?: NamedDevices | undefined;
}

export interface NamedDevices {
  /** The names as the query has them. */
  names(): readonly string[];
  /** Returns the filter in which each name is replaced by the device that it means. */
  resolve(resolve: ResolveDevice): Filter;
}

export interface IdHint {
  /** `keys`: the values are ids. `owners`: the ids begin with one of the values and a slash, like those of a device's ports. */
  readonly by: "keys" | "owners";
  /** The values in the form of `idKey`. */
  readonly values: readonly string[];
}

export interface IndexRanges {
  /** The name of the index. */
  readonly index: string;
  readonly ranges: readonly KeyRange[];
}

/** Whether an entity, given as stored JSON, matches all filters. It is parsed only when it contains the substrings. */
export function matchesAll(kind: Kind, json: string, filters: readonly Filter[]): boolean {
  if (filters.length === 0) return true;
  for (const { substrings } of filters) {
    if (substrings && !substrings.some((substring) => json.includes(substring))) return false;
  }
  const entity = parseStored(kind, json);
  return filters.every((filter) => filter.matches(entity));
}

/** Returns false when no entity with this id can match. */
export function idCanMatch(kind: Kind, id: string, filters: readonly Filter[]): boolean {
  for (const { ids } of filters) {
    if (!ids) continue;
    const key = idKey(kind, id);
    const canMatch =
      ids.by === "keys" ? ids.values.includes(key) : ids.values.some((owner) => key.startsWith(`${owner}/`));
    if (!canMatch) return false;
  }
  return true;
}

/** The scalar fields that have an index of the same name. */
const INDEXED_FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  devices: ["type", "available"],
  ports: [],
  links: ["state"],
  hosts: [],
};

/** Matches entities whose field equals one of the values. */
export class ScalarFilter implements Filter {
  readonly #kind: Kind;
  readonly #field: string;
  readonly #values: readonly Scalar[];
  #substrings: readonly string[] | undefined;
  readonly #isId: boolean;
  readonly ids: IdHint | undefined;
  readonly indexRanges: readonly IndexRanges[] | undefined;
  readonly exact: boolean;
  readonly devices: NamedDevices | undefined;

  constructor(kind: Kind, field: string, values: readonly Scalar[]) {
    this.#kind = kind;
    this.#field = field;
    this.#isId = isDeviceIdField(kind, field);
    this.#values = this.#isId ? values.map((value) => deviceKey(String(value))) : values;
    this.ids = idHintOf(kind, field, this.#values);
    this.indexRanges = INDEXED_FIELDS[kind].includes(field)
      ? [{ index: field, ranges: values.map(exactRange) }]
      : undefined;
    // A device id may contain slashes, so ids that begin with one owner may be those of another device's ports.
    this.exact = field !== "element";
    this.devices = this.#isId ? namedInIds(kind, field, this.#values.map(String)) : undefined;
  }

  matches(entity: Entity): boolean {
    const value = scalarOf(entity, this.#field);
    return this.#values.includes(this.#isId ? deviceKey(String(value)) : value);
  }

  /** Computed on first use, because most scalar filters use an index and not a scan. */
  get substrings(): readonly string[] | undefined {
    if (this.#isId && !this.#values.every((value) => hasOneSpelling(this.#kind, String(value))))
      return undefined;
    this.#substrings ??= this.#values.map((value) => memberText(this.#field, value));
    return this.#substrings;
  }
}

function namedInIds(kind: Kind, field: string, ids: readonly string[]): NamedDevices {
  const named = field === "element" ? "devices" : kind;
  return {
    names: () => (named === "devices" ? ids : ids.flatMap((id) => devicesNamedIn(named, id))),
    resolve: (resolve) =>
      new ScalarFilter(
        kind,
        field,
        ids.flatMap((id) => [id, ...resolvedIds(named, id, resolve)]),
      ),
  };
}

/** A member of an object as it is in stored JSON, which has no white space. */
const memberText = (name: string, value: Scalar): string =>
  `${JSON.stringify(name)}:${JSON.stringify(value)}`;

/** Whether the field is, or contains, an id of a device, which matches in any spelling. */
export const isDeviceIdField = (kind: Kind, field: string): boolean =>
  (field === "id" && kind !== "hosts") || field === "element";

function idHintOf(kind: Kind, field: string, values: readonly Scalar[]): IdHint | undefined {
  if (field === "id") return { by: "keys", values: values.map(String) };
  const isOwner = (field === "mac" && kind === "hosts") || (field === "element" && kind === "ports");
  return isOwner ? { by: "owners", values: values.map(String) } : undefined;
}

export function exactRange(value: Scalar): KeyRange {
  const key = String(value);
  return [key, key];
}

/** The annotation that has an index of the same name, for the kinds that have that index. */
const INDEXED_ANNOTATION = "name";

/** Matches entities whose annotation equals one of the values. An absent annotation equals the empty text. */
export function annotationFilter(key: string, values: readonly string[]): Filter {
  const wanted = new Set(values);
  const matches = ({ annotations }: Entity): boolean =>
    wanted.has(annotations && Object.hasOwn(annotations, key) ? (annotations[key] ?? "") : "");
  // No hint finds an entity without the annotation: it is in no index, and its JSON contains no substring to search for.
  if (wanted.has("")) return { matches };
  return {
    matches,
    substrings: values.map((value) => memberText(key, value)),
    ...(key === INDEXED_ANNOTATION && {
      indexRanges: [{ index: INDEXED_ANNOTATION, ranges: values.map(exactRange) }],
      exact: true,
    }),
  };
}

export function sourceFilter(names: readonly string[]): Filter {
  return {
    matches: (entity) => names.some((name) => entity.sources.includes(name)),
    indexRanges: [{ index: "source", ranges: names.map(exactRange) }],
    exact: true,
  };
}

/** Matches entities that are flagged with contradictory reports, or those that are not. */
export const conflictFilter = (wanted: boolean): Filter => ({
  matches: (entity) => hasConflict(entity) === wanted,
  ...(wanted && { substrings: ['"conflict":'], indexRanges: flaggedIn("conflict"), exact: true }),
});

/** Matches links of which the other direction is not known. */
export const ONE_SIDED: Filter = {
  matches: (entity) => isLink(entity) && !entity.bidirectional,
  substrings: ['"bidirectional":false'],
  indexRanges: flaggedIn("oneSided"),
  exact: true,
};

/** The range of an index that holds only entities with a flag. */
function flaggedIn(index: string): readonly IndexRanges[] {
  return [{ index, ranges: [exactRange(true)] }];
}

export function driftFilter(states: readonly DriftState[]): Filter {
  return {
    matches: ({ drift }) => drift !== undefined && states.includes(drift.state),
    indexRanges: [{ index: "drift", ranges: states.map(exactRange) }],
    exact: true,
    substrings: DRIFT_MEMBER,
  };
}
const DRIFT_MEMBER: readonly string[] = ['"drift":{'];

/**
 * Matches an entity that contains every word as a substring of a string value, ignoring case. Keys are not searched. As in
 * the search, a MAC address matches in any spelling, and an address or a block matches the addresses that it contains.
 */
export function textFilter(text: string): Filter {
  const words = text.toLowerCase().match(/\S+/g) ?? [text];
  const trimmed = text.trim();
  const canonical = canonicalMac(trimmed)?.toLowerCase();
  // A MAC address in this spelling, and an IPv4 address, which has only one, are found as words.
  const mac = canonical === trimmed.toLowerCase() ? undefined : canonical;
  const isIPv4 = !trimmed.includes(":") && canonicalIp(trimmed) !== undefined;
  const range = isIPv4 ? undefined : ipKeyRange(trimmed);
  const hasWords = (entity: Entity) =>
    words.every((word) => hasValue(entity, (value) => value.includes(word)));
  const [longest = ""] = words.toSorted((a, b) => b.length - a.length);
  // Only words are substrings of every match: an address of a block may have another text.
  if (mac === undefined && !range)
    return { matches: hasWords, ...(UNESCAPED_ASCII.test(longest) && { substringAnyCase: longest }) };
  const isAddress = (value: string) =>
    (mac !== undefined && value.includes(mac)) || (range !== undefined && isAddressIn(value, range));
  return { matches: (entity) => hasWords(entity) || hasValue(entity, isAddress) };
}

function isAddressIn(value: string, { from, to }: { readonly from: string; readonly to: string }): boolean {
  const address = canonicalIp(value);
  return address !== undefined && isInRanges(ipKey(address), [[from, to]]);
}

/** Printable ASCII that JSON does not escape. */
const UNESCAPED_ASCII = /^[ !#-[\]-~]+$/;

/** Whether a string in the value, in lower case, passes the test. */
function hasValue(value: unknown, test: (lowerCase: string) => boolean): boolean {
  if (typeof value === "string") return test(value.toLowerCase());
  if (value === null || typeof value !== "object") return false;
  return Object.values(value).some((inner) => hasValue(inner, test));
}

/** Matches hosts with an address in one of the ranges of `ipKey`. */
export function ipFilter(ranges: readonly KeyRange[]): Filter {
  // Keys of IPv4 and IPv6 begin differently, so a range never contains an address of the other family.
  const matches = (entity: Entity) =>
    isHost(entity) && entity.ipAddresses.some((ip) => isInRanges(ipKey(ip), ranges));
  return { matches, indexRanges: [{ index: "ip", ranges }], exact: true };
}

const isInRanges = (key: string, ranges: readonly KeyRange[]): boolean =>
  ranges.some(([from, to]) => key >= from && key <= to);

/** Matches hosts located at one of the devices and, if ports are given, at one of the ports. */
export function locationFilter(devices: readonly string[], ports: readonly string[] | undefined): Filter {
  const keys = devices.map(deviceKey);
  return {
    matches: (entity) =>
      isHost(entity) &&
      entity.locations.some(
        (location) =>
          keys.includes(deviceKey(location.elementId)) && (!ports || ports.includes(location.port)),
      ),
    indexRanges: [{ index: "location", ranges: keys.map(exactRange) }],
    exact: !ports,
    substrings:
      ports && ports.length <= MAX_SUBSTRINGS ? ports.map((port) => memberText("port", port)) : undefined,
    devices: {
      names: () => devices,
      resolve: (resolve) => locationFilter(devices.map(resolve), ports),
    },
  };
}

/** Matches links with one of the devices and, if ports are given, one of the ports at one of the ends. */
export function linkEndFilter(
  ends: readonly ("src" | "dst")[],
  devices: readonly string[],
  ports: readonly string[] | undefined,
): Filter {
  const keys = devices.map(deviceKey);
  const ranges = keys.map(exactRange);
  let substrings: string[] | undefined;
  return {
    matches: (entity) =>
      isLink(entity) &&
      ends.some(
        (end) => keys.includes(deviceKey(entity[end].device)) && (!ports || ports.includes(entity[end].port)),
      ),
    indexRanges: ends.map((index) => ({ index, ranges })),
    exact: !ports,
    get substrings() {
      if (!keys.every((key) => hasOneSpelling("devices", key))) return undefined;
      substrings ??= keys.map((id) => memberText("device", id));
      return substrings;
    },
    devices: {
      names: () => devices,
      resolve: (resolve) => linkEndFilter(ends, devices.map(resolve), ports),
    },
  };
}

/** Searching a page for more substrings than this costs more than parsing its entities. */
const MAX_SUBSTRINGS = 32;
/** Number of devices above which a scan, which pauses, costs less than preparing and looking up the hints. */
const MAX_HINTED_DEVICES = 512;

/** Matches the given devices, their ports, the links between them and the hosts located at them. */
export function neighbourhoodFilter(kind: Kind, devices: ReadonlySet<string>): Filter {
  const isHinted = devices.size <= MAX_HINTED_DEVICES;
  const ids = isHinted ? [...devices] : [];
  const substrings = (field: string) =>
    devices.size <= MAX_SUBSTRINGS && { substrings: ids.map((id) => memberText(field, id)) };
  switch (kind) {
    case "devices":
      return {
        matches: (entity) => "id" in entity && devices.has(entity.id),
        ...(isHinted && { ids: { by: "keys", values: ids.map(deviceKey) } }),
      };
    case "ports":
      return {
        matches: (entity) => "element" in entity && devices.has(entity.element),
        ...(isHinted && { ids: { by: "owners", values: ids.map(deviceKey) } }),
      };
    case "links":
      return {
        matches: (entity) =>
          isLink(entity) && devices.has(entity.src.device) && devices.has(entity.dst.device),
        ...(isHinted && {
          indexRanges: [{ index: "src", ranges: ids.map((id) => exactRange(deviceKey(id))) }],
        }),
        ...substrings("device"),
      };
    case "hosts":
      return {
        matches: (entity) =>
          isHost(entity) && entity.locations.some((location) => devices.has(location.elementId)),
        ...(isHinted && {
          indexRanges: [{ index: "location", ranges: ids.map((id) => exactRange(deviceKey(id))) }],
        }),
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
