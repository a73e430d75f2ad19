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
  /** What the list shows, when all of it is unfolded. */
  readonly problems: readonly NetworkProblem[];
  /** The number of problems that are not acknowledged. */
  readonly waiting: readonly NetworkProblem[];
  readonly kinds: readonly KindGroup[];
}

interface ProblemFilter {
  /** Empty is all. */
  readonly severities: readonly ProblemSeverity[];
  /** Whether acknowledged problems are shown too. */
  readonly acknowledged: boolean;
}

/** The problems of one severity, worst first. */
interface SeveritySection {
  readonly all: NetworkProblem[];
  readonly waiting: NetworkProblem[];
  /** The number of those that wait and call for attention. */
  calls: number;
}

export type ProblemSections = Readonly<Record<ProblemSeverity, SeveritySection>>;

/** Whether somebody is to act on it: it follows from no other problem, and is more than a notice. */
export const callsForAttention = ({ causedBy, severity }: NetworkProblem): boolean =>
  causedBy === undefined && severity !== "notice";

/** One pass over a list that may be long and changes often; what is counted and shown comes from it. */
export function divideProblems(
  problems: readonly NetworkProblem[],
  isAcknowledged: (problem: NetworkProblem) => boolean,
): ProblemSections {
  const section = (): SeveritySection => ({ all: [], waiting: [], calls: 0 });
  const sections = {
    critical: section(),
    major: section(),
    minor: section(),
    warning: section(),
    notice: section(),
  };
  for (const problem of problems) {
    const section = sections[problem.severity];
    section.all.push(problem);
    if (isAcknowledged(problem)) continue;
    section.waiting.push(problem);
    if (callsForAttention(problem)) section.calls++;
  }
  return sections;
}

export function groupProblems(
  sections: ProblemSections,
  { severities, acknowledged }: ProblemFilter,
  more: ReadonlyMap<string, number>,
): SeverityGroup[] {
  const chosen = PROBLEM_SEVERITIES.filter((one) => severities.length === 0 || severities.includes(one));
  return chosen.flatMap((severity) => {
    const { all, waiting } = sections[severity];
    const problems = acknowledged ? all : waiting;
    if (problems.length === 0) return [];
    return { severity, problems, waiting, kinds: groupKinds(severity, problems, more) };
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

/** How many there are: all, and those that are not acknowledged. */
export function countProblems(sections: ProblemSections): { readonly all: number; readonly waiting: number } {
  let [all, waiting] = [0, 0];
  for (const section of Object.values(sections)) {
    all += section.all.length;
    waiting += section.waiting.length;
  }
  return { all, waiting };
}
