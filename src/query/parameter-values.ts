/**
 * Parses the values of parameters. Most parse one parameter; `parseLocationFilter` and `parseAround` parse parameters
 * that have a meaning only together. Each returns a fault that names what is allowed.
 */

import { didYouMean, quote } from "../lib/error-text.ts";
import { canonicalIp, canonicalPort, ipKey, ipKeyRange } from "../model/address.ts";
import { DRIFT_STATES, type DriftState } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
import { badParameter, QueryFault } from "./fault.ts";
import {
  ANNOTATION_PREFIX,
  FIELD_NAMES,
  type FieldRule,
  NAME,
  nameAnnotation,
  SORT_FIELDS,
} from "./fields.ts";
import {
  exactRange,
  type Filter,
  ipFilter,
  type KeyRange,
  linkEndFilter,
  locationFilter,
  ScalarFilter,
  textFilter,
} from "./filter.ts";
import type { QueryParameter } from "./parameter.ts";
import type { Around, QueryBuilder, SortKey } from "./query.ts";

export const MAX_HOPS = 64;
export const DEFAULT_HOPS = 1;

/** Parses each value of a parameter. `expects` describes the values for which `parse` does not return undefined. */
function parseValues<T>(
  { name, values }: QueryParameter,
  parse: (text: string) => T | undefined,
  expects: string,
): T[] | QueryFault {
  const parsed: T[] = [];
  for (const text of values) {
    const value = parse(text);
    if (value === undefined) return badParameter(name, `is ${quote(text)}; it must be ${expects}.`);
    parsed.push(value);
  }
  return parsed;
}

export function parseScalarFilter(
  kind: Kind,
  rule: FieldRule,
  parameter: QueryParameter,
): Filter | QueryFault {
  const wanted = parseValues(parameter, (text) => rule.parse(text), rule.expects);
  return wanted instanceof QueryFault ? wanted : new ScalarFilter(kind, parameter.name, wanted);
}

export function parseTextFilter({ name, value }: QueryParameter): Filter | QueryFault {
  return value === "" ? badParameter(name, "is empty; give some text to look for.") : textFilter(value);
}

export function parseIpFilter(parameter: QueryParameter): Filter | QueryFault {
  const expects = "an address or a block such as 10.0.0.1, 10.0.0.0/24 or 2001:db8::/32";
  const ranges = parseValues(parameter, parseIpRange, expects);
  return ranges instanceof QueryFault ? ranges : ipFilter(ranges);
}

function parseIpRange(text: string): KeyRange | undefined {
  const address = canonicalIp(text);
  if (address !== undefined) return exactRange(ipKey(address));
  const range = ipKeyRange(text);
  return range && [range.from, range.to];
}

export const ANY_DRIFT = "any";

/** The states that `drift` names, without duplicates, in the order of `DRIFT_STATES`. */
export function parseDrift(parameter: QueryParameter): readonly DriftState[] | QueryFault {
  const known: readonly string[] = [...DRIFT_STATES, ANY_DRIFT];
  const named = parseValues(
    parameter,
    (text) => known.find((state) => state === text),
    `one of ${known.join(", ")}`,
  );
  if (named instanceof QueryFault) return named;
  return named.includes(ANY_DRIFT) ? DRIFT_STATES : DRIFT_STATES.filter((state) => named.includes(state));
}

const DEFAULT_DIRECTION = "all";
const ENDS: ReadonlyMap<string, readonly ("src" | "dst")[]> = new Map([
  ["ingress", ["dst"]],
  ["egress", ["src"]],
  ["all", ["src", "dst"]],
]);

