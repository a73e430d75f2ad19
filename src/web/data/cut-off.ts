/**
 * Finds the devices that are cut off: available devices that are outside the largest part of the network (by hosts) because
 * of faults elsewhere. A part is a set of available devices that active cables join. A device that is not joined with the
 * largest part even when every device is up and every cable is active is separate, not cut off. Lost cables are in no list
 * of links, so they come from the problems.
 */
import { computed, effect } from "@preact/signals";
import { UnionFind } from "../../lib/union-find.ts";
import type { Cable } from "../../model/cable.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { SlicedWork } from "./pacing.ts";
import type { PageNetwork } from "./page-network.ts";
import type { PageStore } from "./page-store.ts";

type Pair = readonly [device: string, other: string];

const pairOf = ({ from, to }: Cable): Pair => [from.device, to.device];

/** Keeps the devices that are cut off in the shown network up to date. */
export function syncCutOff({ live, past, networkVersion, problems }: PageStore): void {
  const network = computed(() => past.value ?? live.value);
  const lost = computed(() => lostPairs(problems.shown.value.problems));
  let done: readonly unknown[] = [];
  const keyOf = (of: PageNetwork) => [of, of.version, lost.peek()];
  const work = new SlicedWork(function* () {
    const current = network.peek();
    if (!current) return;
    const key = keyOf(current);
    if (key.every((part, i) => part === done[i])) return;
    done = key;
    const ids = yield* findCutOff(current, lost.peek());
    if (isSameSet(ids, current.cutOff.ids)) return;
    const isUnchanged = done[1] === current.version;
    current.setCutOff(ids);
    // The new version is no reason to search again, unless the network changed during the search.
    if (isUnchanged) done = keyOf(current);
    networkVersion.value++;
  }, reportError);
  effect(() => {
    void [network.value, networkVersion.value, lost.value];
    work.request();
  });
}

function lostPairs(problems: readonly NetworkProblem[]): Pair[] {
  return problems.flatMap(({ kind, link }) =>
    kind === "link-lost" && link ? [[link.src.device, link.dst.device] as const] : [],
  );
}

const isSameSet = (p: ReadonlySet<string>, q: ReadonlySet<string>): boolean =>
  p.size === q.size && [...p].every((id) => q.has(id));

export function* findCutOff(network: PageNetwork, lost: readonly Pair[]): Generator<void, Set<string>> {
  const cutOff = new Set<string>();
  // Mostly a network has no fault, and joining its devices costs much more than looking for one.
  if (lost.length === 0 && !(yield* hasFault(network))) return cutOff;
  const { devices, cables } = network;
  const parts = new UnionFind<string>();
  for (const cable of cables.values()) {
    yield;
    const [a, b] = pairOf(cable);
    if (cable.active && devices.get(a)?.available && devices.get(b)?.available) parts.union(a, b);
  }
  const sizes = new Map<string, PartSize>();
  for (const { id, available } of devices.values()) {
    yield;
    if (available) addDevice(sizes, parts.find(id), id, network.hostCount(id));
  }
  const largest = largestOf(sizes);
  if (largest === undefined) return cutOff;
  const repaired = new UnionFind<string>();
  for (const cable of cables.values()) {
    yield;
    repaired.union(...pairOf(cable));
  }
  for (const pair of lost) repaired.union(...pair);
  for (const { id, available } of devices.values()) {
    yield;
    const isOutside = available && parts.find(id) !== largest;
    if (isOutside && repaired.find(id) === repaired.find(largest)) cutOff.add(id);
  }
  return cutOff;
}

/** Whether a device is down or a cable is inactive. */
function* hasFault({ devices, cables }: PageNetwork): Generator<void, boolean> {
  for (const { available } of devices.values()) {
    yield;
    if (!available) return true;
  }
  for (const { active } of cables.values()) {
    yield;
    if (!active) return true;
  }
  return false;
}

interface PartSize {
  hosts: number;
  devices: number;
  lowestId: string;
}

function addDevice(sizes: Map<string, PartSize>, part: string, id: string, hosts: number): void {
  const size = sizes.get(part);
  if (!size) sizes.set(part, { hosts, devices: 1, lowestId: id });
  else {
    size.hosts += hosts;
    size.devices++;
    if (id < size.lowestId) size.lowestId = id;
  }
}

/** The part with the most hosts, then the most devices, then the lowest id, as the service finds it for problems. */
function largestOf(sizes: ReadonlyMap<string, PartSize>): string | undefined {
  let best: (PartSize & { readonly part: string }) | undefined;
  for (const [part, size] of sizes) {
    const difference = best ? size.hosts - best.hosts || size.devices - best.devices : 1;
    if (!best || difference > 0 || (difference === 0 && size.lowestId < best.lowestId))
      best = { part, ...size };
  }
  return best?.part;
}

/**
 * The devices that a problem cuts off. The service lists at most 100 of them, nearest to the largest part first; the rest
 * are the devices behind these that are cut off or down.
 */
export function devicesCutOffBy(
  { cutOff, devices, link }: NetworkProblem,
  network: PageNetwork,
): Set<string> {
  const found = new Set(cutOff.devices);
  if (cutOff.deviceCount <= found.size) return found;
  for (const id of found) {
    // The way to the largest part leads through the device of the problem, so the search does not pass it.
    if (!link && devices.includes(id)) continue;
    for (const cable of network.cablesOf(id))
      for (const other of pairOf(cable)) {
        const device = network.devices.get(other);
        if (device && (!device.available || network.cutOff.ids.has(other))) found.add(other);
      }
  }
  return found;
}
