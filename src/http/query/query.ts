/**
 * From the query's text to what is asked. Every parameter of the interface is in the table below, with the reads it
 * belongs to: what is not there is refused, with the nearest that is. A mistyped filter must never silently return
 * everything.
 */
import { canonicalPort } from "../../model/address.ts";
import type { Kind } from "../../model/ids.ts";
import type { Target } from "../path.ts";
import { badParameter, hint, Problem, quoted } from "../problem.ts";
import { FIELDS, SCALARS } from "./fields.ts";
import {
  annotationFilter,
  endFilter,
  type Filter,
  ipFilter,
  locationFilter,
  scalarFilter,
  sourceFilter,
  textFilter,
} from "./filter.ts";
import { parseQueryText, type RawParameter } from "./text.ts";

export interface SortKey {
  readonly field: string;
  readonly descending: boolean;
}

export interface Query {
  readonly filters: readonly Filter[];
  readonly around: { readonly id: string; readonly hops: number } | undefined;
  readonly fields: readonly string[] | undefined;
  readonly sort: readonly SortKey[];
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
  readonly format: string | undefined;
  readonly at: string | undefined;
  readonly since: string | undefined;
  readonly fold: boolean;
  readonly diff: string | undefined;
  readonly timeline: number | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** The parameters as they came, less where on the pages one is: what makes two queries the same. */
  readonly fingerprint: string;
}

type On = "list" | "topology" | "item";

/** Parameters that are not fields. A field's name always means that field; these stand beside them. */
export const PARAMETERS: Readonly<
  Record<string, { on: readonly On[]; kinds?: readonly Kind[]; about: string }>
> = {
  q: { on: ["list"], about: "A substring of any string field, upper or lower case." },
  source: { on: ["list"], about: "Claimed by that source; several with commas." },
  ip: {
    on: ["list"],
    kinds: ["hosts"],
    about: "An address, or a CIDR block that contains it; several with commas.",
  },
  device: {
    on: ["list"],
    kinds: ["links", "hosts"],
    about: "Links with that device at an end; hosts located there.",
  },
  port: { on: ["list"], kinds: ["links", "hosts"], about: "With `device`: that port of it." },
  direction: { on: ["list"], kinds: ["links"], about: "With `device`: ingress, egress or all (default)." },
  src: { on: ["list"], kinds: ["links"], about: "The id of the device the link comes from." },
  dst: { on: ["list"], kinds: ["links"], about: "The id of the device the link goes to." },
  around: { on: ["list", "topology"], about: "Only what lies within `hops` links of this device or host." },
  hops: { on: ["list", "topology"], about: "With `around`: how many links away (0 to 64, default 1)." },
  fields: { on: ["list"], about: "Only these top-level fields, separated by commas." },
  sort: {
    on: ["list"],
    about: "One or more scalar fields, separated by commas; `-` before one for descending.",
  },
  limit: { on: ["list"], about: "At most so many on a page." },
  cursor: { on: ["list"], about: "The `next` of the page before." },
  format: { on: ["list", "topology", "item"], about: "A representation; wins over `Accept`." },
  at: { on: ["list", "topology", "item"], about: "The past: an RFC 3339 time or a revision." },
  since: { on: ["list", "topology"], about: "What changed after that revision." },
  fold: { on: ["list", "topology"], about: "With `since`: true gives only the last change of each thing." },
  diff: {
    on: ["list", "topology"],
    about: "`A..B`: what differs between two moments, each a revision or an RFC 3339 time.",
  },
  timeline: {
    on: ["topology"],
    about: "How many changes there were, in this many equal spans of time (1 to 1000).",
  },
  from: { on: ["topology"], about: "With `timeline`: from when (RFC 3339)." },
  to: { on: ["topology"], about: "With `timeline`: until when (RFC 3339)." },
};
const ANNOTATION = "annotations.";

export interface QueryLimits {
  readonly pageLimit: number;
}

const EMPTY: Query = {
  filters: [],
  around: undefined,
  fields: undefined,
  sort: [],
  limit: undefined,
  cursor: undefined,
  format: undefined,
  at: undefined,
  since: undefined,
  fold: false,
  diff: undefined,
  timeline: undefined,
  from: undefined,
  to: undefined,
  fingerprint: "",
};

