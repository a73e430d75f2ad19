/**
 * Parses the parameters of a read into a query. A parameter that the read does not have is a fault that lists those it has,
 * and so is a combination that contradicts itself: a mistyped filter must never silently return everything. Texts that
 * programs spell in several ways are normalised first: the case of booleans and enumerated values, and a list that is given
 * by repeating its parameter.
 */

import { didYouMean } from "../lib/error-text.ts";
import { compareTexts } from "../lib/sorted.ts";
import { badParameter, QueryFault } from "./fault.ts";
import { ANNOTATION_PREFIX } from "./fields.ts";
import { annotationFilter, type Filter } from "./filter.ts";
import { joinParameters, type QueryParameter } from "./parameter.ts";
import { needsOther, parseAround, parseLocationFilter } from "./parameter-values.ts";
import type { ParameterSet } from "./parameters.ts";
import { type ParsedQuery, QueryBuilder } from "./query.ts";
import { MIN_REVISION } from "./revision.ts";

export interface QueryOptions {
  readonly pageLimit: number;
  /** See `ParsedQuery`. */
  readonly acceptsNames: boolean;
}

const EMPTY_QUERY: ParsedQuery = new QueryBuilder([], 0, true);
const EMPTY_QUERY_WITHOUT_NAMES: ParsedQuery = new QueryBuilder([], 0, false);

export function parseQuery(
  parameters: readonly QueryParameter[],
  set: ParameterSet,
  { pageLimit, acceptsNames }: QueryOptions,
): ParsedQuery | QueryFault {
  if (parameters.length === 0) return acceptsNames ? EMPTY_QUERY : EMPTY_QUERY_WITHOUT_NAMES;
  const canonical = canonicalParameters(parameters, set);
  if (canonical instanceof QueryFault) return canonical;
  const query = new QueryBuilder(canonical, pageLimit, acceptsNames);
  const fault =
    addParameters(query, set) ??
    (query.hasCombined ? addCombined(query, set) : undefined) ??
    findConflict(query);
  if (fault) return fault;
  query.fingerprint = fingerprintOf(parameters);
  return query;
}

/**
 * Joins the repetitions of each list into one parameter, and spells booleans and enumerated values as the table does.
 * Generated clients repeat a parameter for each value; those in Python send `True`.
 */
function canonicalParameters(
  parameters: readonly QueryParameter[],
  set: ParameterSet,
): readonly QueryParameter[] | QueryFault {
  const [first] = parameters;
  // Most queries have one parameter that is neither a boolean nor an enumerated value.
  if (first && parameters.length === 1 && !set.byName.get(first.name)?.spellings) return parameters;
  const canonical: QueryParameter[] = [];
  for (const given of parameters) {
    const known = set.byName.get(given.name);
    const parameter = known?.spellings ? respell(given, known.spellings) : given;
    const isList = known ? known.isList : given.name.startsWith(ANNOTATION_PREFIX);
    const mayRepeat = isList && canonical.length > 0;
    const earlier = mayRepeat ? canonical.findIndex(({ name }) => name === given.name) : -1;
    const former = canonical[earlier];
    const joined = former ? joinParameters(former, parameter) : parameter;
    if (joined instanceof QueryFault) return joined;
    if (former) canonical[earlier] = joined;
    else canonical.push(joined);
  }
  return canonical;
}

function respell(parameter: QueryParameter, spellings: ReadonlyMap<string, string>): QueryParameter {
  const { name, values } = parameter;
  const spelled = values.map((text) => spellings.get(text.toLowerCase()) ?? text);
  if (spelled.every((text, i) => text === values[i])) return parameter;
  return { name, value: spelled.join(","), values: [...new Set(spelled)] };
}

