/**
 * The explanation of the paths between two ids: the number of shortest paths and the union of what they use, or why there
 * is none. The union is returned as links, so that a large one is rendered in pieces.
 */
import type { Steps } from "../lib/steps.ts";
import type { ExplainedEnd, NoPath, PathExplanation } from "../model/path-explanation.ts";
import type { History } from "../view/history.ts";
import { type NetworkState, parseStored } from "../view/view.ts";
import type { CountBytes } from "./changes.ts";
import { pathCost } from "./disjoint-paths.ts";
import { findParting } from "./no-path.ts";
import { type PathEnd, resolvePathEnd } from "./path-ends.ts";
import { findShortestPaths, type PathUnion } from "./shortest-paths.ts";

export interface ExplainedPaths {
  /** `count` is apart: it may be larger than a number holds. */
  readonly head: Pick<PathExplanation, "src" | "dst" | "cost" | "none">;
  readonly count: bigint;
  readonly union: PathUnion;
}

const NOTHING: PathUnion = { devices: [], links: [] };

export function* explainPaths(
  history: History,
  state: NetworkState,
  srcId: string,
  dstId: string,
  countBytes: CountBytes,
): Steps<ExplainedPaths> {
  const [src, dst] = [resolvePathEnd(state, srcId), resolvePathEnd(state, dstId)];
  const ends = { src: describeEnd(state, srcId, src), dst: describeEnd(state, dstId, dst) };
  const noPath = (none: NoPath): ExplainedPaths => ({
    head: { ...ends, none },
    count: 0n,
    union: NOTHING,
  });
  if (!src || !dst) return noPath({ reason: "unknown-end" });
  const edges = Number(src.host !== undefined) + Number(dst.host !== undefined);
  if (src.device === dst.device) {
    if (edges === 0) return noPath({ reason: "same-device" });
    return { head: { ...ends, cost: edges }, count: 1n, union: { devices: [src.device], links: [] } };
  }
  const paths = yield* findShortestPaths(yield* state.linkGraph(), src.device, dst.device);
  if (paths.count === 0n) {
    const { needed, obstacles, obstacleCount, ...sets } = yield* findParting(
      history,
      state,
      src.device,
      dst.device,
      countBytes,
    );
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
