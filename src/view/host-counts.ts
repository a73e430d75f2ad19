/**
 * How many hosts are located at each device, as a part of every state: a read of the counts needs no scan, and the counts
 * belong exactly to its revision. A host with several locations counts once at each of its devices.
 */
import { LayeredMap } from "../lib/layered-map.ts";
import type { Steps } from "../lib/steps.ts";
import type { HostLocation } from "../model/entity.ts";
import type { Collection } from "./collection.ts";

/** By the id of the device, as the locations have it. */
export type HostCounts = LayeredMap<string, number>;

export const NO_HOSTS: HostCounts = new LayeredMap();

/** The JSON of a host before and after a change; null where it does not exist. */
export interface HostChange {
  readonly before: string | null;
  readonly after: string | null;
}

const CHANGES_PER_STEP = 64;

/** The counts after these changes. Each host may change once. */
export function* withHostCounts(counts: HostCounts, changes: Iterable<HostChange>): Steps<HostCounts> {
  const deltas = new Map<string, number>();
  let left = CHANGES_PER_STEP;
  for (const { before, after } of changes) {
    const [old, now] = [locationsText(before), locationsText(after)];
    if (old !== now) {
      for (const device of devicesIn(old, before)) deltas.set(device, (deltas.get(device) ?? 0) - 1);
      for (const device of devicesIn(now, after)) deltas.set(device, (deltas.get(device) ?? 0) + 1);
    }
    if (--left > 0) continue;
    left = CHANGES_PER_STEP;
    yield;
  }
  return deltas.size === 0 ? counts : yield* counts.with(changedCounts(counts, deltas));
}

/** The counts of all hosts. */
export function* hostCountsOf(hosts: Collection): Steps<HostCounts> {
  const pages = yield* hosts.pages();
  function* added(): Generator<HostChange> {
    for (const page of pages) for (const i of page.ids.keys()) yield { before: null, after: page.value(i) };
  }
  return yield* withHostCounts(NO_HOSTS, added());
}

function* changedCounts(
  counts: HostCounts,
  deltas: ReadonlyMap<string, number>,
): Generator<[device: string, count: number | undefined]> {
  for (const [device, delta] of deltas)
    if (delta !== 0) yield [device, (counts.get(device) ?? 0) + delta || undefined];
}

const LOCATIONS = '"locations":[';

/**
 * The value of `locations` in the JSON of a host, which is a fraction of it: most changes of a host change other fields. No
 * string can look like the beginning, because quotes in strings are escaped. The end may be too early, where a string
 * contains it; then the text is no JSON.
 */
function locationsText(host: string | null): string {
  const at = host?.indexOf(LOCATIONS) ?? -1;
  if (host === null || at < 0) return "";
  const start = at + LOCATIONS.length - 1;
  return host.slice(start, host.indexOf("]", start) + 1);
}

function devicesIn(locations: string, host: string | null): Iterable<string> {
  if (locations === "" || host === null) return [];
  const parsed = parseLocations(locations, host);
  const [first] = parsed;
  return first && parsed.length === 1 ? [first.elementId] : new Set(parsed.map(({ elementId }) => elementId));
}

function parseLocations(locations: string, host: string): readonly HostLocation[] {
  try {
    return JSON.parse(locations);
  } catch {
    return JSON.parse(host).locations;
  }
}
