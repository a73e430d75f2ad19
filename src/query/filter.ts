/**
 * Filters: each a test of one value, and two hints of how to find what passes without looking at everything: ranges
 * of ids or of an index, and pieces of JSON that a value must contain to have a chance (so that a scan can search bytes
 * and parse only what may match). Hints may let too much through, never too little; the test decides, unless the ranges
 * are said to be exact: then what they hold passes, and need not even be parsed.
 */

import { badParameter, quoted } from "../api/problem.ts";
import { canonicalIp, ipKey, ipKeyRange } from "../model/address.ts";
import type { Entities, Host, Link } from "../model/entity.ts";
import { type Kind, portId } from "../model/ids.ts";
import { pair, pairRange } from "../view/indexes.ts";
import { parseStored } from "../view/view.ts";
import type { FieldRule, Scalar } from "./fields.ts";
import type { RawParameter } from "../api/query-string.ts";

export type Value = Entities[Kind];
export type Range = readonly [from: string, to: string];

export interface Filter {
  test(value: Value): boolean;
  /** These ranges of these indexes together hold everything that passes; an index the kind has not is passed over. */
  readonly indexed?: readonly Indexed[] | undefined;
  /** Ranges of ids that hold everything that passes. */
  readonly ids?: readonly Range[] | undefined;
  /** Whether the ranges hold nothing else. */
  readonly exact?: boolean;
  /** Whatever passes contains one of these texts. */
  readonly needles?: readonly string[];
  /** Whatever passes contains this, in upper or lower case; itself lower case, and the same in JSON as it is. */
  readonly anyCase?: string;
}

export interface Indexed {
  readonly name: string;
  readonly ranges: readonly Range[];
}

/** Whether a value as it is kept passes all filters. What cannot is not even parsed. */
export function passes(kind: Kind, text: string, filters: readonly Filter[]): boolean {
  for (const { needles } of filters) {
    if (needles && !needles.some((needle) => text.includes(needle))) return false;
  }
  const value = parseStored(kind, text);
  return filters.every((filter) => filter.test(value));
}

/** Whether something with this id has a chance to pass. */
export const mayPass = (id: string, filters: readonly Filter[]): boolean =>
  filters.every(({ ids }) => !ids || inRanges(id, ids));

/** Scalars that have an index of the same name. */
const INDEXED: Readonly<Record<Kind, readonly string[]>> = {
  devices: ["type", "available"],
  ports: [],
  links: ["state"],
  hosts: [],
};

export function scalarFilter(kind: Kind, name: string, rule: FieldRule, { values }: RawParameter): Filter {
  const wanted: Scalar[] = [];
  for (const text of values) wanted.push(wantedValue(name, rule, text));
  return new ScalarFilter(kind, name, wanted);
}

class ScalarFilter implements Filter {
  readonly #name: string;
  readonly #wanted: readonly Scalar[];
  #needles: readonly string[] | undefined;
  readonly ids: readonly Range[] | undefined;
  readonly indexed: readonly Indexed[] | undefined;
  readonly exact: boolean;

  constructor(kind: Kind, name: string, wanted: readonly Scalar[]) {
    this.#name = name;
    this.#wanted = wanted;
    this.ids = idRanges(kind, name, wanted);
    this.indexed = INDEXED[kind].includes(name) ? [{ name, ranges: wanted.map(exactly) }] : undefined;
    // A device's id may have slashes, so that among the ids that begin with it may be ports of another.
    this.exact = name !== "element";
  }

  test(value: Value): boolean {
    return this.#wanted.includes(fieldOf(value, this.#name));
  }

  get needles(): readonly string[] {
    this.#needles ??= this.#wanted.map((one) => `${JSON.stringify(this.#name)}:${JSON.stringify(one)}`);
    return this.#needles;
  }
}

function idRanges(kind: Kind, name: string, wanted: readonly Scalar[]): readonly Range[] | undefined {
  if (name === "id") return wanted.map(exactly);
  const isPrefix = (name === "mac" && kind === "hosts") || (name === "element" && kind === "ports");
  return isPrefix ? wanted.map((one) => [`${one}/`, `${one}/\uffff`]) : undefined;
}

function exactly(one: Scalar): Range {
  const key = String(one);
  return [key, key];
}

function wantedValue(name: string, rule: FieldRule, text: string): Scalar {
  const value = rule.parse(text);
  if (value === undefined) throw badParameter(name, `is ${quoted(text)}; it must be ${rule.expects}.`);
  return value;
}

export function annotationFilter(key: string, parameter: RawParameter): Filter {
  const wanted = new Set(parameter.values);
  return {
    test: ({ annotations }) =>
      wanted.has(annotations && Object.hasOwn(annotations, key) ? (annotations[key] ?? "") : ""),
    // An annotation that is not there equals the empty text, which no search of bytes can find.
    ...(wanted.has("")
      ? {}
      : { needles: parameter.values.map((one) => `${JSON.stringify(key)}:${JSON.stringify(one)}`) }),
  };
}

