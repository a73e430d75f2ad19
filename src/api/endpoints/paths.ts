/**
 * The representations of paths, in ONOS's shape. The shortest paths of a large network can be more than any response can
 * hold: a response has at most `maxPaths` of them, `Gazetteer-Paths` says how many there are, and `next` leads to more.
 */
import { mapPaced, type Paced, pausing, type Steps } from "../../lib/steps.ts";
import type { CollectionVersions } from "../../log/log.ts";
import type { HostLocation } from "../../model/entity.ts";
import { decodeCursor, encodeCursor, stateOfCursor } from "../../query/cursor.ts";
import { findDisjointPaths, pathCost } from "../../query/disjoint-paths.ts";
import { findPathEnds, type PathEnd, type PathEnds } from "../../query/path-ends.ts";
import type { Query } from "../../query/query.ts";
import { resolveState } from "../../query/revision.ts";
import { findShortestPaths, type Path } from "../../query/shortest-paths.ts";
import type { NetworkState, View } from "../../view/view.ts";
import type { Dialect } from "../onos/dialect.ts";
import { JSON_TYPE } from "../response/media-types.ts";
import { throwIfFault } from "../response/query-problem.ts";
import type { Representation } from "../response/representation.ts";
import { jsonList } from "./json-list.ts";
import { nextTarget } from "./list.ts";
import type { RequestContext } from "./read-context.ts";
import type { Route } from "./route.ts";

export type PathsRoute = Extract<Route, { read: "paths" }>;

/** `target` is the request target: the `Link` to the next page repeats it. */
export function* pathsRepresentation(
  { history, view, log, dialect, memory }: RequestContext,
  route: PathsRoute,
  query: Query,
  maxPaths: number,
  target: string,
): Steps<Representation> {
  const scope = `paths ${route.disjoint} ${JSON.stringify([route.src, route.dst])} ${query.fingerprint}`;
  const cursor =
    query.cursor === undefined ? undefined : throwIfFault(decodeCursor(query.cursor, scope, log.signingKey));
  const state = throwIfFault(
    cursor ? yield* stateOfCursor(history, cursor, pathsChangedAt) : yield* resolveState(history, query),
  );
  memory.hold(state);
  // Resolved here and not in `render`: an ambiguous name must be a 400 whatever the condition of the request.
  const ends = throwIfFault(findPathEnds(state, route, query.acceptsNames));
  const isCurrent = query.at === undefined && !cursor;
  const limit = query.limit ?? maxPaths;
  const from = Number(cursor?.after ?? 0);
  // The same on every node, and for all pages of a walk.
  const version = cursor?.revision ?? (isCurrent ? pathsChangedAt(state.versions) : state.revision);
  const info = {
    key: `${dialect.keyPrefix}${scope} ${limit} ${query.cursor ?? ""}`,
    version,
    ...(isCurrent && { currentVersion: followPaths(view) }),
    revision: version,
    isPage: true,
    contentType: JSON_TYPE,
  };
  return {
    info,
    *render() {
      const { items, count, more } = yield* route.disjoint
        ? disjointPaths(state, ends, limit, dialect)
        : shortestPaths(state, ends, from, limit, dialect);
      const next = more
        ? encodeCursor({ revision: version, after: from + limit }, scope, log.signingKey)
        : undefined;
      const headers: Record<string, string> = {};
      if (count !== undefined) headers["Gazetteer-Paths"] = String(count);
      if (next !== undefined) headers.Link = `<${nextTarget(target, next)}>; rel="next"`;
      const close = next === undefined ? "]}" : `],"next":${JSON.stringify(next)}}`;
      return { chunks: jsonList('{"paths":[', items, close), headers };
    },
  };
}

/** With the devices: what the names of the ends mean may change with any of them. */
export const pathsChangedAt = ({ graph, devices, links, hosts }: CollectionVersions): number =>
  Math.max(graph, devices, links, hosts);

export const followPaths = (view: View) => (): number => pathsChangedAt(view.versions);

interface FoundPaths {
  readonly items: Paced<string>;
  /** Undefined where the search ended before all were found. */
  readonly count: bigint | number | undefined;
  readonly more: boolean;
}

const NOTHING: FoundPaths = { items: [], count: 0, more: false };

function* shortestPaths(
  state: NetworkState,
  { src, dst }: PathEnds,
  from: number,
  limit: number,
  dialect: Dialect,
): Steps<FoundPaths> {
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
): Steps<FoundPaths> {
  if (!src || !dst) return NOTHING;
  if (src.device === dst.device) return pathWithinDevice(src, dst, dialect, (json) => `{"primary":${json}}`);
  const graph = yield* state.linkGraph();
  const { pairs, complete } = yield* findDisjointPaths(graph, src.device, dst.device, limit);
  const items = mapPaced(pausing(pairs, PATHS_PER_STEP), ([primary, backup]) => {
    const first = renderPath(state, primary, src, dst, dialect);
    const second = renderPath(state, backup, src, dst, dialect);
    return `{"primary":${first},"backup":${second}}`;
  });
  return { items, count: complete ? pairs.length : undefined, more: false };
}

/** Pairs of paths that are rendered between two pauses. */
const PATHS_PER_STEP = 1;

/** Two hosts, or a host and its device, at one device: the EDGE links alone. A device has no path to itself. */
function pathWithinDevice(
  src: PathEnd,
  dst: PathEnd,
  dialect: Dialect,
  wrap: (json: string) => string,
): FoundPaths {
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

/** A link costs 1; `surcharge` is what INDIRECT links cost beyond that. */
function pathJson(links: readonly string[], surcharge: number, dialect: Dialect): string {
  const shown = links.map((json) => dialect.entity("links", json));
  return `{"cost":${dialect.cost(links.length + surcharge)},"links":[${shown.join(",")}]}`;
}