const onOf = (target: Target): On =>
  target.read === "list" ? "list" : target.read === "topology" ? "topology" : "item";

/** The names that a read takes, fields first. */
export function parameterNames(on: On, kind: Kind | undefined): string[] {
  const fields = on === "list" && kind ? [...SCALARS[kind].keys()] : [];
  const others = Object.entries(PARAMETERS).filter(
    ([name, { on: reads, kinds }]) =>
      reads.includes(on) && (!kinds || (kind && kinds.includes(kind))) && !fields.includes(name),
  );
  return [...fields, ...others.map(([name]) => name)];
}

export function parseQuery(text: string, target: Target, limits: QueryLimits): Query {
  if (text === "") return EMPTY;
  const on = onOf(target);
  const kind = target.read === "list" ? target.kind : undefined;
  const given = named(parseQueryText(text), on, kind);
  const one = (name: string) => given.get(name)?.value;
  const sortAndFields = kind
    ? { fields: fieldsOf(kind, given.get("fields")), sort: sortOf(kind, given.get("sort")) }
    : {};
  const query: Query = {
    ...EMPTY,
    ...sortAndFields,
    filters: kind ? filtersOf(kind, given) : [],
    around: aroundOf(given),
    limit: wholeNumber("limit", one("limit"), 1, limits.pageLimit),
    cursor: one("cursor"),
    format: one("format"),
    at: one("at"),
    since: one("since"),
    fold: flag("fold", one("fold")),
    diff: one("diff"),
    timeline: wholeNumber("timeline", one("timeline"), 1, 1000),
    from: one("from"),
    to: one("to"),
    fingerprint: fingerprintOf(given),
  };
  refuseContradictions(query, given);
  return query;
}

function named(
  parameters: readonly RawParameter[],
  on: On,
  kind: Kind | undefined,
): Map<string, RawParameter> {
  const names = parameterNames(on, kind);
  const given = new Map<string, RawParameter>();
  for (const parameter of parameters) {
    const { name } = parameter;
    const isAnnotation = on === "list" && name.startsWith(ANNOTATION) && name.length > ANNOTATION.length;
    if (!isAnnotation && !names.includes(name)) {
      const more = on === "list" ? ", annotations.KEY" : "";
      const there = `${names.join(", ")}${more}`;
      throw badParameter(name, `does not exist here; ${hint(name, names)}There are: ${there}.`);
    }
    if (given.has(name))
      throw badParameter(name, "is given twice; give it once, several values with commas.");
    given.set(name, parameter);
  }
  return given;
}

function filtersOf(kind: Kind, given: ReadonlyMap<string, RawParameter>): Filter[] {
  const filters: Filter[] = [];
  for (const [name, parameter] of given) {
    const rule = SCALARS[kind].get(name);
    if (rule) filters.push(scalarFilter(kind, name, rule, parameter));
    else if (name.startsWith(ANNOTATION))
      filters.push(annotationFilter(name.slice(ANNOTATION.length), parameter));
    else if (name === "q") filters.push(textFilter(parameter));
    else if (name === "source") filters.push(sourceFilter(parameter));
    else if (name === "ip") filters.push(ipFilter(parameter));
    else if (name === "src" || name === "dst") filters.push(endFilter([name], parameter.values, undefined));
  }
  const place = placeFilter(kind, given);
  return place ? [...filters, place] : filters;
}

const DIRECTIONS = { ingress: ["dst"], egress: ["src"], all: ["src", "dst"] } as const;

/** `device`, `port` and `direction` are one question. */
function placeFilter(kind: Kind, given: ReadonlyMap<string, RawParameter>): Filter | undefined {
  if (kind !== "links" && kind !== "hosts") return undefined;
  const devices = given.get("device")?.values;
  const ports = given.get("port")?.values.map((text) => {
    const port = canonicalPort(text);
    if (port === undefined)
      throw badParameter("port", `is ${quoted(text)}; it must be a decimal number or local.`);
    return port;
  });
  if (!devices) {
    const orphan = ports ? "port" : given.has("direction") ? "direction" : undefined;
    if (orphan) throw badParameter(orphan, "means something only together with device; give device=ID too.");
    return undefined;
  }
  if (kind === "hosts") return locationFilter(devices, ports);
  const direction = given.get("direction")?.value ?? "all";
  if (direction !== "ingress" && direction !== "egress" && direction !== "all") {
    throw badParameter("direction", `is ${quoted(direction)}; it must be ingress, egress or all.`);
  }
  return endFilter(DIRECTIONS[direction], devices, ports);
}