export function sourceFilter(parameter: RawParameter): Filter {
  return {
    test: (value) => parameter.values.some((name) => value.sources.includes(name)),
    indexed: [{ name: "source", ranges: parameter.values.map(exactly) }],
    exact: true,
  };
}

/** A substring of any string anywhere in the value, keys aside. */
export function textFilter(parameter: RawParameter): Filter {
  const wanted = parameter.value.toLowerCase();
  if (wanted === "") throw badParameter("q", "is empty; give some text to look for.");
  return { test: (value) => holdsText(value, wanted), ...(PLAIN.test(wanted) && { anyCase: wanted }) };
}

/** Printable ASCII that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]+$/;

function holdsText(value: unknown, wanted: string): boolean {
  if (typeof value === "string") return value.toLowerCase().includes(wanted);
  if (value === null || typeof value !== "object") return false;
  return Object.values(value).some((inner) => holdsText(inner, wanted));
}

export function ipFilter({ values }: RawParameter): Filter {
  return new IpFilter(values.map(ipRange));
}

class IpFilter implements Filter {
  readonly #ranges: readonly Range[];
  readonly indexed: readonly Indexed[];
  readonly exact = true;

  constructor(ranges: readonly Range[]) {
    this.#ranges = ranges;
    this.indexed = [{ name: "ip", ranges }];
  }

  /** Keys of the two families begin differently, so none is within a range of the other. */
  test(value: Value): boolean {
    return isHost(value) && value.ipAddresses.some((ip) => inRanges(ipKey(ip), this.#ranges));
  }
}

function ipRange(text: string): Range {
  const address = canonicalIp(text);
  if (address !== undefined) return exactly(ipKey(address));
  const range = ipKeyRange(text);
  if (range) return [range.from, range.to];
  throw badParameter(
    "ip",
    `is ${quoted(text)}; it must be an address or a block such as 10.0.0.1, 10.0.0.0/24 or 2001:db8::/32.`,
  );
}

const inRanges = (key: string, ranges: readonly Range[]): boolean =>
  ranges.some(([from, to]) => key >= from && key <= to);

/** Hosts located at a device, or at one of its ports. */
export function locationFilter(devices: readonly string[], ports: readonly string[] | undefined): Filter {
  return {
    test: (value) =>
      isHost(value) &&
      value.locations.some((at) => devices.includes(at.elementId) && (!ports || ports.includes(at.port))),
    indexed: [{ name: "location", ranges: endRanges(devices, ports) }],
    exact: true,
  };
}

/** Links with a device, or one of its ports, at the given ends. */
export function endFilter(
  ends: readonly ("src" | "dst")[],
  devices: readonly string[],
  ports: readonly string[] | undefined,
): Filter {
  const ranges = endRanges(devices, ports);
  let needles: string[] | undefined;
  return {
    test: (value) =>
      isLink(value) &&
      ends.some((one) => devices.includes(value[one].device) && (!ports || ports.includes(value[one].port))),
    indexed: ends.map((name) => ({ name, ranges })),
    exact: true,
    get needles() {
      needles ??= devices.map((id) => `"device":${JSON.stringify(id)}`);
      return needles;
    },
  };
}

const endRanges = (devices: readonly string[], ports: readonly string[] | undefined): Range[] =>
  devices.flatMap((id) =>
    ports ? ports.map((port): Range => [pair(id, port), pair(id, port)]) : [pairRange(id)],
  );

/** Sets up to this size are looked for in the bytes of pages that have no index. */
const MAX_NEEDLES = 32;

/** What of a kind lies within a set of devices: they, their ports, the links between them, the hosts on them. */
export function withinFilter(kind: Kind, devices: ReadonlySet<string>): Filter {
  const ids = [...devices];
  const needles = (field: string) =>
    ids.length <= MAX_NEEDLES && { needles: ids.map((id) => `"${field}":${JSON.stringify(id)}`) };
  switch (kind) {
    case "devices":
      return { test: (value) => "id" in value && devices.has(value.id), ids: ids.map((id) => [id, id]) };
    case "ports":
      return {
        test: (value) => "element" in value && devices.has(value.element),
        ids: ids.map((id) => [portId(id, ""), portId(id, "\uffff")]),
      };
    case "links":
      return {
        test: (value) => isLink(value) && devices.has(value.src.device) && devices.has(value.dst.device),
        indexed: [{ name: "src", ranges: ids.map((id) => pairRange(id)) }],
        ...needles("device"),
      };
    case "hosts":
      return {
        test: (value) => isHost(value) && value.locations.some((at) => devices.has(at.elementId)),
        indexed: [{ name: "location", ranges: ids.map((id) => pairRange(id)) }],
        ...needles("elementId"),
      };
  }
}

const isHost = (value: Value): value is Host => "locations" in value;
const isLink = (value: Value): value is Link => "src" in value;

/** A scalar field's value; the empty text stands for what has none. */
export function fieldOf(value: Value, name: string): Scalar {
  const row: Readonly<Record<string, unknown>> = value;
  const found = row[name];
  return typeof found === "string" || typeof found === "number" || typeof found === "boolean" ? found : "";
}
