/**
 * The parts of a network: devices that active links join, in either direction. Clusters are strongly connected and leave
 * out INDIRECT links; a part is what people call connected.
 */
import { COST, Pause, type Steps } from "../../lib/steps.ts";
import { UnionFind } from "../../lib/union-find.ts";
import type { LinkGraph } from "../../view/link-graph.ts";
import type { LocatedHosts } from "./located-hosts.ts";

export interface Parts {
  /** The number that represents the part of a device (its number in the graph). An unavailable device is its own part. */
  partOf(device: number): number;
  /** The part with the most hosts, then the most devices, then the lowest id; undefined where no device is available. */
  readonly largest: number | undefined;
}

interface PartSize {
  hosts: number;
  devices: number;
  lowestId: string;
}

export function* findParts(graph: LinkGraph, hosts: LocatedHosts): Steps<Parts> {
  const { devices } = graph;
  const sets = new UnionFind<number>();
  const pause = new Pause();
  for (const [number, device] of devices.entries()) {
    if (!device?.available) continue;
    for (const { active, to } of device.out) if (active && devices[to]?.available) sets.union(number, to);
    if (pause.due((1 + device.out.length) * COST.item)) yield;
  }
  const sizes = new Map<number, PartSize>();
  for (const [number, device] of devices.entries()) {
    if (!device?.available) continue;
    const root = sets.find(number);
    const size = sizes.get(root);
    if (!size) sizes.set(root, { hosts: hosts.at(device.id), devices: 1, lowestId: device.id });
    else {
      size.hosts += hosts.at(device.id);
      size.devices++;
      if (device.id < size.lowestId) size.lowestId = device.id;
    }
    if (pause.due(COST.item)) yield;
  }
  for (const { devices: ids, count } of hosts.groups) {
    const numbers = ids.map((id) => graph.numberOf(id)).filter((number) => number !== undefined);
    // A host that is in two parts counts in both.
    for (const root of new Set(numbers.map((number) => sets.find(number)))) {
      const size = sizes.get(root);
      if (size) size.hosts += count;
    }
    if (pause.due(COST.item)) yield;
  }
  return { partOf: (device) => sets.find(device), largest: largestOf(sizes) };
}

function largestOf(sizes: ReadonlyMap<number, PartSize>): number | undefined {
  let largest: number | undefined;
  let best: PartSize | undefined;
  for (const [root, size] of sizes) {
    if (best && !isLarger(size, best)) continue;
    largest = root;
    best = size;
  }
  return largest;
}

const isLarger = (a: PartSize, b: PartSize): boolean =>
  a.hosts !== b.hosts
    ? a.hosts > b.hosts
    : a.devices !== b.devices
      ? a.devices > b.devices
      : a.lowestId < b.lowestId;
