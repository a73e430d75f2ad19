/**
 * `/onos/v1/system` and `/onos/v1/cluster`, which many programs of ONOS read first: ONOS's fields, with what is true of this
 * service. They are no reads of the network, and only the main process knows what they say, so they are served beside the
 * interface, unless a controller source forwards them.
 */
import { readdir } from "node:fs/promises";
import { networkInterfaces, totalmem } from "node:os";
import type { ClusterNode } from "../../model/cluster-overview.ts";
import type { Topology } from "../../model/entity.ts";
import { parseForwardPath } from "../forwarding/forward-path.ts";

export type OnosStatusPath =
  | { readonly read: "system" }
  | { readonly read: "nodes" }
  | { readonly read: "node"; readonly id: string };

/** Undefined for every other path. */
export function parseOnosStatusPath(path: string): OnosStatusPath | undefined {
  const parsed = parseForwardPath(path);
  if (parsed?.resource !== "system" && parsed?.resource !== "cluster") return undefined;
  const [, id, ...rest] = parsed.path.replace(/\/$/, "").split("/");
  if (rest.length > 0) return undefined;
  if (parsed.resource === "system") return id === undefined ? { read: "system" } : undefined;
  return id === undefined ? { read: "nodes" } : { read: "node", id: decodeURIComponent(id) };
}

/** A run of a node is called by the node's name, a dot, and what tells the runs apart. */
export const nameOfRun = (run: string): string => run.replace(/\.[^.]*$/, "");

/** READY is complete, ACTIVE runs but lacks something, INACTIVE is lost. */
type NodeState = "READY" | "ACTIVE" | "INACTIVE";

/** A node as ONOS's ControllerNodeCodec writes it. */
export interface OnosNode {
  readonly id: string;
  readonly ip: string;
  readonly tcpPort: number;
  readonly status: NodeState;
  readonly lastUpdate: string;
  readonly humanReadableLastUpdate: string;
}

export interface OwnNode {
  /** Undefined where the node has none: then its address is its name, as in ONOS. */
  readonly name: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly isReady: boolean;
}

export function ownNode({ name, host, port, isReady }: OwnNode): OnosNode {
  const ip = isEveryAddress(host) ? ownAddress() : host;
  return onosNode(name ?? ip, ip, port, isReady ? "READY" : "ACTIVE", Math.round(performance.timeOrigin));
}

/** Of a node that listens on every address, others know only the name. */
export function clusterNode({ name, url, since, lostSince, trouble }: ClusterNode): OnosNode {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const tcpPort = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  const running = trouble === undefined ? "READY" : "ACTIVE";
  const status = lostSince === undefined ? running : "INACTIVE";
  return onosNode(name, isEveryAddress(host) ? name : host, tcpPort, status, lostSince ?? since);
}

function onosNode(id: string, ip: string, tcpPort: number, status: NodeState, since: number): OnosNode {
  const change = status === "INACTIVE" ? "disconnected" : "connected";
  const time = new Date(since).toISOString().replace(/\.\d+Z$/, "Z");
  const humanReadableLastUpdate = `${change} since ${time}`;
  return { id, ip, tcpPort, status, lastUpdate: String(since), humanReadableLastUpdate };
}

const isEveryAddress = (host: string): boolean => host === "0.0.0.0" || host === "::";

function ownAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const external = addresses.filter(({ internal }) => !internal);
  return (external.find(({ family }) => family === "IPv4") ?? external[0])?.address ?? "127.0.0.1";
}

export interface SystemInput {
  readonly version: string;
  readonly logId: string;
  readonly nodes: readonly OnosNode[];
  readonly self: OnosNode;
  readonly topology: Topology;
}

/** In the order of ONOS. There are no flows and no intents here. */
export async function systemInfo({ version, logId, nodes, self, topology }: SystemInput): Promise<object> {
  const { devices, links, hosts, clusters } = topology;
  const rss = process.memoryUsage.rss();
  return {
    node: self.ip,
    version,
    clusterId: logId,
    nodes: nodes.filter(({ status }) => status !== "INACTIVE").length,
    devices,
    links,
    hosts,
    sccs: clusters,
    flows: 0,
    intents: 0,
    mem: { current: rss, max: totalmem(), committed: rss },
    threads: await countThreads(),
  };
}

let peakThreads = 0;

/** The peak is that of all calls: nothing else counts threads. Only Linux tells how many there are. */
async function countThreads(): Promise<object> {
  const live = await readdir("/proc/self/task").then(
    (names) => names.length,
    () => 1,
  );
  peakThreads = Math.max(peakThreads, live);
  return { live, daemon: live - 1, peak: peakThreads };
}
