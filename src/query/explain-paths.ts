/**
 * The explanation of the paths between two ids: the number of shortest paths and the union of their devices and links, or
 * the reason why there is none. The union is returned as links, so that a large one is rendered in pieces.
 */
import type { Steps } from "../lib/steps.ts";
import type { ExplainedEnd, NoPath, PathExplanation } from "../model/path-explanation.ts";
import { type NetworkState, parseStored } from "../view/view.ts";
import { pathCost } from "./disjoint-paths.ts";
import { QueryFault } from "./fault.ts";
import { findParting } from "./no-path.ts";
import { findPathEnds, type PathEnd } from "./path-ends.ts";
import type { LostLink } from "./problems/recent-changes.ts";
import type { SinceFinder } from "./problems/since.ts";
import { findShortestPaths, type PathUnion, type ShortestPaths } from "./shortest-paths.ts";

export interface ExplainedPaths {
  /** The small part of the explanation. `count` is separate, because it may be larger than a number can hold. */
  readonly head: Pick<PathExplanation, "src" | "dst" | "cost" | "none">;
  readonly count: bigint;
  readonly union: PathUnion;
}

const NOTHING: PathUnion = { devices: [], links: [] };

/** The ends of a path request, and the paths between their devices, where these differ. */
export interface FoundPaths {
  readonly state: NetworkState;
  readonly ends: Pick<PathExplanation, "src" | "dst">;
  readonly src: PathEnd | undefined;
  readonly dst: PathEnd | undefined;
  readonly paths: ShortestPaths | undefined;
}

export function* findPaths(
  state: NetworkState,
  ids: { readonly src: string; readonly dst: string },
  acceptsNames: boolean,
): Steps<FoundPaths | QueryFault> {
  const found = findPathEnds(state, ids, acceptsNames);
  if (found instanceof QueryFault) return found;
  const { src, dst } = found;
  const ends = { src: describeEnd(state, ids.src, src), dst: describeEnd(state, ids.dst, dst) };
  const differ = src && dst && src.device !== dst.device;
  const paths = differ && (yield* findShortestPaths(yield* state.linkGraph(), src.device, dst.device));
  return { state, ends, src, dst, paths: paths || undefined };
}

/** Whether the removed links are needed to explain why there is no path. */
export const isParted = ({ paths }: FoundPaths): boolean => paths?.count === 0n;

/** `lost` and `finder` are used only where the ends are parted. */
export function* explainPaths(
  found: FoundPaths,
  lost: readonly LostLink[],
  finder: SinceFinder,
): Steps<ExplainedPaths> {
  const { state, ends, src, dst, paths } = found;
  const noPath = (none: NoPath): ExplainedPaths => ({
    head: { ...ends, none },
    count: 0n,
    union: NOTHING,
  });
  if (!src || !dst) return noPath({ reason: "unknown-end" });
  const edges = Number(src.host !== undefined) + Number(dst.host !== undefined);
  if (!paths) {
    if (edges === 0) return noPath({ reason: "same-device" });
    return { head: { ...ends, cost: edges }, count: 1n, union: { devices: [src.device], links: [] } };
  }
  if (isParted(found)) {
    const parting = yield* findParting(state, src.device, dst.device, lost, finder);
    const { needed, obstacles, obstacleCount, ...sets } = parting;
    if (needed === 0) return noPath({ reason: "never-joined", ...sets });
    return noPath({ reason: "parted", ...sets, needed, obstacles: [...obstacles], obstacleCount });
  }
  const union = yield* paths.union();
  let cost = edges;
  for (const path of paths.slice(0n, 1)) cost += path ? pathCost(path) : 0;
  return { head: { ...ends, cost }, count: paths.count, union };
}

function describeEnd(state: NetworkState, id: string, end: PathEnd | undefined): ExplainedEnd {
  if (!end) return { id };
  const { device, host } = end;
  const json = host ? state.get("hosts", host.id) : state.get("devices", device);
  const entity = json === undefined ? undefined : parseStored(host ? "hosts" : "devices", json);
  const name = entity?.annotations?.name?.trim();
  const named = name ? { name } : {};
  if (!host) return { id: device, resource: "devices", device, ...named };
  return { id: host.id, resource: "hosts", device, port: host.location.port, ...named };
}
