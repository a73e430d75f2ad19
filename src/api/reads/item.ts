/**
 * The representations of single entities and of details that clients of ONOS read: a device, its ports, one port, a link,
 * a host, clusters, and what a port is used for.
 */

import { quote } from "../../lib/error-text.ts";
import { mapPaced, type Paced, pausing, type Steps } from "../../lib/steps.ts";
import type { CollectionVersions } from "../../log/log.ts";
import type { Kind } from "../../model/ids.ts";
import { findConnectPoint, isBroadcastPoint, isInfrastructure } from "../../query/connect-point.ts";
import { ScalarFilter } from "../../query/filter.ts";
import { findMissing } from "../../query/missing.ts";
import type { Query } from "../../query/query.ts";
import { resolveState } from "../../query/revision.ts";
import { select } from "../../query/select.ts";
import type { ClusterMembers } from "../../view/link-graph.ts";
import { clusterOf, type NetworkState, type View } from "../../view/view.ts";
import type { Dialect } from "../dialect/dialect.ts";
import { JSON_TYPE } from "../media-types.ts";
import { Problem } from "../problem.ts";
import { throwIfFault } from "../query-problem.ts";
import type { Content, Representation, RepresentationInfo } from "../representation.ts";
import type { Route } from "../route.ts";
import { jsonList } from "./json-list.ts";
import type { RequestContext } from "./read-context.ts";
import { type Versions, whileShown } from "./shown-version.ts";

type ItemRoute = Exclude<Route, { read: "list" | "topology" | "paths" | "problems" | "search" }>;

export function* itemRepresentation(
  { history, view, dialect }: RequestContext,
  route: ItemRoute,
  query: Query,
): Steps<Representation> {
  const state = throwIfFault(yield* resolveState(history, query));
  // Read here and not in `render`: a missing entity must be a 404 whatever the condition of the request.
  const chunks = yield* renderChunks(state, route, dialect);
  const isCurrent = query.at === undefined;
  const shown = shownRoute(state, route);
  return new ItemRepresentation(
    {
      key: `${dialect.keyPrefix}one ${query.fingerprint} ${keyOf(shown)}`,
      ...whileShown(
        route.read === "item"
          ? itemVersion(state, isCurrent ? view : undefined, route, dialect)
          : partVersion(state, isCurrent ? view : undefined, route),
        view,
        shownKey(route),
        keyOf(shown),
      ),
      tagIsVersion: dialect.showsRevision && route.read === "item",
      revision: state.revision,
      contentType: JSON_TYPE,
    },
    chunks,
  );
}

class ItemRepresentation implements Representation {
  readonly info: RepresentationInfo;
  readonly #chunks: Content["chunks"];

  constructor(info: RepresentationInfo, chunks: Content["chunks"]) {
    this.info = info;
    this.#chunks = chunks;
  }

