/**
 * The number of hosts located at each device, as a part of every state: reading the counts needs no scan, and they belong
 * exactly to the revision of the state.
 */
import { LayeredMap } from "../lib/layered-map.ts";
import { COST, Pause, type Steps } from "../lib/steps.ts";
import type { Host, HostLocation } from "../model/entity.ts";
import type { Collection } from "./collection.ts";
import { additionsOn } from "./encoded-page.ts";

/** The counts by the id of the device, as it is in the locations. */
export interface DeviceHostCounts {
  /** The number of hosts at each device. A host with several locations counts once at each of its devices. */
  readonly located: LayeredMap<string, number>;
  /**
   * The number of hosts at several devices, by the JSON of the list of these devices, that of the first location first.
   * There are few lists, because such hosts occur in groups, as behind a pair of switches.
   */
  readonly multihomed: LayeredMap<string, number>;
}

export const NO_HOSTS: DeviceHostCounts = { located: new LayeredMap(), multihomed: new LayeredMap() };

/** The JSON of a host before and after a change; null where it does not exist. */
export interface HostChange {
  readonly before: string | null;
  readonly after: string | null;
}

/** Returns the counts after these changes. Each host may change once. */
export function* withHostCounts(
  counts: DeviceHostCounts,
  changes: Iterable<HostChange>,
): Steps<DeviceHostCounts> {
  const counter = new HostCounter();
  const pause = new Pause();
  for (const change of changes) {
    counter.add(change);
    if (pause.due(COST.entity, change.before?.length, change.after?.length)) yield;
  }
  return yield* counter.addTo(counts);
}

/** Collects changes of the counts. */
export class HostCounter {
  readonly #located = new Deltas();
  readonly #multihomed = new Deltas();

  add({ before, after }: HostChange): void {
    const [old, now] = [locationsText(before), locationsText(after)];
    if (old === now) return;
    this.#change(devicesIn(old, before), -1);
    this.#change(devicesIn(now, after), 1);
  }

  /** Adds the number of hosts at a device. Those at several devices must be added with `addMultihomed` too. */
  addLocated(device: string, count: number): void {
    this.#located.add(device, count);
  }

  /** Does nothing for a host at one device. */
  addMultihomed({ locations }: Pick<Host, "locations">): void {
    const devices = distinctDevices(locations);
    if (devices.length > 1) this.#multihomed.add(JSON.stringify(devices), 1);
  }

  #change(devices: readonly string[], by: number): void {
    for (const device of devices) this.#located.add(device, by);
    if (devices.length > 1) this.#multihomed.add(JSON.stringify(devices), by);
  }

  *addTo({ located, multihomed }: DeviceHostCounts): Steps<DeviceHostCounts> {
    return {
      located: yield* this.#located.addTo(located),
      multihomed: yield* this.#multihomed.addTo(multihomed),
    };
  }
}

/** Changes of counts by key. */
class Deltas {
  readonly #byKey = new Map<string, number>();

  add(key: string, change: number): void {
    const delta = (this.#byKey.get(key) ?? 0) + change;
    if (delta === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, delta);
  }

  *addTo(counts: LayeredMap<string, number>): Steps<LayeredMap<string, number>> {
    return this.#byKey.size === 0 ? counts : yield* counts.with(this.#sums(counts));
  }

  *#sums(counts: LayeredMap<string, number>): Generator<[key: string, count: number | undefined]> {
    for (const [key, delta] of this.#byKey) yield [key, (counts.get(key) ?? 0) + delta || undefined];
  }
}

/** Counts all hosts. */
export function* hostCountsOf(hosts: Collection): Steps<DeviceHostCounts> {
  return yield* withHostCounts(NO_HOSTS, additionsOn(yield* hosts.pages()));
}

const LOCATIONS = '"locations":[';
/** Most hosts have one location, whose device is read without parsing the rest. */
const ONE_LOCATION = /^\[\{"elementId":("[^"\\]*"),"port":"[^"\\]*"\}\]$/;
const NO_DEVICES: readonly string[] = [];

/**
 * The value of `locations` in the JSON of a host. It is compared first, because most changes of a host change other fields.
 * No string can contain the start marker, because quotes in strings are escaped. The end may be found too early if a string
 * contains a bracket; then the text is not valid JSON.
 */
function locationsText(host: string | null): string {
  const at = host?.indexOf(LOCATIONS) ?? -1;
  if (host === null || at < 0) return "";
  const start = at + LOCATIONS.length - 1;
  return host.slice(start, host.indexOf("]", start) + 1);
}

function devicesIn(locations: string, host: string | null): readonly string[] {
  if (locations === "" || host === null) return NO_DEVICES;
  const single = ONE_LOCATION.exec(locations)?.[1];
  // The value is parsed and not sliced, because a slice keeps the whole string in memory.
  if (single !== undefined) return [JSON.parse(single)];
  return distinctDevices(parseLocations(locations, host));
}

/** The devices without duplicates, that of the first location first. */
function distinctDevices(locations: readonly HostLocation[]): readonly string[] {
  const devices = locations.map(({ elementId }) => elementId);
  return devices.length === 1 ? devices : [...new Set(devices)];
}

function parseLocations(locations: string, host: string): readonly HostLocation[] {
  try {
    return JSON.parse(locations);
  } catch {
    return JSON.parse(host).locations;
  }
}
