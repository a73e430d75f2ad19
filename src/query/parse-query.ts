/**
 * From the query's text to what is asked. What is not in the table of parameters for a read is refused, with the
 * nearest that is, and so is what contradicts itself: a mistyped filter must never silently return everything.
 */

import { badParameter, hint, Problem } from "../api/problem.ts";
import type { Route } from "../api/route.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import { annotationFilter, type Filter } from "./filter.ts";
import { aroundOf, placeFilter } from "./parameter-values.ts";
import { type On, type ParamHandler, paramHandlersOf, QueryBuilder } from "./parameters.ts";
import { parseQueryText, type RawParameter } from "../api/query-string.ts";

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

const ANNOTATION = "annotations.";

export interface QueryLimits {
  readonly pageLimit: number;
}

const EMPTY: Query = new QueryBuilder([], 0);

/** The parameters of each read. */
const TAKES: ReadonlyMap<Kind | On, ReadonlyMap<string, ParamHandler>> = new Map<
  Kind | On,
  Map<string, ParamHandler>
>([
  ...KINDS.map((kind) => [kind, paramHandlersOf("list", kind)] as const),
  ["topology", paramHandlersOf("topology", undefined)],
  ["item", paramHandlersOf("item", undefined)],
]);

export function parseQuery(text: string, target: Route, { pageLimit }: QueryLimits): Query {
  if (text === "") return EMPTY;
  const given = parseQueryText(text);
  const query = new QueryBuilder(given, pageLimit);
  const kind = target.read === "list" ? target.kind : undefined;
  const takes = TAKES.get(kind ?? (target.read === "topology" ? "topology" : "item"));
  for (const parameter of given) {
    if (query.find(parameter.name) !== parameter)
      throw badParameter(parameter.name, "is given twice; give it once, several values with commas.");
    const take = takes?.get(parameter.name);
    if (take) take(query, parameter);
    else query.filters.push(filterByAnnotation(parameter, kind, takes?.keys() ?? []));
  }
  const place = kind && placeFilter(kind, query);
  if (place) query.filters.push(place);
  query.around = aroundOf(query);
  query.fingerprint = fingerprintOf(given);
  refuseContradictions(query);
  return query;
}

/** What is in no table can only be an annotation. */
function filterByAnnotation(
  parameter: RawParameter,
  kind: Kind | undefined,
  known: Iterable<string>,
): Filter {
  const { name } = parameter;
  if (kind && name.startsWith(ANNOTATION) && name.length > ANNOTATION.length)
    return annotationFilter(name.slice(ANNOTATION.length), parameter);
  const names = [...known];
  const there = [...names, ...(kind ? [`${ANNOTATION}KEY`] : [])].join(", ");
  throw badParameter(name, `does not exist here; ${hint(name, names)}There are: ${there}.`);
}

/** In order of name, so that it does not matter in which order they came. One word, which no other query has. */
function fingerprintOf(given: readonly RawParameter[]): string {
  const words: string[] = [];
  for (const { name, value } of given) {
    if (name !== "cursor" && name !== "limit") words.push(`${unmistakable(name)}=${unmistakable(value)}`);
  }
  return words.length === 1 ? (words[0] ?? "") : words.sort().join("&");
}

const unmistakable = (text: string): string =>
  /[%&= ]/.test(text) ? text.replace(/[%&= ]/g, encodeURIComponent) : text;

/** Pairs of parameters that ask two different questions at once. */
const CONTRADICTIONS = [
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
] as const;

function refuseContradictions(query: QueryBuilder): void {
  if (query.given.length > 1) {
    for (const [a, b] of CONTRADICTIONS) {
      if (query.has(a) && query.has(b))
        throw badParameter(b, `cannot be asked together with ${a}; leave one of them out.`);
    }
    if (query.format === "prometheus" && query.fields)
      throw badParameter("fields", "cannot be asked together with format=prometheus; leave one of them out.");
  }
  if (query.since === undefined && query.has("fold"))
    throw badParameter("fold", "means something only together with since; give since=REVISION too.");
  if (query.timeline === undefined && (query.from !== undefined || query.to !== undefined)) {
    const name = query.from !== undefined ? "from" : "to";
    throw badParameter(name, "means something only together with timeline; give timeline=N too.");
  }
  if (query.cursor === "")
    throw new Problem("bad-cursor", "The cursor is empty; leave it out for the first page.");
}
