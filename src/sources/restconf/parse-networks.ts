/**
 * Reads `ietf-network:networks` (RFC 8345) and OpenDaylight's `network-topology:network-topology`, which is an early
 * draft of the same model with other names, into records of one kind. A malformed record is a fault and is left out.
 */

import { readLinkFacts, readNodeFacts, readPointFacts, readPointNumber } from "./layer-facts.ts";
import { labelPoint, nameNode } from "./naming.ts";
import { parseHostNode } from "./parse-host-node.ts";
import type {
  HostRecord,
  NodeRecord,
  NodeRef,
  PointRecord,
  PointRef,
  TopologyRecords,
} from "./topology-records.ts";
import { container, leafText, leafTexts, listEntries, type OnFault, type YangObject } from "./yang-json.ts";

interface Dialect {
  readonly root: string;
  readonly network: string;
  readonly networkId: string;
  readonly networkRef: string;
  readonly node: string;
  readonly point: string;
  readonly link: string;
}

export const IETF_NETWORK: Dialect = {
  root: "ietf-network:networks",
  network: "ietf-network:network",
  networkId: "ietf-network:network-id",
  networkRef: "ietf-network:network-ref",
  node: "ietf-network:node",
  point: "ietf-network-topology:termination-point",
  link: "ietf-network-topology:link",
};

export const NETWORK_TOPOLOGY: Dialect = {
  root: "network-topology:network-topology",
  network: "network-topology:topology",
  networkId: "network-topology:topology-id",
  networkRef: "network-topology:topology-ref",
  node: "network-topology:node",
  point: "network-topology:termination-point",
  link: "network-topology:link",
};

/**
 * In the draft a reference lacks a part, and each candidate for that part makes one more: few, so that a document of some
 * megabytes does not make many millions. What is over more than these joins none of them anyway (join-layers.ts).
 */
const MAX_CANDIDATES = 16;

/** Adds the records of one document to `records`. */
export function parseNetworks(
  document: YangObject,
  dialect: Dialect,
  records: TopologyRecords,
  onFault: OnFault,
): void {
  for (const network of listEntries(container(document, dialect.root), dialect.network, "devices", onFault)) {
    const id = leafText(network, dialect.networkId);
    if (id === undefined) onFault("devices", { field: `/${dialect.networkId}`, message: "is required" });
    else new NetworkParser(id, dialect, records, onFault).parse(network);
  }
}

class NetworkParser {
  readonly #network: string;
  readonly #dialect: Dialect;
  readonly #records: TopologyRecords;
  readonly #onFault: OnFault;
  /** Where the draft's references to links, which have no network, may lead. */
  #underlays: string[] = [];

  constructor(network: string, dialect: Dialect, records: TopologyRecords, onFault: OnFault) {
    this.#network = network;
    this.#dialect = dialect;
    this.#records = records;
    this.#onFault = onFault;
  }

  parse(network: YangObject): void {
    const underlays = listEntries(network, "underlay-topology", "links", this.#onFault);
    const names = underlays.flatMap((entry) => leafText(entry, this.#dialect.networkRef) ?? []);
    this.#underlays = [...new Set(names)].sort().slice(0, MAX_CANDIDATES);
    for (const node of listEntries(network, this.#dialect.node, "devices", this.#onFault)) this.#node(node);
    for (const link of listEntries(network, this.#dialect.link, "links", this.#onFault)) this.#link(link);
  }

  #node(object: YangObject): void {
    const node = leafText(object, "node-id");
    if (node === undefined) {
      this.#onFault("devices", { field: "/node-id", message: "is required" });
      return;
    }
    const ref = { network: this.#network, node };
    const isDraft = this.#dialect === NETWORK_TOPOLOGY;
    const tracked = isDraft ? parseHostNode(ref, object, this.#onFault) : undefined;
    const name = nameNode(this.#network, node);
    if (tracked) this.#records.hosts.push(...tracked);
    else if (!name) this.#onFault("devices", { field: "/node-id", message: "is not an id of this network" });
    else if (name.kind === "host") this.#records.hosts.push(hostOf(ref, name.id));
    else this.#records.nodes.push(this.#device(ref, object, name.id, name.alias));
  }

  #device(ref: NodeRef, object: YangObject, deviceId: string, alias: string | undefined): NodeRecord {
    const supporting = this.#references(object, "supporting-node", "node-ref").map(({ network, id }) => ({
      network,
      node: id,
    }));
    const points = new Map<string, PointRecord>();
    for (const entry of listEntries(object, this.#dialect.point, "ports", this.#onFault)) {
      const point = leafText(entry, "tp-id");
      if (point === undefined) this.#onFault("ports", { field: "/tp-id", message: "is required" });
      else points.set(point, this.#point(ref, point, entry, supporting));
    }
    return { ...ref, deviceId, alias, points, facts: readNodeFacts(object), supporting };
  }

  #point(ref: NodeRef, point: string, object: YangObject, nodesBelow: readonly NodeRef[]): PointRecord {
    // The draft has ids only, of points of the nodes that support this one.
    const candidates = nodesBelow.slice(0, MAX_CANDIDATES);
    const supporting: PointRef[] = leafTexts(object, "tp-ref").flatMap((id) =>
      candidates.map((node) => ({ ...node, point: id })),
    );
    for (const entry of listEntries(object, "supporting-termination-point", "ports", this.#onFault)) {
      const network = leafText(entry, this.#dialect.networkRef);
      const [node, tp] = [leafText(entry, "node-ref"), leafText(entry, "tp-ref")];
      const isComplete = network !== undefined && node !== undefined && tp !== undefined;
      if (isComplete) supporting.push({ network, node, point: tp });
    }
    const label = labelPoint({ ...ref, point });
    return { ...ref, point, label, ...readPointNumber(object), facts: readPointFacts(object), supporting };
  }

  /** References to another layer. One that is incomplete says nothing, and the record is used without it. */
  #references(object: YangObject, list: string, leaf: string): { network: string; id: string }[] {
    return listEntries(object, list, "devices", this.#onFault).flatMap((entry) => {
      const network = leafText(entry, this.#dialect.networkRef);
      const id = leafText(entry, leaf);
      if (id === undefined) return [];
      return (network === undefined ? this.#underlays : [network]).map((below) => ({ network: below, id }));
    });
  }

  #link(object: YangObject): void {
    const [source, destination] = [container(object, "source"), container(object, "destination")];
    const required = {
      "/link-id": leafText(object, "link-id"),
      "/source/source-node": leafText(source, "source-node"),
      "/source/source-tp": leafText(source, "source-tp"),
      "/destination/dest-node": leafText(destination, "dest-node"),
      "/destination/dest-tp": leafText(destination, "dest-tp"),
    };
    const missing = Object.entries(required).find(([, value]) => value === undefined);
    if (missing) {
      this.#onFault("links", { field: missing[0], message: "is required" });
      return;
    }
    const network = this.#network;
    const [link = "", srcNode = "", srcPoint = "", dstNode = "", dstPoint = ""] = Object.values(required);
    const supporting = this.#references(object, "supporting-link", "link-ref");
    this.#records.links.push({
      network,
      link,
      src: { network, node: srcNode, point: srcPoint },
      dst: { network, node: dstNode, point: dstPoint },
      supporting: supporting.map((below) => ({ network: below.network, link: below.id })),
      facts: readLinkFacts(object),
    });
  }
}

/** Of an id `MAC/VLAN`. */
function hostOf(ref: NodeRef, id: string): HostRecord {
  const [mac = "", vlan = "None"] = id.split("/");
  return { ...ref, mac, vlan, ipAddresses: [], attachedTo: [] };
}
