/**
 * The representations of single entities and of details that clients of ONOS read: a device, its ports, one port, a link,
 * a host, clusters, and what a port is used for.
 */

import { quote } from "../../lib/error-text.ts";
import { mapPaced, type Paced, pausing, type ResultOrSteps, type Steps } from "../../lib/steps.ts";
import type { CollectionVersions } from "../../log/log.ts";
import type { Kind } from "../../model/ids.ts";
import { findConnectPoint, isBroadcastPoint, isInfrastructure } from "../../query/connect-point.ts";
import { AmbiguousNameFault } from "../../query/fault.ts";
import { ScalarFilter } from "../../query/filter.ts";
import { findMissing } from "../../query/missing.ts";
import type { Query } from "../../query/query.ts";
import { resolveState } from "../../query/revision.ts";
import { select } from "../../query/select.ts";
import type { EncodedValue } from "../../view/collection.ts";
import type { ClusterMembers } from "../../view/link-graph.ts";
import { clusterOf, type NetworkState, type View } from "../../view/view.ts";
import type { Dialect } from "../onos/dialect.ts";
import { JSON_TYPE } from "../response/media-types.ts";
import { Problem } from "../response/problem.ts";
import { problemOf, throwIfFault } from "../response/query-problem.ts";
import type { Content, Representation, RepresentationInfo } from "../response/representation.ts";
import { jsonList } from "./json-list.ts";
import type { RequestContext } from "./read-context.ts";
import type { Route } from "./route.ts";
import { type Versions, whileShown } from "./shown-version.ts";

type ItemRoute = Exclude<Route, { read: "list" | "topology" | "paths" | "problems" | "search" }>;

/** An entity of the current state is there at once. */
export function itemRepresentation(
  context: RequestContext,
  route: ItemRoute,
  query: Query,
): ResultOrSteps<Representation> {
  if (route.read !== "item" || query.at !== undefined) return readInSteps(context, route, query);
  const { view, dialect } = context;
  const state = view.capture();
  const found = getNamed(state, route, dialect);
  return createItem(context, route, query, state, found, dialect.entity(route.kind, found.text));
}

function* readInSteps(context: RequestContext, route: ItemRoute, query: Query): Steps<Representation> {
  const { history, view, dialect } = context;
  const state = query.at === undefined ? view.capture() : throwIfFault(yield* resolveState(history, query));
  const found = getNamed(state, route, dialect);
  // Read here and not in `render`: a missing entity must be a 404 whatever the condition of the request.
  const chunks =
    route.read === "item"
      ? dialect.entity(route.kind, found.text)
      : yield* renderChunks(state, route, found, dialect);
  return createItem(context, route, query, state, found, chunks);
}

function createItem(
  { view, dialect }: RequestContext,
  route: ItemRoute,
  query: Query,
  state: NetworkState,
  found: EncodedValue,
  chunks: Content["chunks"],
): Representation {
  const isCurrent = query.at === undefined;
  const key = keyOf(route, found);
  const ownVersions =
    route.read === "item"
      ? itemVersion(found, isCurrent ? view : undefined, route, dialect)
      : partVersion(state, isCurrent ? view : undefined, route);
  const { version, currentVersion } = namesDevice(route)
    ? whileShown(ownVersions, view, shownKey(route, dialect), key, state)
    : ownVersions;
  return new ItemRepresentation(
    {
      key: `${dialect.keyPrefix}one ${query.fingerprint} ${key}`,
      version,
      currentVersion,
      tagIsVersion: dialect.showsRevision && route.read === "item",
      revision: state.revision,
      contentType: JSON_TYPE,
    },
    chunks,
  );
}

class ItemRepresentation implements Representation {
  readonly info: RepresentationInfo;
  readonly text: string | undefined;
  readonly #chunks: Content["chunks"];

  constructor(info: RepresentationInfo, chunks: Content["chunks"]) {
    this.info = info;
    this.text = typeof chunks === "string" ? chunks : undefined;
    this.#chunks = chunks;
  }

