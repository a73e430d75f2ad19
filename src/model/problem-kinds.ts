/**
 * The kinds of problems of the network, apart from their schema, because the page and the table of parameters need no more.
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
