/**
 * The representations of paths, in ONOS's shape. A large network can have more shortest paths than any response can hold, so
 * a response has at most `limits.paths` of them. `Gazetteer-Paths` is the total number, and `next` leads to more.
 */
import Type from "typebox";
import { JSON_FORMAT, PATH_EXPLANATION_FORMAT } from "../../formats/formats.ts";
import { COST, mapInSteps, mapPaced, type Paced, type Steps } from "../../lib/steps.ts";
import type { CollectionVersions } from "../../log/log.ts";
import { canonicalMac, canonicalVlan } from "../../model/address.ts";
import { type HostLocation, Link } from "../../model/entity.ts";
import { MAX_PATH_COUNT, PathExplanation } from "../../model/path-explanation.ts";
import { findDisjointPaths, pathCost } from "../../query/disjoint-paths.ts";
import { explainPaths, type FoundPaths, findPaths, isParted } from "../../query/explain-paths.ts";
import { badParameter } from "../../query/fault.ts";
import { type ParameterName, parameterSet } from "../../query/parameters.ts";
import { findPathEnds, type PathEnd, type PathEnds } from "../../query/path-ends.ts";
import type { LostLink } from "../../query/problems/recent-changes.ts";
import type { ParsedQuery } from "../../query/query.ts";
import { stateAt } from "../../query/revision.ts";
import { findShortestPaths, type Path } from "../../query/shortest-paths.ts";
import type { NetworkState } from "../../view/view.ts";
import type { Dialect } from "../onos/dialect.ts";
import { CONNECTED, FIRST, LINK, SECOND } from "../openapi/example-network.ts";
import { problemOf, throwIfFault } from "../response/problem.ts";
import { JSON_TYPE, type Representation } from "../response/representation.ts";
import { type Endpoint, type EndpointDocumentation, ITEM_PARAMETERS } from "./endpoint.ts";
import { jsonList } from "./json-list.ts";
import { cursorOf, next, nextPage, stateOfPage } from "./paging.ts";
import type { RequestContext } from "./read-context.ts";
import { type ShownChangedAt, versionsOf } from "./versions.ts";

/** The ends of the paths, as the request names them. */
interface NamedEnds {
  readonly src: string;
  readonly dst: string;
}

/**
 * Matches `{src}/{dst}` followed by the segments of `suffix`. A host id that is not percent-encoded is two segments.
 */
const matchEnds =
  (...suffix: readonly string[]) =>
  ([, ...segments]: readonly string[]): NamedEnds | undefined => {
    const ids: string[] = [];
    for (const segment of segments) {
      const last = ids.at(-1);
      const isVlan =
        last !== undefined && canonicalMac(last) !== undefined && canonicalVlan(segment) !== undefined;
      if (isVlan) ids[ids.length - 1] = `${last}/${segment}`;
      else ids.push(segment);
    }
    const [src = "", dst = "", ...rest] = ids;
    if (src === "" || dst === "" || rest.length !== suffix.length) return undefined;
    return suffix.every((segment, i) => segment === rest[i]) ? { src, dst } : undefined;
  };

const PathEndpoint = Type.Object(
  {
    port: Type.String({ description: "The port of the device; 0 of a host." }),
    device: Type.Optional(Type.String({ description: "The id of a device." })),
    host: Type.Optional(Type.String({ description: "The id of a host, at an end of the path." })),
  },
  { $id: "PathEnd" },
);
const PathLink = Type.Object(
  {
    ...Type.Partial(Link).properties,
    src: PathEndpoint,
    dst: PathEndpoint,
    type: Link.properties.type,
    state: Link.properties.state,
  },
  { $id: "PathLink", description: "A Link with all its fields, or the EDGE link of a host." },
);
const PathSchema = Type.Object(
  {
    cost: Type.Integer({ description: "1 a link, 32767 an INDIRECT link." }),
    links: Type.Array(PathLink),
  },
  { $id: "Path" },
);
const PATH_EXAMPLE = {
  cost: 1,
  links: [{ src: LINK.src, dst: LINK.dst, type: LINK.type, state: LINK.state }],
};

