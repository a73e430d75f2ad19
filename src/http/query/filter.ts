/**
 * Filters: each a test of one value, and two hints of how to find what passes without looking at everything: ranges
 * of an index, and pieces of JSON that a value must contain to have a chance (so that a scan can search bytes and
 * parse only what may match). Hints may let too much through, never too little; the test decides.
 */
import { ipKey, ipKeyRange } from "../../model/address.ts";
import type { Entities, Host, Link } from "../../model/entity.ts";
import { type Kind, portId } from "../../model/ids.ts";
import { pair, pairRange } from "../../view/indexes.ts";
import { badParameter, quoted } from "../problem.ts";
import type { FieldRule, Scalar } from "./fields.ts";
import type { RawParameter } from "./text.ts";

export type Value = Entities[Kind];
type Range = readonly [from: string, to: string];

export interface Filter {
  readonly test: (value: Value) => boolean;
  /** These ranges of these indexes together hold everything that passes; an index the kind has not is passed over. */
  readonly indexed?: readonly { readonly name: string; readonly ranges: readonly Range[] }[];
  /** Ranges of ids that hold everything that passes. */
  readonly ids?: readonly Range[];
  /** Whatever passes contains one of these texts. */
  readonly needles?: readonly string[];
  /** Whatever passes contains this, in upper or lower case; itself lower case, and the same in JSON as it is. */
  readonly anyCase?: string;
}

/** Scalars that have an index of the same name. */
const INDEXED: Readonly<Record<Kind, readonly string[]>> = {
  devices: ["type", "available"],
  ports: [],
  links: ["state"],
  hosts: [],
};

export function scalarFilter(kind: Kind, name: string, rule: FieldRule, parameter: RawParameter): Filter {
  const wanted = new Set<Scalar>(parameter.values.map((text) => wantedValue(name, rule, text)));
  const keys = [...wanted].map(String);
  const exact = keys.map((key) => [key, key] as const);
  return {
    test: (value) => wanted.has(fieldOf(value, name)),
    needles: [...wanted].map((one) => `${JSON.stringify(name)}:${JSON.stringify(one)}`),
    ...(INDEXED[kind].includes(name) && { indexed: [{ name, ranges: exact }] }),
    ...(name === "id" && { ids: exact }),
    ...(name === "mac" &&
      kind === "hosts" && { ids: keys.map((mac) => [`${mac}/`, `${mac}/\uffff`] as const) }),
    ...(name === "element" &&
      kind === "ports" && { ids: keys.map((id) => [`${id}/`, `${id}/\uffff`] as const) }),
  };
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
    indexed: [{ name: "source", ranges: parameter.values.map((name) => [name, name] as const) }],
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

export function ipFilter(parameter: RawParameter): Filter {
  const ranges = parameter.values.map((text): Range => {
    const range = ipKeyRange(text);
    if (!range) {
      throw badParameter(
        "ip",
        `is ${quoted(text)}; it must be an address or a block such as 10.0.0.1, 10.0.0.0/24 or 2001:db8::/32.`,
      );
    }
    return [range.from, range.to];
  });
  return {
    test: (value) => isHost(value) && value.ipAddresses.some((ip) => inRanges(ipKey(ip), ranges)),
    indexed: [{ name: "ip", ranges }],
  };
}

const inRanges = (key: string, ranges: readonly Range[]): boolean =>
  ranges.some(([from, to]) => from.length === key.length && key >= from && key <= to);

/** Hosts located at a device, or at one of its ports. */
export function locationFilter(devices: readonly string[], ports: readonly string[] | undefined): Filter {
  return {
    test: (value) =>
      isHost(value) &&
      value.locations.some((at) => devices.includes(at.elementId) && (!ports || ports.includes(at.port))),
    indexed: [{ name: "location", ranges: endRanges(devices, ports) }],
  };
}

/** Links with a device, or one of its ports, at the given ends. */
export function endFilter(
  ends: readonly ("src" | "dst")[],
  devices: readonly string[],
  ports: readonly string[] | undefined,
): Filter {
  return {
    test: (value) =>
      isLink(value) &&
      ends.some((one) => devices.includes(value[one].device) && (!ports || ports.includes(value[one].port))),
    indexed: ends.map((name) => ({ name, ranges: endRanges(devices, ports) })),
    needles: devices.map((id) => `"device":${JSON.stringify(id)}`),
  };
}

const endRanges = (devices: readonly string[], ports: readonly string[] | undefined): Range[] =>
  devices.flatMap((id) =>
    ports ? ports.map((port): Range => [pair(id, port), pair(id, port)]) : [pairRange(id)],
  );

/** Sets up to this size are looked for in the bytes of pages that have no index. */
const MOST_NEEDLES = 32;

/** What of a kind lies within a set of devices: they, their ports, the links between them, the hosts on them. */
export function withinFilter(kind: Kind, devices: ReadonlySet<string>): Filter {
  const ids = [...devices];
  const needles = (field: string) =>
    ids.length <= MOST_NEEDLES && { needles: ids.map((id) => `"${field}":${JSON.stringify(id)}`) };
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
