/** What is found wrong, before it is known what follows from it. */
import type { NetworkProblem } from "../../model/network-problem.ts";

/** A problem without what follows from all of them together. */
export interface Finding extends Omit<NetworkProblem, "severity" | "cutOff" | "causedBy" | "consequences"> {
  /** It is drift, and all of what it is about is intended and not observed. */
  readonly isMissing?: boolean;
}

export const isoTime = (ms: number): string => new Date(ms).toISOString();