const PATH_EXPLANATION_EXAMPLE: PathExplanation = {
  src: { id: FIRST, resource: "devices", device: FIRST, name: "leaf-1" },
  dst: { id: SECOND, resource: "devices", device: SECOND, name: "leaf-2" },
  none: {
    reason: "parted",
    from: { count: 1, devices: [FIRST] },
    to: { count: 1, devices: [SECOND] },
    needed: 1,
    obstacles: [
      {
        resource: "links",
        id: LINK.id,
        state: "inactive",
        since: CONNECTED,
        src: LINK.src,
        dst: LINK.dst,
      },
    ],
    obstacleCount: 1,
  },
  count: 0,
  devices: [],
  links: [],
};

const PARAMETERS: readonly ParameterName[] = [...ITEM_PARAMETERS, "limit", "cursor"];
const DOCUMENTATION: EndpointDocumentation = {
  typeName: "Path",
  parameters: {
    limit: {
      component: "PathLimit",
      description: "The maximum number of paths on a page, at most `limits.paths` of the configuration.",
      schema: { type: "integer", minimum: 1 },
    },
  },
  headers: ["Gazetteer-Paths"],
  isAlwaysFound: true,
};

const listPaths: Endpoint<NamedEnds> = {
  id: "listPaths",
  tag: "Topology",
  summary: "The shortest paths",
  description:
    "All paths of the lowest cost between two devices or hosts, in the order of their link ids. An unknown end is no error: there is no path. With `explain=true`: how many there are and what they use together, or why there is none.",
  readName: "paths",
  path: "/paths/{src}/{dst}",
  match: matchEnds(),
  parameters: parameterSet([...PARAMETERS, "explain"]),
  maxLimit: ({ paths }) => paths,
  variants: [
    {
      formats: [JSON_FORMAT],
      schema: Type.Object({ paths: Type.Array(PathSchema), next }, { $id: "PathList" }),
      example: { paths: [PATH_EXAMPLE] },
      read: (context, ends, query, _format, { target }) =>
        pathsRepresentation(context, ends, false, query, target),
    },
    {
      parameter: "explain",
      formats: [PATH_EXPLANATION_FORMAT],
      schema: PathExplanation,
      example: PATH_EXPLANATION_EXAMPLE,
      read: pathExplanationRepresentation,
    },
  ],
  openapi: DOCUMENTATION,
};

const listDisjointPaths: Endpoint<NamedEnds> = {
  id: "listDisjointPaths",
  tag: "Topology",
  summary: "Pairs of disjoint paths",
  description: "Pairs of paths that share no link, with the lowest sum of costs.",
  readName: "paths",
  path: "/paths/{src}/{dst}/disjoint",
  match: matchEnds("disjoint"),
  parameters: parameterSet(PARAMETERS),
  maxLimit: ({ paths }) => paths,
  variants: [
    {
      formats: [JSON_FORMAT],
      schema: Type.Object(
        {
          paths: Type.Array(
            Type.Object({ primary: PathSchema, backup: Type.Optional(PathSchema) }, { $id: "DisjointPath" }),
          ),
        },
        { $id: "DisjointPathList" },
      ),
      example: { paths: [{ primary: PATH_EXAMPLE, backup: PATH_EXAMPLE }] },
      read: (context, ends, query, _format, { target }) =>
        pathsRepresentation(context, ends, true, query, target),
    },
  ],
  openapi: DOCUMENTATION,
};

export const PATH_ENDPOINTS = [listPaths, listDisjointPaths];

