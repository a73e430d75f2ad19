/**
 * The network as what problems cut off is computed from: its hosts by device, its parts, and the repaired graph.
 *
 * A part is a set of devices that active links join, in either direction. Clusters are strongly connected and leave out INDIRECT
 * links; a part is what people call connected. A host at several devices, as behind a pair of switches, is cut off only if
 * all of these are.
 */
import { COST, Pause, type Steps, sortInSteps } from "../../lib/steps.ts";
import { UnionFind } from "../../lib/union-find.ts";
import type { DeviceHostCounts } from "../../view/host-counts.ts";
import type { GraphDevice, LinkGraph } from "../../view/link-graph.ts";

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

/*
 * The network as it would be without problems, seen from the largest part: a graph in which that part is one node, the
 * root, and each device outside of it is another node. All links count, whatever their state, and so do lost links. Devices
 * are in order of id, so that the result is the same on every node of a cluster.
 */

/** The node of the largest part. */
export const ROOT = 0;

export interface DevicePair {
  readonly src: string;
  readonly dst: string;
}

/** The number of links between two nodes in each direction. One link in each direction is one cable. */
interface Joint {
  out: number;
  in: number;
}

export class RepairedGraph {
  /** The devices by node. The root has none. */
  readonly devices: readonly (GraphDevice | undefined)[];
  readonly #nodes: ReadonlyMap<string, number>;
  readonly #joints: Map<number, Joint>[] = [];
  readonly #graph: LinkGraph;

  constructor(graph: LinkGraph, devices: readonly (GraphDevice | undefined)[], nodes: Map<string, number>) {
    this.#graph = graph;
    this.devices = devices;
    this.#nodes = nodes;
  }

  /** Returns undefined for a device that does not exist. */
  nodeOf(id: string): number | undefined {
    return this.#nodes.get(id) ?? (this.#graph.hasDevice(id) ? ROOT : undefined);
  }

  join(from: number, to: number): void {
    if (from === to) return;
    this.#joint(from, to).out++;
    this.#joint(to, from).in++;
  }

  #joint(from: number, to: number): Joint {
    this.#joints[from] ??= new Map();
    const joint = this.#joints[from].get(to) ?? { out: 0, in: 0 };
    this.#joints[from].set(to, joint);
    return joint;
  }

  /** The neighbouring nodes in ascending order. */
  neighbours(node: number): number[] {
    return [...(this.#joints[node]?.keys() ?? [])].sort((a, b) => a - b);
  }

  /** The number of cables between two nodes. */
  cables(from: number, to: number): number {
    const joint = this.#joints[from]?.get(to);
    return joint ? Math.max(joint.out, joint.in) : 0;
  }
}

export function* buildRepairedGraph(
  graph: LinkGraph,
  { partOf, largest }: Parts,
  lost: readonly DevicePair[],
): Steps<RepairedGraph> {
  const outside: GraphDevice[] = [];
  const pause = new Pause();
  for (const [number, device] of graph.devices.entries()) {
    if (device?.available !== undefined && partOf(number) !== largest) outside.push(device);
    if (pause.due(COST.item)) yield;
  }
  const devices = [undefined, ...(yield* sortInSteps(outside, (a, b) => (a.id < b.id ? -1 : 1)))];
  const nodes = new Map<string, number>();
  for (const [node, device] of devices.entries()) {
    if (device) nodes.set(device.id, node);
    if (pause.due(COST.item)) yield;
  }
  const repaired = new RepairedGraph(graph, devices, nodes);
  for (const [node, device] of devices.entries()) {
    if (!device) continue;
    for (const { dst } of device.out) repaired.join(node, repaired.nodeOf(dst) ?? node);
    // A link between two devices outside is already counted at its source.
    for (const { src } of device.in) if (!nodes.has(src)) repaired.join(repaired.nodeOf(src) ?? node, node);
    if (pause.due((1 + device.out.length + device.in.length) * COST.item)) yield;
  }
  for (const pair of lost) {
    if (pause.due(COST.item)) yield;
    const [from, to] = [repaired.nodeOf(pair.src), repaired.nodeOf(pair.dst)];
    if (from !== undefined && to !== undefined) repaired.join(from, to);
  }
  return repaired;
}
