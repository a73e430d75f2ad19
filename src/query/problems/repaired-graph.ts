/**
 * The network as it would be without problems, seen from the largest part: a graph in which that part is one node, the
 * root, and each device outside of it is another node. All links count, whatever their state, and so do lost links. Devices
 * are in order of id, so that the result is the same on every node of a cluster.
 */
import { COST, Pause, type Steps, sortInSteps } from "../../lib/steps.ts";
import type { GraphDevice, LinkGraph } from "../../view/link-graph.ts";
import type { Parts } from "./parts.ts";

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
