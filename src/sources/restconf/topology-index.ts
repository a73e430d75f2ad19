/**
 * Finds the node and the termination point at an end of a link. A network may have hundreds of thousands of links, so that
 * ends are looked up by the ids themselves and not by keys made of them.
 */
import { labelPoint } from "./naming.ts";
import type {
  HostRecord,
  NodeRecord,
  NodeRef,
  PointRecord,
  PointRef,
  TopologyRecords,
} from "./topology-records.ts";

/** The node of one or more hosts, and the ports that links connect it to. */
export interface HostNode {
  readonly kind: "host";
  readonly attachedTo: Set<PointRecord>;
}

type IndexedNode = HostNode | { readonly kind: "device"; readonly record: NodeRecord };
export type LinkEnd = HostNode | { readonly kind: "port"; readonly point: PointRecord };

export class TopologyIndex {
  readonly #networks = new Map<string, Map<string, IndexedNode>>();

  constructor({ nodes, hosts }: TopologyRecords) {
    for (const record of nodes) this.#add(record, { kind: "device", record });
    for (const host of hosts)
      if (!this.hostNodeOf(host)) this.#add(host, { kind: "host", attachedTo: new Set() });
  }

  hostNodeOf(host: HostRecord): HostNode | undefined {
    const node = this.#find(host);
    return node?.kind === "host" ? node : undefined;
  }

  /** The termination point of that id in any node of the network. */
  pointOf(network: string, point: string): PointRecord | undefined {
    const separator = point.lastIndexOf(":");
    const node = this.#find({ network, node: point.slice(0, separator) });
    return node?.kind === "device" ? node.record.points.get(point) : undefined;
  }

  /** Undefined when the network has no such node. A termination point that only a link refers to is added to its node. */
  endOf(end: PointRef): LinkEnd | undefined {
    const node = this.#find(end);
    if (node?.kind !== "device") return node;
    const known = node.record.points.get(end.point);
    if (known) return { kind: "port", point: known };
    const point = { ...end, label: labelPoint(end), supporting: [], facts: {} };
    node.record.points.set(end.point, point);
    return { kind: "port", point };
  }

  #find({ network, node }: NodeRef): IndexedNode | undefined {
    return this.#networks.get(network)?.get(node);
  }

  #add({ network, node }: NodeRef, indexed: IndexedNode): void {
    const nodes = this.#networks.get(network);
    if (nodes) nodes.set(node, indexed);
    else this.#networks.set(network, new Map([[node, indexed]]));
  }
}
