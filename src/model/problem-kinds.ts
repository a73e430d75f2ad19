/**
 * The kinds of problems of the network and their order, apart from the schema, because the page needs no more.
 */

/** Worst first. */
export const PROBLEM_KINDS = [
  "device-unavailable",
  "link-inactive",
  "link-one-sided",
  "link-lost",
  "host-moved",
  "host-duplicated",
  "conflict",
  "drift",
  "source-stale",
] as const;
export type ProblemKind = (typeof PROBLEM_KINDS)[number];

/** Worst first. */
export const PROBLEM_SEVERITIES = ["critical", "major", "minor", "warning"] as const;
export type ProblemSeverity = (typeof PROBLEM_SEVERITIES)[number];

export const PROBLEM_RESOURCES = ["devices", "ports", "links", "hosts", "sources"] as const;
export type ProblemResource = (typeof PROBLEM_RESOURCES)[number];

interface Comparable {
  readonly id: string;
  readonly severity: ProblemSeverity;
  readonly kind: ProblemKind;
  readonly since: string;
  readonly cutOff: { readonly deviceCount: number; readonly hostCount: number };
}

/** Worst first; of equally bad ones that which cuts off more, then the newest. */
export function compareProblems(a: Comparable, b: Comparable): number {
  return (
    PROBLEM_SEVERITIES.indexOf(a.severity) - PROBLEM_SEVERITIES.indexOf(b.severity) ||
    PROBLEM_KINDS.indexOf(a.kind) - PROBLEM_KINDS.indexOf(b.kind) ||
    b.cutOff.hostCount - a.cutOff.hostCount ||
    b.cutOff.deviceCount - a.cutOff.deviceCount ||
    compareTexts(b.since, a.since) ||
    compareTexts(a.id, b.id)
  );
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
