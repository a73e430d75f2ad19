/** What is found wrong, before it is known what it cuts off. */
import type { NetworkProblem } from "../../model/network-problem.ts";

/** A problem without what follows from all of them together. */
export type Finding = Omit<NetworkProblem, "severity" | "cutOff" | "causedBy" | "consequences">;

/** Entities that are looked at, or findings that are made, between two pauses. */
export const FINDINGS_PER_STEP = 200;

export const isoTime = (ms: number): string => new Date(ms).toISOString();
