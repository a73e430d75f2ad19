/**
 * What ONOS says of a connect point, one port of a device. Infrastructure: an active link between available devices uses
 * it. Broadcast: a frame for everybody may leave there, because the port leads to no other device or belongs to the
 * spanning tree of its cluster. The tree holds the shortest way from the root of the cluster to each device; of several,
 * the one with the lowest link id.
 */
import { runToEnd } from "../lib/steps.ts";
import type { ConnectPoint } from "../model/ids.ts";
import { portId } from "../model/ids.ts";
import type { GraphLink } from "../view/link-graph.ts";
import { type NetworkState, parseStored } from "../view/view.ts";
import { distancesFrom } from "./shortest-paths.ts";

/** The point as this state shows it; undefined when the device is unknown, or neither a port nor a link names the port. */
export function findConnectPoint(state: NetworkState, given: ConnectPoint): ConnectPoint | undefined {
  const point = { device: state.shownId("devices", given.device), port: given.port };
  const isPort = state.get("ports", portId(point.device, point.port)) !== undefined;
  return isPort || linksAt(state, point).length > 0 ? point : undefined;
}

export const isInfrastructure = (state: NetworkState, point: ConnectPoint): boolean =>
  linksAt(state, point).length > 0;

export function isBroadcastPoint(state: NetworkState, point: ConnectPoint): boolean {
  const links = linksAt(state, point);
  if (links.length === 0) return true;
  const cluster = runToEnd(runToEnd(state.linkGraph()).clusters()).find(({ devices }) =>
    devices.includes(point.device),
  );
  const root = cluster?.devices[0];
  if (!cluster || root === undefined || cluster.devices.length === 1) return true;
  const members = new Set(cluster.devices);
  const inCluster = ({ src, dst, indirect }: GraphLink) => !indirect && members.has(src) && members.has(dst);
  const hops = distancesFrom(root, (id) =>
    runToEnd(state.linkGraph())
      .outgoing(id)
      .filter(inCluster)
      .map(({ dst }) => [dst, 1]),
  );
  /** The link by which the tree reaches a device. */
  const treeLink = (id: string): GraphLink | undefined => {
    let lowest: GraphLink | undefined;
    for (const link of runToEnd(state.linkGraph()).incoming(id).filter(inCluster)) {
      const isShortest = (hops.get(link.src) ?? 0) + 1 === hops.get(id);
      if (isShortest && (!lowest || link.id < lowest.id)) lowest = link;
    }
    return lowest;
  };
  return links.some((link) => inCluster(link) && treeLink(link.dst) === link);
}

/** The active links between available devices that begin or end at the point. */
function linksAt(state: NetworkState, { device, port }: ConnectPoint): GraphLink[] {
  const usesPort = (end: "src" | "dst") => (link: GraphLink) => {
    const json = state.get("links", link.id);
    return json !== undefined && parseStored("links", json)[end].port === port;
  };
  return [
    ...runToEnd(state.linkGraph()).outgoing(device).filter(usesPort("src")),
    ...runToEnd(state.linkGraph()).incoming(device).filter(usesPort("dst")),
  ];
}
