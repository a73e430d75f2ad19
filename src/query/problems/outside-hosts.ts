/**
 * The hosts at devices outside the largest part: those of now, and those that were removed since the device was cut off, or
 * shortly before, because a source removes hosts that it no longer sees.
 */
import { COST, Pause, type Steps } from "../../lib/steps.ts";
import type { LocatedHosts } from "./located-hosts.ts";
import { type RepairedGraph, ROOT } from "./repaired-graph.ts";

/** One source may notice that hosts are gone before another one, or a later batch, says that the link is. */
const NOTICED_BEFORE_MS = 120_000;

/** What is known of a device outside. */
export interface Outside {
  readonly repaired: RepairedGraph;
  /** Whether it was joined with the largest part. */
  isJoined(device: string): boolean;
  /** Epoch milliseconds; infinite where nothing cuts it off. */
  cutOffSince(device: string): number;
}

/**
 * The number of hosts at a device. A host at several devices is outside where all of them are, and then it counts once: at the
 * first of them that was joined with the largest part.
 */
export function* countOutsideHosts(
  { at, groups, removed }: LocatedHosts,
  { repaired, isJoined, cutOffSince }: Outside,
): Steps<(device: string) => number> {
  const more = new Map<string, number>();
  const deviceOf = (devices: readonly string[]): string | undefined =>
    devices.every((id) => repaired.nodeOf(id) !== ROOT) ? (devices.find(isJoined) ?? devices[0]) : undefined;
  const add = (device: string, count: number) => more.set(device, (more.get(device) ?? 0) + count);
  const pause = new Pause();
  for (const { devices, count } of groups) {
    const device = deviceOf(devices);
    if (device !== undefined) add(device, count);
    if (pause.due(COST.key)) yield;
  }
  for (const { devices, time } of removed) {
    const device = deviceOf(devices);
    if (device !== undefined && cutOffSince(device) <= time + NOTICED_BEFORE_MS) add(device, 1);
    if (pause.due(COST.key)) yield;
  }
  return (device) => at(device) + (more.get(device) ?? 0);
}
