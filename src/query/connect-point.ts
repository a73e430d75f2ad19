/**
 * Properties of a connect point (one port of a device), as ONOS defines them. A point is infrastructure if an active link
 * between available devices uses it. A point is for broadcast if a frame for everybody may leave there, because the port
 * leads to no other device or belongs to the spanning tree of its cluster. The tree holds the shortest path from the root
 * of the cluster to each device; where there are several, the one with the lowest link id.
 */
import { COST, Pause, type Steps } from "../lib/steps.ts";
import type { ConnectPoint } from "../model/ids.ts";
import { portId } from "../model/ids.ts";
import type { GraphLink, LinkGraph } from "../view/link-graph.ts";
import { type NetworkState, parseStored } from "../view/view.ts";
import { distancesFrom } from "./shortest-paths.ts";

/** The point, whose device must be given by its shown id; undefined when neither a port nor a link has the port. */
export function* findConnectPoint(state: NetworkState, point: ConnectPoint): Steps<ConnectPoint | undefined> {
  const isPort = state.get("ports", portId(point.device, point.port)) !== undefined;
  return isPort || (yield* isInfrastructure(state, point)) ? point : undefined;
}

export function* isInfrastructure(state: NetworkState, point: ConnectPoint): Steps<boolean> {
  return (yield* linksAt(state, yield* state.linkGraph(), point)).length > 0;
}

export function* isBroadcastPoint(state: NetworkState, point: ConnectPoint): Steps<boolean> {
  const graph = yield* state.linkGraph();
  const links = yield* linksAt(state, graph, point);
  if (links.length === 0) return true;
  const clusters = yield* graph.clusters();
  const cluster = clusters.find(({ devices }) => devices.includes(point.device));
  const root = cluster?.devices[0];
  if (!cluster || root === undefined || cluster.devices.length === 1) return true;
  const members = new Set(cluster.devices);
  const inCluster = ({ src, dst, indirect }: GraphLink) => !indirect && members.has(src) && members.has(dst);
  const hops = yield* distancesFrom(root, (id) =>
    graph
      .outgoing(id)
      .filter(inCluster)
      .map(({ dst }) => [dst, 1]),
  );
  /** The link by which the spanning tree reaches a device. */
  const treeLink = (id: string): GraphLink | undefined => {
    let lowest: GraphLink | undefined;
    for (const link of graph.incoming(id).filter(inCluster)) {
      const isShortest = (hops.get(link.src) ?? 0) + 1 === hops.get(id);
      if (isShortest && (!lowest || link.id < lowest.id)) lowest = link;
    }
    return lowest;
  };
  return links.some((link) => inCluster(link) && treeLink(link.dst)?.id === link.id);
}

/** The active links between available devices that begin or end at the point. */
function* linksAt(state: NetworkState, graph: LinkGraph, { device, port }: ConnectPoint): Steps<GraphLink[]> {
  const found: GraphLink[] = [];
  const pause = new Pause();
  for (const [end, links] of [
    ["src", graph.outgoing(device)],
    ["dst", graph.incoming(device)],
  ] as const) {
    for (const link of links) {
      if (pause.due(COST.entity)) yield;
      const json = state.get("links", link.id);
      if (json !== undefined && parseStored("links", json)[end].port === port) found.push(link);
    }
  }
  return found;
}