/** The representation of paths. `target` is the request target, which the `Link` to the next page repeats. */
function* pathsRepresentation(
  context: RequestContext,
  named: NamedEnds,
  disjoint: boolean,
  query: ParsedQuery,
  target: string,
): Steps<Representation> {
  const { view, dialect, limits } = context;
  const scope = `paths ${disjoint} ${JSON.stringify([named.src, named.dst])} ${query.fingerprint}`;
  const cursor = cursorOf(context, query, scope);
  const state = yield* stateOfPage(context, cursor, pathsChangedAt);
  // The ends are resolved here and not in `render`, because an ambiguous name must be a 400 even if `If-None-Match` matches.
  const ends = throwIfFault(findPathEnds(state, named, query.acceptsNames));
  const limit = query.limit ?? limits.paths;
  const from = Number(cursor?.after ?? 0);
  const versions = versionsOf(view, state, query, pathsChangedAt);
  // The version is the same on every node and for all pages of a walk.
  const version = cursor?.revision ?? versions.version;
  const info = {
    key: `${dialect.keyPrefix}${scope} ${limit} ${query.cursor ?? ""}`,
    version,
    currentVersion: versions.currentVersion,
    revision: version,
    isPage: true,
    contentType: JSON_TYPE,
  };
  return {
    info,
    *render() {
      const { items, count, more } = yield* disjoint
        ? disjointPaths(state, ends, limit, dialect)
        : shortestPaths(state, ends, from, limit, dialect);
      const nextCursor = more ? { revision: version, after: from + limit } : undefined;
      const { member, headers } = nextPage(context, target, scope, nextCursor);
      const counted = count === undefined ? {} : { "Gazetteer-Paths": String(count) };
      return { chunks: jsonList('{"paths":[', items, `]${member}}`), headers: { ...counted, ...headers } };
    },
  };
}

/** The revision that last changed paths. Any change of a device may change which devices the names of the ends mean. */
const pathsChangedAt = ({ graph, devices, links, hosts }: CollectionVersions): number =>
  Math.max(graph, devices, links, hosts);

const atRevision: ShownChangedAt = (_versions, revision) => revision;

/** Paths as JSON texts. */
interface PathItems {
  readonly items: Paced<string>;
  /** The number of all paths; undefined if the search ended before all were found. */
  readonly count: bigint | number | undefined;
  readonly more: boolean;
}

const NOTHING: PathItems = { items: [], count: 0, more: false };

function* shortestPaths(
  state: NetworkState,
  { src, dst }: PathEnds,
  from: number,
  limit: number,
  dialect: Dialect,
): Steps<PathItems> {
  if (!src || !dst) return NOTHING;
  if (src.device === dst.device) return pathWithinDevice(src, dst, dialect, (json) => json);
  const { count, slice } = yield* findShortestPaths(yield* state.linkGraph(), src.device, dst.device);
  const items = mapPaced(slice(BigInt(from), limit), (path) => renderPath(state, path, src, dst, dialect));
  return { items, count, more: BigInt(from + limit) < count };
}

function* disjointPaths(
  state: NetworkState,
  { src, dst }: PathEnds,
  limit: number,
  dialect: Dialect,
): Steps<PathItems> {
  if (!src || !dst) return NOTHING;
  if (src.device === dst.device) return pathWithinDevice(src, dst, dialect, (json) => `{"primary":${json}}`);
  const graph = yield* state.linkGraph();
  const { pairs, complete } = yield* findDisjointPaths(graph, src.device, dst.device, limit);
  const items = mapInSteps(pairs, PAIR_COST, ([primary, backup]) => {
    const first = renderPath(state, primary, src, dst, dialect);
    const second = renderPath(state, backup, src, dst, dialect);
    return `{"primary":${first},"backup":${second}}`;
  });
  return { items, count: complete ? pairs.length : undefined, more: false };
}

/** The cost of a pair of paths. Each pair is followed by a pause, because it may have thousands of links. */
const PAIR_COST = Number.POSITIVE_INFINITY;

/** The path between two hosts at one device, or a host and its device: only the EDGE links. A device has no path to itself. */
function pathWithinDevice(
  src: PathEnd,
  dst: PathEnd,
  dialect: Dialect,
  wrap: (json: string) => string,
): PathItems {
  const links = edgeLinks(src, dst, []);
  return links.length === 0 ? NOTHING : { items: [wrap(pathJson(links, 0, dialect))], count: 1, more: false };
}

function renderPath(state: NetworkState, path: Path, src: PathEnd, dst: PathEnd, dialect: Dialect): string {
  const links = path.map(({ id }) => state.get("links", id)).filter((json) => json !== undefined);
  return pathJson(edgeLinks(src, dst, links), pathCost(path) - path.length, dialect);
}

/** The links of a path with the EDGE links of hosts at its ends. */
function edgeLinks(src: PathEnd, dst: PathEnd, between: readonly string[]): string[] {
  const first = src.host ? [edgeLink(hostPoint(src.host.id), devicePoint(src.host.location))] : [];
  const last = dst.host ? [edgeLink(devicePoint(dst.host.location), hostPoint(dst.host.id))] : [];
  return [...first, ...between, ...last];
}

