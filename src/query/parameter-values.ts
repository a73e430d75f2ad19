/** What single parameters, and those that are one question together, come to; each refuses what it cannot mean. */

import { badParameter, hint, quoted } from "../api/problem.ts";
import { canonicalPort } from "../model/address.ts";
import type { Kind } from "../model/ids.ts";
import { FIELDS, SCALARS } from "./fields.ts";
import { endFilter, type Filter, locationFilter } from "./filter.ts";
import type { Query, SortKey } from "./parse-query.ts";
import type { RawParameter } from "../api/query-string.ts";

/** The parameters that were given, by name. */
interface Given {
  find(name: string): RawParameter | undefined;
}

const DIRECTIONS = { ingress: ["dst"], egress: ["src"], all: ["src", "dst"] } as const;

/** `device`, `port` and `direction` are one question. */
export function placeFilter(kind: Kind, given: Given): Filter | undefined {
  if (kind !== "links" && kind !== "hosts") return undefined;
  const devices = given.find("device")?.values;
  const ports = given.find("port")?.values.map((text) => {
    const port = canonicalPort(text);
    if (port === undefined)
      throw badParameter("port", `is ${quoted(text)}; it must be a decimal number or local.`);
    return port;
  });
  const direction = given.find("direction")?.value;
  if (!devices) {
    const orphan = ports ? "port" : direction !== undefined ? "direction" : undefined;
    if (orphan) throw badParameter(orphan, "means something only together with device; give device=ID too.");
    return undefined;
  }
  if (kind === "hosts") return locationFilter(devices, ports);
  if (direction === undefined) return endFilter(DIRECTIONS.all, devices, ports);
  if (direction !== "ingress" && direction !== "egress" && direction !== "all") {
    throw badParameter("direction", `is ${quoted(direction)}; it must be ingress, egress or all.`);
  }
  return endFilter(DIRECTIONS[direction], devices, ports);
}

export function aroundOf(given: Given): Query["around"] {
  const id = given.find("around")?.value;
  const hopsGiven = given.find("hops");
  const hops = hopsGiven && wholeNumber(hopsGiven, 0, 64);
  if (id === undefined) {
    if (hops !== undefined)
      throw badParameter("hops", "means something only together with around; give around=ID too.");
    return undefined;
  }
  if (id === "") throw badParameter("around", "is empty; give the id of a device or host.");
  return { id, hops: hops ?? 1 };
}

export function fieldsOf(kind: Kind, { values }: RawParameter): readonly string[] {
  for (const name of values) {
    if (FIELDS[kind].includes(name)) continue;
    const there = `${hint(name, FIELDS[kind])}There are: ${FIELDS[kind].join(", ")}.`;
    throw badParameter("fields", `names ${quoted(name)}, which is no field of ${kind}; ${there}`);
  }
  return FIELDS[kind].filter((name) => values.includes(name));
}

export function sortOf(kind: Kind, { values }: RawParameter): SortKey[] {
  return values.map((text) => {
    const descending = text.startsWith("-");
    const field = descending ? text.slice(1) : text;
    if (!SCALARS[kind].has(field)) {
      const names = [...SCALARS[kind].keys()];
      const there = `${hint(field, names)}There are: ${names.join(", ")}.`;
      throw badParameter("sort", `names ${quoted(field)}, by which ${kind} cannot be sorted; ${there}`);
    }
    return { field, descending };
  });
}

export function wholeNumber({ name, value: text }: RawParameter, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw badParameter(name, `is ${quoted(text)}; it must be a whole number from ${least} to ${most}.`);
}

export function flag({ name, value }: RawParameter): boolean {
  if (value !== "true" && value !== "false")
    throw badParameter(name, `is ${quoted(value)}; it must be true or false.`);
  return value === "true";
}
