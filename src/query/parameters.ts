/**
 * The parameters of the interface: on which reads each exists, what it is for, and what it puts into a query. From this
 * one table come the parsing, the refusals that say what there is, and the OpenAPI document.
 */
import type { Kind } from "../model/ids.ts";
import { SCALARS } from "./fields.ts";
import { endFilter, type Filter, ipFilter, scalarFilter, sourceFilter, textFilter } from "./filter.ts";
import { fieldsOf, flag, sortOf, wholeNumber } from "./parameter-values.ts";
import type { Query, SortKey } from "./parse-query.ts";
import type { RawParameter } from "../api/query-string.ts";

const NO_ORDER: readonly SortKey[] = [];

/** A query in the making. */
export class QueryBuilder implements Query {
  readonly given: readonly RawParameter[];
  readonly pageLimit: number;
  filters: Filter[] = [];
  around: Query["around"] = undefined;
  fields: Query["fields"] = undefined;
  sort: readonly SortKey[] = NO_ORDER;
  limit: number | undefined = undefined;
  cursor: string | undefined = undefined;
  format: string | undefined = undefined;
  at: string | undefined = undefined;
  since: string | undefined = undefined;
  fold = false;
  diff: string | undefined = undefined;
  timeline: number | undefined = undefined;
  from: string | undefined = undefined;
  to: string | undefined = undefined;
  fingerprint = "";

  constructor(given: readonly RawParameter[], pageLimit: number) {
    this.given = given;
    this.pageLimit = pageLimit;
  }

  /** They are so few that looking through them costs less than a map. */
  find(name: string): RawParameter | undefined {
    for (const parameter of this.given) if (parameter.name === name) return parameter;
    return undefined;
  }

  has(name: string): boolean {
    return this.find(name) !== undefined;
  }
}

export type On = "list" | "topology" | "item";

/** Puts what a parameter means into a query. */
export type ParamHandler = (query: QueryBuilder, parameter: RawParameter) => void;

interface Parameter {
  readonly on: readonly On[];
  readonly kinds?: readonly Kind[];
  readonly about: string;
  /** Of some only with the kind it is asked of. Left out where it means something only together with others. */
  readonly take?: ParamHandler;
  readonly takeFor?: (kind: Kind) => ParamHandler;
}

/** A filter of its own. */
const filtering =
  (make: (parameter: RawParameter) => Filter): ParamHandler =>
  (query, parameter) => {
    query.filters.push(make(parameter));
  };

/** Parameters that are not fields. A field's name always means that field; these stand beside them. */
export const PARAMETERS: Readonly<Record<string, Parameter>> = {
  q: {
    on: ["list"],
    about: "A substring of any string field, upper or lower case.",
    take: filtering(textFilter),
  },
  source: {
    on: ["list"],
    about: "Claimed by that source; several with commas.",
    take: filtering(sourceFilter),
  },
  ip: {
    on: ["list"],
    kinds: ["hosts"],
    about: "An address, or a CIDR block that contains it; several with commas.",
    take: filtering(ipFilter),
  },
  device: {
    on: ["list"],
    kinds: ["links", "hosts"],
    about: "Links with that device at an end; hosts located there.",
  },
  port: { on: ["list"], kinds: ["links", "hosts"], about: "With `device`: that port of it." },
  direction: { on: ["list"], kinds: ["links"], about: "With `device`: ingress, egress or all (default)." },
  src: {
    on: ["list"],
    kinds: ["links"],
    about: "The id of the device the link comes from.",
    take: filtering(({ values }) => endFilter(["src"], values, undefined)),
  },
  dst: {
    on: ["list"],
    kinds: ["links"],
    about: "The id of the device the link goes to.",
    take: filtering(({ values }) => endFilter(["dst"], values, undefined)),
  },
  around: { on: ["list", "topology"], about: "Only what lies within `hops` links of this device or host." },
  hops: { on: ["list", "topology"], about: "With `around`: how many links away (0 to 64, default 1)." },
  fields: {
    on: ["list"],
    about: "Only these top-level fields, separated by commas.",
    takeFor: (kind) => (query, parameter) => {
      query.fields = fieldsOf(kind, parameter);
    },
  },
  sort: {
    on: ["list"],
    about: "One or more scalar fields, separated by commas; `-` before one for descending.",
    takeFor: (kind) => (query, parameter) => {
      query.sort = sortOf(kind, parameter);
    },
  },
  limit: {
    on: ["list"],
    about: "At most so many on a page.",
    take: (query, parameter) => {
      query.limit = wholeNumber(parameter, 1, query.pageLimit);
    },
  },
  cursor: {
    on: ["list"],
    about: "The `next` of the page before.",
    take: (query, { value }) => {
      query.cursor = value;
    },
  },
  format: {
    on: ["list", "topology", "item"],
    about: "A representation; wins over `Accept`.",
    take: (query, { value }) => {
      query.format = value;
    },
  },
  at: {
    on: ["list", "topology", "item"],
    about: "The past: an RFC 3339 time or a revision.",
    take: (query, { value }) => {
      query.at = value;
    },
  },
  since: {
    on: ["list", "topology"],
    about: "What changed after that revision.",
    take: (query, { value }) => {
      query.since = value;
    },
  },
  fold: {
    on: ["list", "topology"],
    about: "With `since`: true gives only the last change of each thing.",
    take: (query, parameter) => {
      query.fold = flag(parameter);
    },
  },
  diff: {
    on: ["list", "topology"],
    about: "`A..B`: what differs between two moments, each a revision or an RFC 3339 time.",
    take: (query, { value }) => {
      query.diff = value;
    },
  },
  timeline: {
    on: ["topology"],
    about: "How many changes there were, in this many equal spans of time (1 to 1000).",
    take: (query, parameter) => {
      query.timeline = wholeNumber(parameter, 1, 1000);
    },
  },
  from: {
    on: ["topology"],
    about: "With `timeline`: from when (RFC 3339).",
    take: (query, { value }) => {
      query.from = value;
    },
  },
  to: {
    on: ["topology"],
    about: "With `timeline`: until when (RFC 3339).",
    take: (query, { value }) => {
      query.to = value;
    },
  },
};

/** The names that a read takes, fields first. */
export const parameterNames = (on: On, kind: Kind | undefined): string[] => [
  ...paramHandlersOf(on, kind).keys(),
];

const later: ParamHandler = () => {};

/** What each parameter of a read does, by its name; fields first. */
export function paramHandlersOf(on: On, kind: Kind | undefined): Map<string, ParamHandler> {
  const takes = new Map<string, ParamHandler>();
  if (on === "list" && kind) {
    for (const [name, rule] of SCALARS[kind])
      takes.set(name, (query, parameter) => query.filters.push(scalarFilter(kind, name, rule, parameter)));
  }
  for (const [name, { on: reads, kinds, take, takeFor }] of Object.entries(PARAMETERS)) {
    const here = reads.includes(on) && (!kinds || (kind && kinds.includes(kind)));
    if (here && !takes.has(name)) takes.set(name, take ?? (kind && takeFor?.(kind)) ?? later);
  }
  return takes;
}