/** ONOS gives a host the port 0. */
const hostPoint = (host: string) => ({ port: "0", host });
const devicePoint = ({ elementId, port }: HostLocation) => ({ port, device: elementId });
const edgeLink = (src: object, dst: object): string =>
  JSON.stringify({ src, dst, type: "EDGE", state: "ACTIVE" });

/** The JSON of a path. A link costs 1; `surcharge` is the additional cost of INDIRECT links. */
function pathJson(links: readonly string[], surcharge: number, dialect: Dialect): string {
  const shown = links.map((json) => dialect.entity("links", json));
  return `{"cost":${dialect.cost(links.length + surcharge)},"links":[${shown.join(",")}]}`;
}

/**
 * The explanation of paths, or of why there is none. The ids of the devices and links that paths use are rendered one by
 * one, because there may be as many as the network has links.
 */
function* pathExplanationRepresentation(
  context: RequestContext,
  named: NamedEnds,
  query: ParsedQuery,
): Steps<Representation> {
  for (const name of ["limit", "cursor"] as const)
    if (query[name] !== undefined) throw problemOf(badParameter(name, "cannot be used with explain=true."));
  const { found, lost } = yield* query.at === undefined
    ? findNow(context, named, query)
    : findThen(context, named, query);
  const { state } = found;
  const { view, memory } = context;
  memory.hold(state);
  return {
    info: {
      key: `paths explained ${JSON.stringify([named.src, named.dst])} ${query.fingerprint}`,
      // Which links count as lost depends on the time of the revision, so every revision is another version.
      ...versionsOf(view, state, query, isParted(found) ? atRevision : pathsChangedAt),
      revision: state.revision,
      contentType: PATH_EXPLANATION_FORMAT.contentType,
    },
    *render() {
      const { head, count, union } = yield* explainPaths(found, lost, context.problems.finder);
      const shown = count < MAX_PATH_COUNT ? count : MAX_PATH_COUNT;
      const open = `${JSON.stringify(head).slice(0, -1)},"count":${shown},"devices":[`;
      return { chunks: unionChunks(open, union) };
    },
  };
}

interface Found {
  readonly found: FoundPaths;
  readonly lost: readonly LostLink[];
}

/**
 * If there is no path, the removed links are those of the list of problems, which is kept up to date. If that list is of a
 * later revision by then, the explanation is of that revision too.
 */
function* findNow(
  { history, view, problems }: RequestContext,
  named: NamedEnds,
  { acceptsNames }: ParsedQuery,
): Steps<Found> {
  const found = throwIfFault(yield* findPaths(view.capture(), named, acceptsNames));
  if (!isParted(found)) return { found, lost: [] };
  const { revision, removed } = yield* problems.newest();
  if (revision === found.state.revision) return { found, lost: removed };
  const then = yield* findPaths(yield* history.stateAt(revision), named, acceptsNames);
  return { found: throwIfFault(then), lost: removed };
}

function* findThen(
  { history, problems, memory, revisions }: RequestContext,
  named: NamedEnds,
  query: ParsedQuery,
): Steps<Found> {
  const state = yield* stateAt(history, revisions.at);
  const found = throwIfFault(yield* findPaths(state, named, query.acceptsNames));
  if (!isParted(found)) return { found, lost: [] };
  const lost = yield* problems.removedBefore(found.state);
  memory.add(lost.length * LINK_BYTES);
  return { found, lost };
}

/** Estimated memory of a link that was removed. */
const LINK_BYTES = 1000;

function* unionChunks(
  open: string,
  { devices, links }: { readonly devices: readonly string[]; readonly links: readonly { id: string }[] },
): Generator<Uint8Array | undefined, void, void> {
  yield* jsonList(open, jsonTexts(devices), '],"links":[');
  yield* jsonList("", jsonTexts(links.map(({ id }) => id)), "]}");
}

const jsonTexts = (ids: readonly string[]): Paced<string> =>
  mapInSteps(ids, COST.key, (id) => JSON.stringify(id));
