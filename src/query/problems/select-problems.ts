/** Selects the problems that match a query, and counts them by kind. */
import type { Steps } from "../../lib/steps.ts";
import { PROBLEM_KINDS, type ProblemKind } from "../../model/problem-kinds.ts";
import type { Query } from "../query.ts";
import type { NamesDevices } from "./problem-filter.ts";
import type { ListedProblem, ProblemList } from "./problem-list.ts";

const PROBLEMS_PER_STEP = 500;

export interface SelectedProblems {
  /** Worst first. */
  readonly problems: readonly ListedProblem[];
  /** Of every kind, in their order. */
  readonly counts: ReadonlyMap<ProblemKind, number>;
}

/** Names of devices mean what they mean in `state`. */
export function* selectProblems(
  list: ProblemList,
  { problemFilters }: Pick<Query, "problemFilters">,
  state: NamesDevices,
): Steps<SelectedProblems> {
  const filters = problemFilters.map((filter) => filter(state));
  const counts = new Map<ProblemKind, number>(PROBLEM_KINDS.map((kind) => [kind, 0]));
  const problems: ListedProblem[] = [];
  let left = PROBLEMS_PER_STEP;
  for (const listed of list.problems) {
    if (filters.every((matches) => matches(listed))) {
      const { kind } = listed.problem;
      problems.push(listed);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    if (--left > 0) continue;
    left = PROBLEMS_PER_STEP;
    yield;
  }
  return { problems, counts };
}
