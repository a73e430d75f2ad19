/**
 * The hosts of the network by the devices that they are at. A host at several devices, as behind a pair of switches, is cut
 * off only if all of these are.
 */
import { COST, Pause, type Steps } from "../../lib/steps.ts";
import type { DeviceHostCounts } from "../../view/host-counts.ts";

/** Hosts that are at the same two or more devices. */
export interface HostGroup {
  /** The devices; that of the first location comes first. */
  readonly devices: readonly string[];
  readonly count: number;
}

export interface RemovedHost {
  /** The devices that it was at; that of its first location comes first. */
  readonly devices: readonly string[];
  /** Epoch milliseconds of its removal. */
  readonly time: number;
}

export interface LocatedHosts {
  /** The number of hosts that are only at this device. */
  at(device: string): number;
  readonly groups: readonly HostGroup[];
  /** Hosts that are no longer known. */
  readonly removed: Iterable<RemovedHost>;
}

export function* locateHosts(
  { located, multihomed }: DeviceHostCounts,
  removed: Iterable<RemovedHost>,
): Steps<LocatedHosts> {
  const groups: HostGroup[] = [];
  const inGroups = new Map<string, number>();
  const pause = new Pause();
  for (const entry of multihomed.entries()) {
    if (pause.due(COST.key)) yield;
    const [key, count] = entry;
    const devices: readonly string[] = JSON.parse(key);
    groups.push({ devices, count });
    for (const device of devices) inGroups.set(device, (inGroups.get(device) ?? 0) + count);
  }
  return { at: (device) => (located.get(device) ?? 0) - (inGroups.get(device) ?? 0), groups, removed };
}
