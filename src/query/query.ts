/**
 * A parsed query: the parameters of a read, validated as far as that is possible without the network. `at`, `since`,
 * `diff` and `cursor` stay text here, because whether they exist depends on the history.
 */

import type { DriftState } from "../model/entity.ts";
import type { Filter } from "./filter.ts";
import type { Direction } from "./incidents.ts";
import type { QueryParameter } from "./parameter.ts";
import type { ProblemFilter } from "./problems/problem-filter.ts";

export interface SortKey {
  readonly field: string;
  readonly descending: boolean;
}

/** The neighbourhood of a device or host: the devices within `hops` links of it. */
export interface Around {
  readonly id: string;
  readonly hops: number;
}

const UNSORTED: readonly SortKey[] = [];

/** A query while it is parsed. All fields are set from the start, so that every query has the same object shape. */
export class QueryBuilder {
  readonly parameters: readonly QueryParameter[];
  readonly pageLimit: number;
  /** Whether a device may be named by its name, besides its id and its aliases. */
  readonly acceptsNames: boolean;
  /** Whether there are parameters that have a meaning only together with others. */
  hasCombined = false;
  filters: Filter[] = [];
  /** The filters of problems. */
  problemFilters: ProblemFilter[] = [];
  /** Whether entities that are intended and not observed are read too: see `missing.ts`. */
  includesMissing = false;
  /** The states that `drift` names. They are a filter too. */
  drift: readonly DriftState[] | undefined = undefined;
  around: Around | undefined = undefined;
  /** The fields in the response, in the order of the JSON. */
  fields: readonly string[] | undefined = undefined;
  sort: readonly SortKey[] = UNSORTED;
  limit: number | undefined = undefined;
  cursor: string | undefined = undefined;
  format: string | undefined = undefined;
  at: string | undefined = undefined;
  since: string | undefined = undefined;
  fold = false;
  diff: string | undefined = undefined;
  /** The text of `q`, which is also a filter of lists. */
  text: string | undefined = undefined;
  /** The field by which the entities are counted, in place of a list of them. */
  count: "device" | undefined = undefined;
  explain = false;
  timeline: number | undefined = undefined;
  incident: Direction | undefined = undefined;
  from: string | undefined = undefined;
  to: string | undefined = undefined;
  /** A text that is equal for two queries exactly when all parameters but `limit`, `cursor` and `min-revision` are equal. */
  fingerprint = "";
  /** The revision that the view must have reached before it is read. */
  minRevision: number | undefined = undefined;

  constructor(parameters: readonly QueryParameter[], pageLimit: number, acceptsNames: boolean) {
    this.parameters = parameters;
    this.pageLimit = pageLimit;
    this.acceptsNames = acceptsNames;
  }

  /** The search is linear, because a query has so few parameters that a map costs more. */
  find(name: string): QueryParameter | undefined {
    for (const parameter of this.parameters) if (parameter.name === name) return parameter;
    return undefined;
  }

  has(name: string): boolean {
    return this.find(name) !== undefined;
  }
}

/** The fields of a builder that only the parser uses, and those that it changes in place. */
type ParserField = "parameters" | "pageLimit" | "hasCombined" | "find" | "has" | "filters" | "problemFilters";

export interface ParsedQuery extends Readonly<Omit<QueryBuilder, ParserField>> {
  readonly filters: readonly Filter[];
  readonly problemFilters: readonly ProblemFilter[];
}
