/**
 * What the list shows of the problems: those that the filters match, by severity. Where many of one severity are of one
 * kind, only the first of them, so that a failed site does not hide everything else.
 */
import type { NetworkProblem } from "../../model/network-problem.ts";
import { PROBLEM_SEVERITIES, type ProblemKind, type ProblemSeverity } from "../../model/problem-kinds.ts";

/** The problems of one kind and severity that are shown at first. */
const SHOWN_OF_KIND = 6;
/** One more than that is shown instead of a button. */
const MAX_WITHOUT_BUTTON = SHOWN_OF_KIND + 2;
/** How many more each press of the button shows. */
export const MORE_OF_KIND = 50;

export interface KindGroup {
  readonly kind: ProblemKind;
  /** The name of the group, to show more of it. */
  readonly key: string;
  readonly shown: readonly NetworkProblem[];
  readonly rest: number;
}

export interface SeverityGroup {
  readonly severity: ProblemSeverity;
  readonly problems: readonly NetworkProblem[];
  readonly kinds: readonly KindGroup[];
}

export interface ProblemFilter {
  /** Empty is all. */
  readonly severities: readonly ProblemSeverity[];
  /** Whether acknowledged problems are shown too. */
  readonly acknowledged: boolean;
}

export function groupProblems(
  problems: readonly NetworkProblem[],
  { severities, acknowledged }: ProblemFilter,
  isAcknowledged: (problem: NetworkProblem) => boolean,
  more: ReadonlyMap<string, number>,
): SeverityGroup[] {
  const chosen = PROBLEM_SEVERITIES.filter((one) => severities.length === 0 || severities.includes(one));
  return chosen.flatMap((severity) => {
    const matching = problems.filter(
      (problem) => problem.severity === severity && (acknowledged || !isAcknowledged(problem)),
    );
    if (matching.length === 0) return [];
    return { severity, problems: matching, kinds: groupKinds(severity, matching, more) };
  });
}

function groupKinds(
  severity: ProblemSeverity,
  problems: readonly NetworkProblem[],
  more: ReadonlyMap<string, number>,
): KindGroup[] {
  const kinds = new Map<ProblemKind, NetworkProblem[]>();
  for (const problem of problems) {
    const group = kinds.get(problem.kind);
    if (group) group.push(problem);
    else kinds.set(problem.kind, [problem]);
  }
  return Array.from(kinds, ([kind, all]) => {
    const key = `${severity} ${kind}`;
    const limit = SHOWN_OF_KIND + (more.get(key) ?? 0);
    const shown = all.length <= MAX_WITHOUT_BUTTON ? all : all.slice(0, limit);
    return { kind, key, shown, rest: all.length - shown.length };
  });
}

export function countSeverities(problems: readonly NetworkProblem[]): Record<ProblemSeverity, number> {
  const counts = { critical: 0, major: 0, minor: 0, warning: 0 };
  for (const { severity } of problems) counts[severity]++;
  return counts;
}