  // biome-ignore lint/correctness/useYield: the chunks are there already, or are rendered while they are read
  *render(): Steps<Content> {
    return { chunks: this.#chunks };
  }
}

/** The same route with the id of the device as the state shows it, so that each device has responses of its own. */
function shownRoute(state: NetworkState, route: ItemRoute): ItemRoute {
  switch (route.read) {
    case "item":
      return { ...route, id: state.shownId(route.kind, route.id) };
    case "devicePorts":
      return { ...route, id: state.shownId("devices", route.id) };
    case "connectPoint":
      return { ...route, device: state.shownId("devices", route.device) };
    default:
      return route;
  }
}

const shownKey = (route: ItemRoute) => (state: NetworkState) => keyOf(shownRoute(state, route));

/** `view` is undefined for a state of the past, which has no current version. */
function itemVersion(
  state: NetworkState,
  view: View | undefined,
  route: Extract<Route, { read: "item" }>,
  dialect: Dialect,
): Versions {
  const version = entityRevision(getItem(state, route, dialect));
  return view ? { version, currentVersion: followEntity(view, route, dialect, version) } : { version };
}

function partVersion(
  state: NetworkState,
  view: View | undefined,
  route: Exclude<ItemRoute, { read: "item" }>,
): Versions {
  return view
    ? { version: versionOf(state.versions, route), currentVersion: followPart(view, route) }
    : { version: state.revision };
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

/** The entity's revision now, looked up again only when a collection that may hold it changed; 0 when it was removed. */
function followEntity(
  view: View,
  route: Extract<Route, { read: "item" }>,
  dialect: Dialect,
  initial: number,
): () => number {
  const { kind } = route;
  let seen = Math.max(view.versions[kind], view.versions.missing);
  let revision = initial;
  return () => {
    const version = Math.max(view.versions[kind], view.versions.missing);
    if (version === seen) return revision;
    seen = version;
    revision = entityRevision(findItem(view.capture(), route, dialect) ?? "");
    return revision;
  };
}

/** The revision that last changed the collections the body is rendered from. */
function versionOf(versions: CollectionVersions, route: Exclude<ItemRoute, { read: "item" }>): number {
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

const followPart = (view: View, route: Exclude<ItemRoute, { read: "item" }>) => (): number =>
  versionOf(view.versions, route);

function* renderChunks(state: NetworkState, route: ItemRoute, dialect: Dialect): Steps<Content["chunks"]> {
  switch (route.read) {
    case "item":
      return dialect.entity(route.kind, getItem(state, route, dialect));
    case "devicePorts": {
      const device = dialect.entity("devices", getEntity(state, "devices", route.id));
      return jsonList(
        `${device.slice(0, -1)},"ports":[`,
        portsOf(state, state.shownId("devices", route.id), dialect),
        "]}",
      );
    }
    case "clusters":
      return jsonList('{"clusters":[', clustersOf(yield* clusterMembers(state), dialect), "]}");
    case "cluster":
      return renderCluster(state, yield* clusterMembers(state), route, dialect);
    case "connectPoint":
      return yield* renderConnectPoint(state, route);
    case "staleLinkAge":
      // A link that is silent becomes INACTIVE and is removed: what ONOS calls using the stale link age.
      return JSON.stringify({ active: true });
  }
}

/** The entity of an item read; also one that is missing, by its own id. */
function findItem(
  state: Pick<NetworkState, "get" | "shownId" | "findIndex">,
  { kind, id }: Extract<Route, { read: "item" }>,
  { showsDrift }: Dialect,
): string | undefined {
  return state.get(kind, state.shownId(kind, id)) ?? (showsDrift ? findMissing(state, kind, id) : undefined);
}

function getItem(state: NetworkState, route: Extract<Route, { read: "item" }>, dialect: Dialect): string {
  const found = findItem(state, route, dialect);
  if (found !== undefined) return found;
  throw noEntity(route.kind, route.id);
}

function getEntity(state: NetworkState, kind: Kind, id: string): string {
  const json = state.get(kind, state.shownId(kind, id));
  if (json !== undefined) return json;
  throw noEntity(kind, id);
}

export const noEntity = (kind: Kind, id: string): Problem =>
  new Problem("not-found", `There is no ${kind.slice(0, -1)} ${quote(id)}${ID_HINTS[kind] ?? ""}.`);

const ID_HINTS: Readonly<Partial<Record<Kind, string>>> = {
  hosts: "; a host's id is MAC/VLAN, such as 00:00:00:00:00:01/None",
  links: "; a link's id is DEVICE/PORT-DEVICE/PORT, as in the list of links",
};

const portsOf = (state: NetworkState, device: string, dialect: Dialect): Paced<string> =>
  mapPaced(select(state, "ports", [new ScalarFilter("ports", "element", [device])]), ({ text }) =>
    dialect.entity("ports", text),
  );

function* renderConnectPoint(
  state: NetworkState,
  route: Extract<Route, { read: "connectPoint" }>,
): Steps<string> {
  getEntity(state, "devices", route.device);
  const point = yield* findConnectPoint(state, route);
  if (!point)
    throw new Problem("not-found", `There is no port ${quote(route.port)} at ${quote(route.device)}.`);
  return route.fact === "broadcast"
    ? JSON.stringify({ broadcast: yield* isBroadcastPoint(state, point) })
    : JSON.stringify({ infrastructure: yield* isInfrastructure(state, point) });
}

type Clusters = readonly ClusterMembers[];

function* clusterMembers(state: NetworkState): Steps<Clusters> {
  return yield* (yield* state.linkGraph()).clusters();
}

/** Clusters, ids and links that are rendered between two pauses. */
const ITEMS_PER_STEP = 128;

function clusterJson(members: ClusterMembers, n: number, dialect: Dialect): string {
  const cluster = clusterOf(members, n);
  return JSON.stringify({ ...cluster, root: dialect.deviceId(cluster.root) });
}

function* clustersOf(clusters: Clusters, dialect: Dialect): Generator<string | undefined, void, void> {
  for (const [n, members] of clusters.entries()) {
    yield clusterJson(members, n, dialect);
    if ((n + 1) % ITEMS_PER_STEP === 0) yield undefined;
  }
}

function renderCluster(
  state: NetworkState,
  clusters: Clusters,
  { n, part }: Extract<Route, { read: "cluster" }>,
  dialect: Dialect,
): Content["chunks"] {
  const cluster = clusters[n];
  if (!cluster) {
    const last = clusters.length - 1;
    const allowed = last < 0 ? "there are none" : `they count from 0 to ${last}`;
    throw new Problem("not-found", `There is no cluster ${n}; ${allowed}.`);
  }
  if (part === "devices") {
    const ids = pausing(cluster.devices, ITEMS_PER_STEP);
    return jsonList(
      '{"devices":[',
      mapPaced(ids, (id) => JSON.stringify(dialect.deviceId(id))),
      "]}",
    );
  }
  if (part === "links") {
    const ids = pausing(cluster.links, ITEMS_PER_STEP);
    const links = mapPaced(ids, (id) => {
      const json = state.get("links", id);
      return json === undefined ? undefined : dialect.entity("links", json);
    });
    return jsonList('{"links":[', links, "]}");
  }
  return clusterJson(cluster, n, dialect);
}
