/**
 * `/onos/v1/system` and `/onos/v1/cluster`, which many programs for ONOS read first. They have ONOS's fields with the values
 * of this service. They are service endpoints, because they do not read the network and only the main process has their
 * values. If a controller source forwards them, they are not served here.
 */
import { readdir } from "node:fs/promises";
import { networkInterfaces, totalmem } from "node:os";
import type { Response } from "../../http1/response.ts";
import { quote } from "../../lib/error-text.ts";
import type { ClusterNode } from "../../model/cluster-overview.ts";
import type { Topology } from "../../model/entity.ts";
import { topologyOf } from "../../view/view.ts";
import { getReadiness } from "../endpoints/health.ts";
import type { ServiceContext, ServiceEndpoint } from "../endpoints/service-endpoint.ts";
import { FORWARDED_PREFIX, parseForwardPath } from "../forwarding/forward-path.ts";
import { ProblemDetails } from "../response/problem.ts";
import { JSON_TYPE } from "../response/representation.ts";
import { WRITE_ADVICE } from "./missing-resources.ts";

export type OnosStatusPath =
  | { readonly read: "system" }
  | { readonly read: "nodes" }
  | { readonly read: "node"; readonly id: string };

/** Returns undefined for every other path. */
export function parseOnosStatusPath(path: string): OnosStatusPath | undefined {
  const parsed = parseForwardPath(path);
  if (parsed?.resource !== "system" && parsed?.resource !== "cluster") return undefined;
  const [, id, ...rest] = parsed.path.replace(/\/$/, "").split("/");
  if (rest.length > 0) return undefined;
  if (parsed.resource === "system") return id === undefined ? { read: "system" } : undefined;
  return id === undefined ? { read: "nodes" } : { read: "node", id: decodeURIComponent(id) };
}

const UNKNOWN_ADDRESS = { host: "127.0.0.1", port: 0 };

/** The endpoint of both paths. The OpenAPI document does not contain them; docs/from-onos.md describes them. */
export const onosStatus: ServiceEndpoint = {
  path: "/onos/v1/{system,cluster}",
  access: "reader",
  matches: (path, { aliases }) =>
    aliases.includes(FORWARDED_PREFIX) && parseOnosStatusPath(path) !== undefined,
  writeAdvice: WRITE_ADVICE,
  async respond({ service, path, owner, signal }) {
    const wanted = parseOnosStatusPath(path);
    if (!wanted) return undefined;
    const { context, version } = service;
    const { nodes, self } = await listNodes(service);
    if (wanted.read === "system") {
      const topology = await context.scheduler.run(owner, topologyOf(context.view.capture()), signal);
      return jsonResponse(await systemInfo({ version, logId: context.log.id, nodes, self, topology }));
    }
    if (wanted.read === "nodes") return jsonResponse({ nodes });
    const node = nodes.find(({ id }) => id === wanted.id);
    if (node) return jsonResponse(node);
    const known = nodes.map(({ id }) => id).join(", ");
    throw new ProblemDetails("not-found", `There is no node ${quote(wanted.id)}; there are: ${known}.`);
  },
};

/** All nodes of the cluster, and this one. */
async function listNodes(service: ServiceContext): Promise<{ nodes: readonly OnosNode[]; self: OnosNode }> {
  const { clusterStatus, clusterOverview, address } = service;
  const { host, port } = address?.() ?? UNKNOWN_ADDRESS;
  const isReady = getReadiness.respond({ service, isStopping: false, isUser: false }).status === 200;
  const listed = (await clusterOverview?.())?.nodes ?? [];
  const own = listed.find(({ node }) => node === clusterStatus?.node);
  const name = clusterStatus && nameOfRun(clusterStatus.node);
  const self = own ? clusterNode(own) : ownNode({ name, host, port, isReady });
  return { nodes: listed.length > 0 ? listed.map(clusterNode) : [self], self };
}

const jsonResponse = (body: object): Response => ({
  status: 200,
  headers: { "Content-Type": JSON_TYPE, "Cache-Control": "no-store" },
  body: JSON.stringify(body),
});

/** The name of a node. The name of a run of it is the node's name, a dot, and a part that distinguishes the runs. */
export const nameOfRun = (run: string): string => run.replace(/\.[^.]*$/, "");

/** The state of a node: READY is ready, ACTIVE runs but is not ready or has a failure, INACTIVE is lost. */
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
  /** The name of the node. Without one its address is its name, as in ONOS. */
  readonly name: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly isReady: boolean;
}

export function ownNode({ name, host, port, isReady }: OwnNode): OnosNode {
  const ip = isEveryAddress(host) ? ownAddress() : host;
  return onosNode(name ?? ip, ip, port, isReady ? "READY" : "ACTIVE", Math.round(performance.timeOrigin));
}

/** Converts a node of the cluster. The `ip` of a node that listens on every address is its name. */
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

/** The response body of `system`, with the fields in the order of ONOS. This service has no flows and no intents. */
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

/** The peak is the maximum over all calls, because nothing else counts threads. The number is known on Linux only. */
async function countThreads(): Promise<object> {
  const live = await readdir("/proc/self/task").then(
    (names) => names.length,
    () => 1,
  );
  peakThreads = Math.max(peakThreads, live);
  return { live, daemon: live - 1, peak: peakThreads };
}
