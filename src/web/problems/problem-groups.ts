/**
 * Groups the problems that match the filters by severity and kind. Only causes are grouped: a problem that follows from
 * another one is listed below that one. Of many problems of one severity and kind only the first are shown, so that a failed
 * site does not hide everything else.
 */
import { appendTo } from "../../lib/multimap.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { PROBLEM_SEVERITIES, type ProblemKind, type ProblemSeverity } from "../../model/problem-kinds.ts";

/** Number of problems of one kind and severity that are shown at first. */
const SHOWN_OF_KIND = 6;
/** Maximum number of problems that are all shown, because a button for one or two more is not worth it. */
const MAX_WITHOUT_BUTTON = SHOWN_OF_KIND + 2;
/** Number of problems that each press of the button adds. */
export const MORE_OF_KIND = 50;

export interface KindGroup {
  readonly kind: ProblemKind;
  /** The key of the group in the map of additionally shown problems. */
  readonly key: string;
  readonly shown: readonly NetworkProblem[];
  readonly rest: number;
}

export interface SeverityGroup {
  readonly severity: ProblemSeverity;
  /** The causes that match the filters. */
  readonly problems: readonly NetworkProblem[];
  /** The problems that are not acknowledged. */
  readonly waiting: readonly NetworkProblem[];
  readonly kinds: readonly KindGroup[];
}

interface ProblemFilter {
  /** The severities that are shown; an empty list means all. */
  readonly severities: readonly ProblemSeverity[];
  /** Whether acknowledged problems are shown too. */
  readonly acknowledged: boolean;
}

/** The problems of one severity that follow from no other one. */
interface SeveritySection {
  readonly all: NetworkProblem[];
  readonly waiting: NetworkProblem[];
}

export type ProblemSections = Readonly<Record<ProblemSeverity, SeveritySection>>;

/** Whether somebody should act on the problem: it follows from no other problem and is more than a notice. */
export const callsForAttention = ({ causedBy, severity }: NetworkProblem): boolean =>
  causedBy === undefined && severity !== "notice";

/** Divides the causes by severity, in one pass, because the list may be long and changes often. */
export function divideProblems(
  problems: readonly NetworkProblem[],
  isAcknowledged: (problem: NetworkProblem) => boolean,
): ProblemSections {
  const section = (): SeveritySection => ({ all: [], waiting: [] });
  const sections = {
    critical: section(),
    major: section(),
    minor: section(),
    warning: section(),
    notice: section(),
  };
  for (const problem of problems) {
    if (problem.causedBy !== undefined) continue;
    const section = sections[problem.severity];
    section.all.push(problem);
    if (!isAcknowledged(problem)) section.waiting.push(problem);
  }
  return sections;
}

/** The problems that follow from another one, by the id of that one. */
export function findFollowers(problems: readonly NetworkProblem[]): ReadonlyMap<string, NetworkProblem[]> {
  const followers = new Map<string, NetworkProblem[]>();
  for (const problem of problems)
    if (problem.causedBy !== undefined) appendTo(followers, problem.causedBy, problem);
  return followers;
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
  for (const problem of problems) appendTo(kinds, problem.kind, problem);
  return Array.from(kinds, ([kind, all]) => {
    const key = `${severity} ${kind}`;
    const limit = SHOWN_OF_KIND + (more.get(key) ?? 0);
    const shown = all.length <= MAX_WITHOUT_BUTTON ? all : all.slice(0, limit);
    return { kind, key, shown, rest: all.length - shown.length };
  });
}