/** Parses `device`, `port` and `direction` as one filter. The default value of `direction` is no fault without `device`. */
export function parseLocationFilter(kind: Kind, query: QueryBuilder): Filter | QueryFault | undefined {
  if (kind !== "links" && kind !== "hosts") return undefined;
  const devices = query.find("device")?.values;
  const ports = parsePorts(query.find("port"));
  if (ports instanceof QueryFault) return ports;
  const direction = query.find("direction")?.value ?? DEFAULT_DIRECTION;
  const ends = ENDS.get(direction);
  if (!ends) return badParameter("direction", `is ${quote(direction)}; it must be ingress, egress or all.`);
  if (!devices) {
    const incomplete = ports ? "port" : direction === DEFAULT_DIRECTION ? undefined : "direction";
    return incomplete && needsOther(incomplete, "device", "device=ID");
  }
  return kind === "hosts" ? locationFilter(devices, ports) : linkEndFilter(ends, devices, ports);
}

const parsePorts = (parameter: QueryParameter | undefined): string[] | QueryFault | undefined =>
  parameter && parseValues(parameter, canonicalPort, "a decimal number, local or controller");

/** The fault of a parameter that is given without the one it belongs to. */
export const needsOther = (parameter: string, other: string, example: string): QueryFault =>
  badParameter(parameter, `has a meaning only together with ${other}; give ${example} too.`);

/** Parses `around` and `hops`. The default of `hops` alone is no fault, because some clients always send default values. */
export function parseAround(query: QueryBuilder): Around | QueryFault | undefined {
  const id = query.find("around")?.value;
  const hopsParameter = query.find("hops");
  const hops = hopsParameter ? parseInteger(hopsParameter, 0, MAX_HOPS) : DEFAULT_HOPS;
  if (hops instanceof QueryFault) return hops;
  if (id === undefined) return hops === DEFAULT_HOPS ? undefined : needsOther("hops", "around", "around=ID");
  if (id === "")
    return badParameter("around", "is empty; give the id of a device or host, or the name of a device.");
  return { id, hops };
}

export function parseFields(kind: Kind, { values }: QueryParameter): readonly string[] | QueryFault {
  const names = FIELD_NAMES[kind];
  for (const name of values) {
    if (names.includes(name)) continue;
    const allowed = `${didYouMean(name, names)}There are: ${names.join(", ")}.`;
    return badParameter("fields", `names ${quote(name)}, which is no field of ${kind}; ${allowed}`);
  }
  return names.filter((name) => values.includes(name));
}

export function parseSort(
  kind: Kind,
  { values }: QueryParameter,
  { acceptsNames }: Pick<QueryBuilder, "acceptsNames">,
): readonly SortKey[] | QueryFault {
  const keys: SortKey[] = [];
  for (const text of values) {
    const descending = text.startsWith("-");
    const given = descending ? text.slice(1) : text;
    const field = given === NAME && acceptsNames ? ANNOTATION_PREFIX + nameAnnotation(kind) : given;
    const isAnnotation = field.startsWith(ANNOTATION_PREFIX) && field.length > ANNOTATION_PREFIX.length;
    if (!isAnnotation && !SORT_FIELDS[kind].includes(field)) {
      const names = acceptsNames ? [...SORT_FIELDS[kind], NAME] : SORT_FIELDS[kind];
      const allowed = `${didYouMean(field, names)}There are: ${names.join(", ")}, ${ANNOTATION_PREFIX}KEY.`;
      return badParameter("sort", `names ${quote(field)}, by which ${kind} cannot be sorted; ${allowed}`);
    }
    // A field is compared once: entities that are equal in it stay equal.
    if (!keys.some((key) => key.field === field)) keys.push({ field, descending });
  }
  return keys;
}

export function parseInteger({ name, value }: QueryParameter, min: number, max: number): number | QueryFault {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  return badParameter(name, `is ${quote(value)}; it must be a whole number from ${min} to ${max}.`);
}

export function parseBoolean({ name, value }: QueryParameter): boolean | QueryFault {
  if (value === "true" || value === "false") return value === "true";
  return badParameter(name, `is ${quote(value)}; it must be true or false.`);
}
