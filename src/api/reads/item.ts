/**
 * The representations of single entities and of details that clients of ONOS read: a device, its ports, a host, clusters,
 * and what a port is used for.
 */

import { quote } from "../../lib/error-text.ts";
import { runToEnd } from "../../lib/steps.ts";
import type { Cluster } from "../../model/entity.ts";
import { findConnectPoint, isBroadcastPoint, isInfrastructure } from "../../query/connect-point.ts";
import { ScalarFilter } from "../../query/filter.ts";
import type { Query } from "../../query/query.ts";
import { resolveState } from "../../query/revision.ts";
import { select } from "../../query/select.ts";
import { clusterOf, type NetworkState } from "../../view/view.ts";
import type { Dialect } from "../dialect/dialect.ts";
import { JSON_TYPE } from "../media-types.ts";
import { Problem } from "../problem.ts";
import { throwIfFault } from "../query-problem.ts";
import type { Content, Representation } from "../representation.ts";
import type { Route } from "../route.ts";
import type { RequestContext } from "./read-context.ts";

type ItemRoute = Exclude<Route, { read: "list" | "topology" | "paths" }>;

export function itemRepresentation(
  { history, dialect }: RequestContext,
  route: ItemRoute,
  query: Query,
): Representation {
  return new ItemRepresentation(throwIfFault(resolveState(history, query)), route, query, dialect);
}

class ItemRepresentation implements Representation {
  readonly key: string;
  readonly version: number;
  readonly currentVersion?: () => number;
  readonly tagIsVersion: boolean;
  readonly revision: number;
  readonly contentType = JSON_TYPE;
  readonly #json: string;

  constructor(state: NetworkState, route: ItemRoute, query: Query, dialect: Dialect) {
    this.key = `${dialect.keyPrefix}one ${query.fingerprint} ${keyOf(route)}`;
    this.revision = state.revision;
    // Read here and not in `render`: a missing entity must be a 404 whatever the condition of the request.
    this.#json = renderJson(state, route, dialect);
    this.tagIsVersion = dialect.showsRevision && route.read === "item";
    if (route.read === "item") {
      this.version = entityRevision(getEntity(state, route.kind, route.id));
      if (query.at === undefined) this.currentVersion = followEntity(state, route, this.version);
    } else {
      this.version = query.at === undefined ? versionOf(state, route) : state.revision;
      if (query.at === undefined) this.currentVersion = () => versionOf(state, route);
    }
  }

  render(): Content {
    return { chunks: this.#json };
  }
}

function keyOf(route: ItemRoute): string {
  switch (route.read) {
    case "item":
      return `${route.kind} ${route.id}`;
    case "devicePorts":
      return `ports of ${route.id}`;
    case "clusters":
      return "clusters";
    case "cluster":
      return `cluster ${route.n} ${route.part}`;
    case "connectPoint":
      return `${route.fact} ${route.device} ${route.port}`;
    case "staleLinkAge":
      return "stale link age";
  }
}

/**
 * The `revision` of an entity, from its JSON. A quote in a string is escaped, so that no text of the network can look like
 * this member.
 */
const entityRevision = (json: string): number => Number(/"revision":(\d+)/.exec(json)?.[1] ?? 0);

/** The entity's revision now, looked up again only when its collection has changed; 0 when it was removed. */
function followEntity(
  state: NetworkState,
  { kind, id }: Extract<Route, { read: "item" }>,
  initial: number,
): () => number {
  let seen = state.versions[kind];
  let revision = initial;
  return () => {
    const version = state.versions[kind];
    if (version === seen) return revision;
    seen = version;
    revision = entityRevision(state.get(kind, state.shownId(kind, id)) ?? "");
    return revision;
  };
}

/** The revision that last changed the collections the body is rendered from. */
function versionOf({ versions }: NetworkState, route: Exclude<ItemRoute, { read: "item" }>): number {
  switch (route.read) {
    case "devicePorts":
      return Math.max(versions.devices, versions.ports);
    case "clusters":
      return versions.graph;
    case "cluster":
      return Math.max(versions.graph, versions.links);
    case "connectPoint":
      return Math.max(versions.graph, versions.links, versions.ports);
    case "staleLinkAge":
      return 0;
  }
}

function renderJson(state: NetworkState, route: ItemRoute, dialect: Dialect): string {
  switch (route.read) {
    case "item":
      return dialect.entity(route.kind, getEntity(state, route.kind, route.id));
    case "devicePorts": {
      const device = dialect.entity("devices", getEntity(state, "devices", route.id));
      const ports = getPorts(state, route.id).map((json) => dialect.entity("ports", json));
      return `${device.slice(0, -1)},"ports":[${ports.join(",")}]}`;
    }
    case "clusters":
      return JSON.stringify({ clusters: clustersOf(state, dialect) });
    case "cluster":
      return renderCluster(state, route, dialect);
    case "connectPoint":
      return renderConnectPoint(state, route);
    case "staleLinkAge":
      // A link that is silent becomes INACTIVE and is removed: what ONOS calls using the stale link age.
      return JSON.stringify({ active: true });
  }
}

function getEntity(state: NetworkState, kind: "devices" | "hosts", id: string): string {
  const json = state.get(kind, state.shownId(kind, id));
  if (json !== undefined) return json;
  const hint = kind === "hosts" ? "; a host's id is MAC/VLAN, such as 00:00:00:00:00:01/None" : "";
  throw new Problem("not-found", `There is no ${kind.slice(0, -1)} ${quote(id)}${hint}.`);
}

const getPorts = (state: NetworkState, device: string): string[] =>
  Array.from(select(state, "ports", [new ScalarFilter("ports", "element", [device])]), ({ text }) => text);

function renderConnectPoint(state: NetworkState, route: Extract<Route, { read: "connectPoint" }>): string {
  getEntity(state, "devices", route.device);
  const point = findConnectPoint(state, route);
  if (!point)
    throw new Problem("not-found", `There is no port ${quote(route.port)} at ${quote(route.device)}.`);
  return route.fact === "broadcast"
    ? JSON.stringify({ broadcast: isBroadcastPoint(state, point) })
    : JSON.stringify({ infrastructure: isInfrastructure(state, point) });
}

const clustersOf = (state: NetworkState, dialect: Dialect): Cluster[] =>
  runToEnd(runToEnd(state.linkGraph()).clusters()).map((members, n) => {
    const cluster = clusterOf(members, n);
    return { ...cluster, root: dialect.deviceId(cluster.root) };
  });

function renderCluster(
  state: NetworkState,
  { n, part }: Extract<Route, { read: "cluster" }>,
  dialect: Dialect,
): string {
  const clusters = runToEnd(runToEnd(state.linkGraph()).clusters());
  const cluster = clusters[n];
  if (!cluster) {
    const last = clusters.length - 1;
    const allowed = last < 0 ? "there are none" : `they count from 0 to ${last}`;
    throw new Problem("not-found", `There is no cluster ${n}; ${allowed}.`);
  }
  if (part === "devices") return JSON.stringify({ devices: cluster.devices.map(dialect.deviceId) });
  if (part === "links") {
    const links = cluster.links.map((id) => state.get("links", id)).filter((json) => json !== undefined);
    return `{"links":[${links.map((json) => dialect.entity("links", json)).join(",")}]}`;
  }
  return JSON.stringify(clustersOf(state, dialect)[n]);
}
