/**
 * Gives the calling thread less of a busy processor than the thread that serves requests: reading a network can wait for a
 * moment, a reader should not. Only Linux has priorities of threads; elsewhere nothing happens.
 */
import { readlinkSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { basename } from "node:path";

/** Steps of `nice`: the thread gets about a third of the share of one that serves requests. */
const STEPS = 5;

export function lowerPriority(): void {
  try {
    const thread = Number(basename(readlinkSync("/proc/thread-self")));
    setPriority(thread, Math.min(constants.priority.PRIORITY_LOW, getPriority(thread) + STEPS));
  } catch {
    // No such file, or not permitted: the thread runs at the priority of the process.
  }
}
