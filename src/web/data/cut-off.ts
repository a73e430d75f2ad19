/**
 * Finds the devices that are cut off: available devices that are outside the largest part of the network (by hosts) because
 * of faults elsewhere. A part is a set of available devices that active cables join. A device that is not joined with the
 * largest part even when every device is up and every cable is active is separate, not cut off. Lost cables are in no list
 * of links, so they come from the problems.
 */
import { computed, effect } from "@preact/signals";
import { Multimap } from "../../lib/multimap.ts";
import type { Cable } from "../../model/cable.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { SlicedWork } from "./pacing.ts";
import type { PageNetwork } from "./page-network.ts";
import type { PageStore } from "./page-store.ts";

type Pair = readonly [device: string, other: string];

const pairOf = ({ from, to }: Cable): Pair => [from.device, to.device];

/** The share of the time of the page that the search for parts may take: it reads the whole network after each change. */
const MAX_SHARE = 0.05;

/**
 * Keeps the devices that are cut off in the shown network up to date. The parts are found again when a device, a link or a
 * lost cable has changed. A change of hosts may only make another part the largest.
 */
export function syncCutOff({ live, past, networkVersion, problems }: PageStore): void {
  const network = computed(() => past.value ?? live.value);
  const lost = computed(() =>
    problems.listedLost.value.flatMap(({ link }): Pair[] =>
      link ? [[link.src.device, link.dst.device]] : [],
    ),
  );
  let parts: readonly Part[] = [];
  let partsKey: readonly unknown[] = [];
  let hostsVersion = -1;
  const work = new SlicedWork(
    function* () {
      const current = network.peek();
      if (!current) return;
      const key = [current, current.graphVersion, lost.peek()];
      const isSame = key.every((value, i) => value === partsKey[i]);
      if (isSame && hostsVersion === current.openedHosts.version) return;
      partsKey = key;
      hostsVersion = current.openedHosts.version;
      if (!isSame) parts = yield* findParts(current, lost.peek());
      const ids = yield* outsideLargest(parts, current, lost.peek());
      if (isSameSet(ids, current.cutOff.ids)) return;
      current.setCutOff(ids);
      networkVersion.value++;
    },
    reportError,
    MAX_SHARE,
  );
  effect(() => {
    void [network.value, networkVersion.value, lost.value];
    work.request();
  });
}

const isSameSet = (p: ReadonlySet<string>, q: ReadonlySet<string>): boolean =>
  p.size === q.size && [...p].every((id) => q.has(id));

/** The ids of available devices that active cables join. */
type Part = ReadonlySet<string>;

/** The parts of the network; none if it has no fault, because then nothing is cut off. */
export function* findParts(network: PageNetwork, lost: readonly Pair[]): Generator<void, Part[]> {
  const { devices } = network;
  const parts: Part[] = [];
  // Mostly a network has no fault, and finding its parts costs much more than looking for one.
  if (lost.length === 0 && !(yield* hasFault(network))) return parts;
  const isUp = (id: string) => devices.get(id)?.available === true;
  const activeNeighbours = (id: string) =>
    network.cablesOf(id).flatMap((cable) => (cable.active ? pairOf(cable).filter(isUp) : []));
  const seen = new Set<string>();
  for (const { id, available } of devices.values()) {
    yield;
    if (!available || seen.has(id)) continue;
    const part = new Set([id]);
    yield* extend(part, activeNeighbours);
    for (const member of part) seen.add(member);
    parts.push(part);
  }
  return parts;
}

/** Adds all devices that are joined with the found ones. Ends early, and returns true, at a device that is an end. */
function* extend(
  found: Set<string>,
  neighboursOf: (id: string) => readonly string[],
  isEnd: (id: string) => boolean = () => false,
): Generator<void, boolean> {
  for (const id of found) {
    yield;
    if (isEnd(id)) return true;
    for (const neighbour of neighboursOf(id)) found.add(neighbour);
  }
  return false;
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

/** The devices outside the largest part that would be joined with it if every device were up and every cable active. */
export function* outsideLargest(
  parts: readonly Part[],
  network: PageNetwork,
  lost: readonly Pair[],
): Generator<void, Set<string>> {
  const cutOff = new Set<string>();
  if (parts.length < 2) return cutOff;
  const largest = yield* largestOf(parts, network);
  const lostNeighbours = new Multimap<string, string>();
  for (const [a, b] of lost) {
    lostNeighbours.add(a, b);
    lostNeighbours.add(b, a);
  }
  const neighboursOf = (id: string) => [...network.cablesOf(id).flatMap(pairOf), ...lostNeighbours.of(id)];
  const joined = new Set<string>();
  const separate = new Set<string>();
  for (const part of parts) {
    const [first] = part;
    if (part === largest || first === undefined) continue;
    if (!joined.has(first) && !separate.has(first)) {
      const found = new Set([first]);
      const isJoined = yield* extend(found, neighboursOf, (id) => largest?.has(id) || joined.has(id));
      for (const id of found) (isJoined ? joined : separate).add(id);
    }
    if (joined.has(first)) for (const id of part) cutOff.add(id);
  }
  return cutOff;
}

/** The part with the most hosts, then the most devices, then the lowest id, as the service finds it for problems. */
function* largestOf(parts: readonly Part[], network: PageNetwork): Generator<void, Part | undefined> {
  let best: { readonly part: Part; readonly hosts: number; readonly lowestId: string } | undefined;
  for (const part of parts) {
    let [hosts, lowestId] = [0, ""];
    for (const id of part) {
      yield;
      hosts += network.hostCount(id);
      if (lowestId === "" || id < lowestId) lowestId = id;
    }
    const difference = best ? hosts - best.hosts || part.size - best.part.size : 1;
    if (!best || difference > 0 || (difference === 0 && lowestId < best.lowestId))
      best = { part, hosts, lowestId };
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
