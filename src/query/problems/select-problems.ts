/** Selects the problems that match a query, and counts problems by kind and severity. */
import { COST, Pause, type Steps } from "../../lib/steps.ts";
import {
  PROBLEM_KINDS,
  type ProblemKind,
  type ProblemSeverity,
  severitiesOf,
} from "../../model/problem-kinds.ts";
import type { NetworkState } from "../../view/view.ts";
import { DeviceResolver } from "../bound-filters.ts";
import { AmbiguousNameFault, type QueryFault } from "../fault.ts";
import type { ParsedQuery } from "../query.ts";
import type { ListedProblem, ProblemList } from "./problem-list.ts";

export interface SelectedProblems {
  /** The selected problems, worst first. */
  readonly problems: readonly ListedProblem[];
  /** The number of selected problems of every kind, in the order of kinds. */
  readonly counts: ReadonlyMap<ProblemKind, number>;
}

type ProblemQuery = Pick<ParsedQuery, "problemFilters" | "acceptsNames"> & Partial<Pick<ParsedQuery, "at">>;

/** The fault of a query with a device name that several devices have in this state. Such a query matches no problem. */
export function findFilterAmbiguity(query: ProblemQuery, state: NetworkState): QueryFault | undefined {
  const devices = new DeviceResolver(state, query);
  for (const bind of query.problemFilters) bind(devices);
  return devices.ambiguous && new AmbiguousNameFault(devices.ambiguous);
}

/** Selects problems; names of devices are resolved in `state`. */
export function* selectProblems(
  list: ProblemList,
  query: ProblemQuery,
  state: NetworkState,
): Steps<SelectedProblems> {
  const devices = new DeviceResolver(state, query);
  const filters = query.problemFilters.map((filter) => filter(devices));
  // Historical lists have no unknown devices: their claims were corrected since, or the newest list has them.
  if (query.at !== undefined) filters.push(({ problem }) => problem.kind !== "device-unknown");
  const counts = new Map<ProblemKind, number>(PROBLEM_KINDS.map((kind) => [kind, 0]));
  const problems: ListedProblem[] = [];
  const pause = new Pause();
  for (const listed of list.problems) {
    if (filters.every((matches) => matches(listed))) {
      const { kind } = listed.problem;
      problems.push(listed);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    if (pause.due(COST.key)) yield;
  }
  return { problems, counts };
}

/** The number of problems of each possible kind and severity, in the order of kinds. */
export function* countBySeverity(
  list: ProblemList,
): Steps<{ readonly kind: ProblemKind; readonly severity: ProblemSeverity; readonly count: number }[]> {
  const counts = new Map<string, number>();
  const pause = new Pause();
  for (const listed of list.problems) {
    if (pause.due(COST.key)) yield;
    const key = `${listed.problem.kind} ${listed.problem.severity}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return PROBLEM_KINDS.flatMap((kind) =>
    severitiesOf(kind).map((severity) => ({ kind, severity, count: counts.get(`${kind} ${severity}`) ?? 0 })),
  );
}