/** Adds each parameter that has a meaning of its own. */
function addParameters(query: QueryBuilder, set: ParameterSet): QueryFault | undefined {
  for (const parameter of query.parameters) {
    if (query.find(parameter.name) !== parameter)
      return badParameter(parameter.name, "is given twice; it has one value, give it once.");
    const known = set.byName.get(parameter.name);
    const fault = known ? known.add(query, parameter) : addAnnotation(query, set, parameter);
    if (fault) return fault;
  }
  return undefined;
}

/** A parameter that is not in the table can only be an annotation. */
function addAnnotation(
  query: QueryBuilder,
  set: ParameterSet,
  { name, values }: QueryParameter,
): QueryFault | undefined {
  const hasAnnotations = set.kind !== undefined;
  if (hasAnnotations && name.startsWith(ANNOTATION_PREFIX) && name.length > ANNOTATION_PREFIX.length) {
    query.filters.push(annotationFilter(name.slice(ANNOTATION_PREFIX.length), values));
    return undefined;
  }
  const names = [...set.byName.keys()];
  const all = hasAnnotations ? [...names, `${ANNOTATION_PREFIX}KEY`] : names;
  const allowed = `${didYouMean(name, names)}There are: ${all.join(", ")}.`;
  return badParameter(name, `does not exist here; ${allowed}`);
}

/** Adds the parameters that have a meaning only together with others. */
function addCombined(query: QueryBuilder, set: ParameterSet): QueryFault | undefined {
  const { kind } = set;
  const filter: Filter | QueryFault | undefined = kind && parseLocationFilter(kind, query);
  if (filter instanceof QueryFault) return filter;
  if (filter) query.filters.push(filter);
  const around = parseAround(query);
  if (around instanceof QueryFault) return around;
  query.around = around;
  return undefined;
}

/** The parameters sorted by name, because their order has no meaning. Repetitions of one (`sort`) keep their order. */
function fingerprintOf(parameters: readonly QueryParameter[]): string {
  const sorted =
    parameters.length > 1 ? parameters.toSorted((a, b) => compareTexts(a.name, b.name)) : parameters;
  let fingerprint = "";
  for (const { name, value } of sorted) {
    if (name === "cursor" || name === "limit" || name === MIN_REVISION) continue;
    const separator = fingerprint === "" ? "" : "&";
    fingerprint += `${separator}${escapeSeparators(name)}=${escapeSeparators(value)}`;
  }
  return fingerprint;
}

/** Escapes the separators; otherwise two different queries could have the same fingerprint. */
const escapeSeparators = (text: string): string =>
  /[%&= ]/.test(text) ? text.replace(/[%&= ]/g, encodeURIComponent) : text;

/** The parameters that contradict each parameter. */
const CONFLICTS = [
  ["since", ["at", "limit", "cursor", "sort", "fields"]],
  ["diff", ["at", "since", "limit", "cursor", "sort", "fields"]],
  ["timeline", ["at", "since", "diff", "around", "drift"]],
  ["incident", ["since", "diff", "timeline", "around", "drift"]],
  ["count", ["since", "diff", "limit", "cursor", "sort", "fields"]],
] as const;

const conflict = (parameter: string, other: string): QueryFault =>
  badParameter(parameter, `cannot be combined with ${other}; leave one of them out.`);

function findConflict(query: QueryBuilder): QueryFault | undefined {
  if (query.parameters.length > 1) {
    for (const [first, others] of CONFLICTS) {
      const second = query.has(first) ? others.find((other) => query.has(other)) : undefined;
      if (second) return conflict(second, first);
    }
    if (query.format === "prometheus" && query.fields) return conflict("fields", "format=prometheus");
  }
  if (query.since === undefined && query.fold) return needsOther("fold", "since", "since=REVISION");
  if (query.timeline === undefined && (query.from !== undefined || query.to !== undefined))
    return needsOther(query.from !== undefined ? "from" : "to", "timeline", "timeline=N");
  if (query.cursor === "")
    return new QueryFault("bad-cursor", "cursor", "The cursor is empty; leave it out for the first page.");
  return undefined;
}