  render(): Content {
    return { chunks: this.#chunks };
  }
}

interface NamedEntity {
  readonly kind: Kind;
  readonly id: string;
}

/** The entity that a route names; undefined where it names none. */
function namedIn(route: ItemRoute): NamedEntity | undefined {
  switch (route.read) {
    case "item":
      return route;
    case "devicePorts":
      return { kind: "devices", id: route.id };
    case "connectPoint":
      return { kind: "devices", id: route.device };
    default:
      return undefined;
  }
}

/** The id of a host means the same host, whatever devices are called. */
function namesDevice(route: ItemRoute): boolean {
  const named = namedIn(route);
  return named !== undefined && named.kind !== "hosts";
}

const NOTHING_NAMED: EncodedValue = { id: "", text: "" };

/** Throws a `Problem` where there is no such entity. */
function getNamed(state: NetworkState, route: ItemRoute, dialect: Dialect): EncodedValue {
  const named = namedIn(route);
  if (!named) return NOTHING_NAMED;
  const found = findNamed(state, route, dialect);
  if (found) return found;
  throw noEntity(state, named, dialect);
}

/** By its id or an alias; else one that is missing, by its own id; else by the names of devices. */
function findNamed(state: NetworkState, route: ItemRoute, dialect: Dialect): EncodedValue | undefined {
  const named = namedIn(route);
  if (!named) return undefined;
  const { kind, id } = named;
  const shown =
    findEntity(state, kind, state.spelledId(kind, id)) ??
    findEntity(state, kind, state.shownId(kind, id, false));
  if (shown) return shown;
  const missing = route.read === "item" && dialect.showsDrift ? findMissing(state, kind, id) : undefined;
  if (missing !== undefined) return { id, text: missing };
  return dialect.acceptsNames ? findEntity(state, kind, state.shownId(kind, id, true)) : undefined;
}

function findEntity(state: NetworkState, kind: Kind, id: string): EncodedValue | undefined {
  const text = state.get(kind, id);
  return text === undefined ? undefined : { id, text };
}

const shownKey = (route: ItemRoute, dialect: Dialect) => (state: NetworkState) =>
  keyOf(route, findNamed(state, route, dialect));

/** `view` is undefined for a state of the past, which has no current version. */
function itemVersion(
  { text }: EncodedValue,
  view: View | undefined,
  route: Extract<Route, { read: "item" }>,
  dialect: Dialect,
): Versions {
  const version = entityRevision(text);
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

/** With the id as it is shown, so that each entity has responses of its own. */
function keyOf(route: ItemRoute, { id } = NOTHING_NAMED): string {
  switch (route.read) {
    case "item":
      return `${route.kind} ${id}`;
    case "devicePorts":
      return `ports of ${id}`;
    case "clusters":
      return "clusters";
    case "cluster":
      return `cluster ${route.n} ${route.part}`;
    case "connectPoint":
      return `${route.fact} ${id} ${route.port}`;
    case "staleLinkAge":
      return "stale link age";
  }
}

/**
 * The `revision` of an entity, from its JSON. A quote in a string is escaped, so that no text of the network can look like
 * this member. An annotation may have the name, but annotations come before the fields that the service adds.
 */
function entityRevision(json: string): number {
  const at = json.lastIndexOf(REVISION_MEMBER);
  if (at < 0) return 0;
  const from = at + REVISION_MEMBER.length;
  return Number.parseInt(json.slice(from, from + MAX_REVISION_DIGITS), 10);
}

const REVISION_MEMBER = '"revision":';
/** With room for what follows the number, which is not read. */
const MAX_REVISION_DIGITS = 17;

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
    revision = entityRevision(findNamed(view.capture(), route, dialect)?.text ?? "");
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

function* renderChunks(
  state: NetworkState,
  route: Exclude<ItemRoute, { read: "item" }>,
  { id, text }: EncodedValue,
  dialect: Dialect,
): Steps<Content["chunks"]> {
  switch (route.read) {
    case "devicePorts": {
      const device = dialect.entity("devices", text);
      return jsonList(`${device.slice(0, -1)},"ports":[`, portsOf(state, id, dialect), "]}");
    }
    case "clusters":
      return jsonList('{"clusters":[', clustersOf(yield* clusterMembers(state), dialect), "]}");
    case "cluster":
      return renderCluster(state, yield* clusterMembers(state), route, dialect);
    case "connectPoint":
      return yield* renderConnectPoint(state, id, route);
    case "staleLinkAge":
      // A link that is silent becomes INACTIVE and is removed: what ONOS calls using the stale link age.
      return JSON.stringify({ active: true });
  }
}

export function noEntity(
  state: NetworkState,
  { kind, id }: NamedEntity,
  { acceptsNames }: Pick<Dialect, "acceptsNames">,
): Problem {
  const ambiguous = acceptsNames ? state.findAmbiguousName(kind, id) : undefined;
  return ambiguous
    ? problemOf(new AmbiguousNameFault(ambiguous))
    : new Problem("not-found", `There is no ${kind.slice(0, -1)} ${quote(id)}${ID_HINTS[kind] ?? ""}.`);
}

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
  device: string,
  route: Extract<Route, { read: "connectPoint" }>,
): Steps<string> {
  const point = yield* findConnectPoint(state, { device, port: route.port });
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
