/** A finding: something that is wrong in the network, before its consequences are computed. */
import type { NetworkProblem } from "../../model/network-problem.ts";

/** A problem without the fields that depend on all problems together. */
export interface Finding extends Omit<NetworkProblem, "severity" | "cutOff" | "causedBy" | "consequences"> {
  /** Set for drift if everything that the finding is about is intended and not observed. */
  readonly isMissing?: boolean;
}

export const isoTime = (ms: number): string => new Date(ms).toISOString();
