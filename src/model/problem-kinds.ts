/**
 * The kinds of network problems, their severities and their order. They are apart from the schema, because the page needs
 * only them.
 */
import { compareTexts } from "../lib/sorted.ts";

/** The severities, worst first. A notice is listed but is no reason to act, so counts of what needs attention leave it out. */
export const PROBLEM_SEVERITIES = ["critical", "major", "minor", "warning", "notice"] as const;
export type ProblemSeverity = (typeof PROBLEM_SEVERITIES)[number];

interface KindTraits {
  /** The severity of a problem that cuts off nothing. A problem that cuts off devices is critical. */
  readonly severity: ProblemSeverity;
  /** Whether a problem of this kind may cut off devices. */
  readonly cutsOff?: true;
}

/** One row per kind. Among problems of one severity, those of an earlier row come first in the list. */
export const KIND_TRAITS = {
  "device-unavailable": { severity: "critical", cutsOff: true },
  "link-inactive": { severity: "major", cutsOff: true },
  "link-one-sided": { severity: "major" },
  "link-lost": { severity: "major", cutsOff: true },
  "source-failed": { severity: "major" },
  "host-duplicated": { severity: "minor" },
  conflict: { severity: "minor" },
  "source-stale": { severity: "warning" },
  "device-unknown": { severity: "warning" },
  drift: { severity: "warning" },
  "host-moved": { severity: "notice" },
} as const satisfies Readonly<Record<string, KindTraits>>;
export type ProblemKind = keyof typeof KIND_TRAITS;

/** All kinds in the order of the rows. */
export const PROBLEM_KINDS: readonly ProblemKind[] = Object.keys(KIND_TRAITS).filter(
  (kind): kind is ProblemKind => kind in KIND_TRAITS,
);

/** The severities that problems of the kind may have, worst first. */
export function severitiesOf(kind: ProblemKind): readonly ProblemSeverity[] {
  const { severity } = KIND_TRAITS[kind];
  return mayCutOff(kind) && severity !== "critical" ? ["critical", severity] : [severity];
}

export const mayCutOff = (kind: ProblemKind): boolean => "cutsOff" in KIND_TRAITS[kind];

export const PROBLEM_RESOURCES = ["devices", "ports", "links", "hosts", "sources"] as const;
export type ProblemResource = (typeof PROBLEM_RESOURCES)[number];

interface Comparable {
  readonly id: string;
  readonly severity: ProblemSeverity;
  readonly kind: ProblemKind;
  readonly since: string;
  readonly cutOff: { readonly deviceCount: number; readonly hostCount: number };
}

/** Sorts the worst first: by severity, then kind, then the number of hosts and devices that are cut off, then the newest. */
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