function aroundOf(given: ReadonlyMap<string, RawParameter>): Query["around"] {
  const id = given.get("around")?.value;
  const hops = wholeNumber("hops", given.get("hops")?.value, 0, 64);
  if (id === undefined) {
    if (hops !== undefined)
      throw badParameter("hops", "means something only together with around; give around=ID too.");
    return undefined;
  }
  if (id === "") throw badParameter("around", "is empty; give the id of a device or host.");
  return { id, hops: hops ?? 1 };
}

function fieldsOf(kind: Kind, parameter: RawParameter | undefined): readonly string[] | undefined {
  if (!parameter) return undefined;
  for (const name of parameter.values) {
    if (FIELDS[kind].includes(name)) continue;
    const there = `${hint(name, FIELDS[kind])}There are: ${FIELDS[kind].join(", ")}.`;
    throw badParameter("fields", `names ${quoted(name)}, which is no field of ${kind}; ${there}`);
  }
  return FIELDS[kind].filter((name) => parameter.values.includes(name));
}

function sortOf(kind: Kind, parameter: RawParameter | undefined): SortKey[] {
  const names = [...SCALARS[kind].keys()];
  return (parameter?.values ?? []).map((text) => {
    const descending = text.startsWith("-");
    const field = descending ? text.slice(1) : text;
    if (!names.includes(field)) {
      const there = `${hint(field, names)}There are: ${names.join(", ")}.`;
      throw badParameter("sort", `names ${quoted(field)}, by which ${kind} cannot be sorted; ${there}`);
    }
    return { field, descending };
  });
}

function wholeNumber(
  name: string,
  text: string | undefined,
  least: number,
  most: number,
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw badParameter(name, `is ${quoted(text)}; it must be a whole number from ${least} to ${most}.`);
}

function flag(name: string, text: string | undefined): boolean {
  if (text === undefined || text === "false") return false;
  if (text === "true") return true;
  throw badParameter(name, `is ${quoted(text)}; it must be true or false.`);
}

function fingerprintOf(given: ReadonlyMap<string, RawParameter>): string {
  const shaping = [...given.values()].filter(({ name }) => name !== "cursor" && name !== "limit");
  return JSON.stringify(shaping.map(({ name, values }) => [name, ...values]).sort());
}

/** Pairs of parameters that ask two different questions at once. */
function refuseContradictions(query: Query, given: ReadonlyMap<string, RawParameter>): void {
  const both = (a: string, b: string) => given.has(a) && given.has(b);
  for (const [a, b] of [
    ["since", "at"],
    ["diff", "at"],
    ["diff", "since"],
    ["timeline", "at"],
    ["timeline", "since"],
    ["timeline", "diff"],
    ["timeline", "around"],
    ["since", "limit"],
    ["since", "cursor"],
    ["since", "sort"],
    ["since", "fields"],
    ["diff", "limit"],
    ["diff", "cursor"],
    ["diff", "sort"],
    ["diff", "fields"],
  ] as const) {
    if (both(a, b)) throw badParameter(b, `cannot be asked together with ${a}; leave one of them out.`);
  }
  if (given.has("fold") && query.since === undefined)
    throw badParameter("fold", "means something only together with since; give since=REVISION too.");
  if (query.timeline === undefined && (given.has("from") || given.has("to"))) {
    const name = given.has("from") ? "from" : "to";
    throw badParameter(name, "means something only together with timeline; give timeline=N too.");
  }
  if (query.format === "prometheus" && query.fields)
    throw badParameter("fields", "cannot be asked together with format=prometheus; leave one of them out.");
  if (query.cursor === "")
    throw new Problem("bad-cursor", "The cursor is empty; leave it out for the first page.");
}
