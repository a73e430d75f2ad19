/**
 * Why there is no path between two devices: which devices each end reaches, and the obstacles between the two sets. Of all
 * that is down in a network only what is on a way with the fewest obstacles is listed: the repair of `needed` of them gives
 * a path again, and the rest of the network that is down is of no help.
 */
import { COST, Pause, type PausingSteps, type Steps } from "../lib/steps.ts";
import type { Link } from "../model/entity.ts";
import type { PathObstacle, ReachableSet } from "../model/path-explanation.ts";
import { type NetworkState, parseStored } from "../view/view.ts";
import { IS_INACTIVE, IS_ONE_SIDED } from "./problems/link-findings.ts";
import type { LostLink } from "./problems/recent-changes.ts";
import { type SinceFinder, unavailableSince } from "./problems/since.ts";
import { RelaxedGraph, type RelaxedLink } from "./relaxed-graph.ts";
import { distancesFrom } from "./shortest-paths.ts";

/** Of each list of ids in the result. */
const MAX_LISTED = 100;

export interface Parting {
  readonly from: ReachableSet;
  readonly to: ReachableSet;
  /** 0 where nothing is known that joins the ends. */
  readonly needed: number;
  readonly obstacles: readonly PathObstacle[];
  readonly obstacleCount: number;
}

/** There must be no path from `src` to `dst`, which differ. `lost` are links that were removed, and are not in the state. */
export function* findParting(
  state: NetworkState,
  src: string,
  dst: string,
  lost: readonly LostLink[],
  finder: SinceFinder,
): Steps<Parting> {
  const relaxed = new RelaxedGraph(yield* state.linkGraph(), lost);
  const fromSrc = yield* distancesFrom(src, (id) =>
    relaxed.from(id).map((link) => [link.dst, relaxed.costOf(link)]),
  );
  const toDst = yield* distancesFrom(dst, (id) =>
    relaxed.to(id).map((link) => [link.src, relaxed.costOf(link)]),
  );
  const reachable = {
    from: reachableSet(src, relaxed.deviceCost(src) === 1 ? [] : fromSrc),
    to: reachableSet(
      dst,
      [...toDst].filter(([id]) => relaxed.deviceCost(id) === 0),
    ),
  };
  const distance = fromSrc.get(dst);
  if (distance === undefined) return { ...reachable, needed: 0, obstacles: [], obstacleCount: 0 };
  const found = yield* findObstacles(relaxed, src, distance, fromSrc, toDst);
  const byId = new Map(lost.map((removed) => [removed.link.id, removed]));
  const devices = [...found.devices].slice(0, MAX_LISTED).map((id) => describeDevice(state, id));
  const links = yield* describeLinks(state, [...found.links.values()].slice(0, MAX_LISTED), byId, finder);
  return {
    ...reachable,
    needed: distance + relaxed.deviceCost(src),
    obstacles: [...devices, ...links].slice(0, MAX_LISTED),
    obstacleCount: found.devices.size + found.links.size,
  };
}

/** What costs nothing, nearest first. An end always reaches itself. */
function reachableSet(
  end: string,
  distances: Iterable<readonly [id: string, distance: number]>,
): ReachableSet {
  const devices = [end];
  for (const [id, distance] of distances) if (distance === 0 && id !== end) devices.push(id);
  return { count: devices.length, devices: devices.slice(0, MAX_LISTED) };
}

/** The obstacles on any way from `src` whose cost is `distance`. */
function* findObstacles(
  relaxed: RelaxedGraph,
  src: string,
  distance: number,
  fromSrc: ReadonlyMap<string, number>,
  toDst: ReadonlyMap<string, number>,
): PausingSteps<{ devices: Set<string>; links: Map<string, RelaxedLink> }> {
  const devices = new Set<string>(relaxed.deviceCost(src) === 1 ? [src] : []);
  const links = new Map<string, RelaxedLink>();
  const pause = new Pause();
  for (const [id, before] of fromSrc) {
    for (const link of before > distance ? [] : relaxed.from(id)) {
      const after = toDst.get(link.dst);
      if (after === undefined || before + relaxed.costOf(link) + after !== distance) continue;
      if (relaxed.linkCost(link) === 1) links.set(link.id, link);
      if (relaxed.deviceCost(link.dst) === 1) devices.add(link.dst);
    }
    if (pause.due(COST.record)) yield;
  }
  return { devices, links };
}

function describeDevice(state: NetworkState, id: string): PathObstacle {
  const json = state.get("devices", id);
  if (json === undefined) return { resource: "devices", id, state: "gone" };
  const device = parseStored("devices", json);
  const name = device.annotations.name?.trim();
  const since = unavailableSince(device);
  return { resource: "devices", id, state: "unavailable", since, ...(name && { name }) };
}

function* describeLinks(
  state: NetworkState,
  links: readonly RelaxedLink[],
  lost: ReadonlyMap<string, LostLink>,
  finder: SinceFinder,
): Steps<PathObstacle[]> {
  const stored = new Map<string, Link>();
  for (const { id } of links) {
    const json = state.get("links", id);
    if (json !== undefined) stored.set(id, parseStored("links", json));
  }
  const storedOf = (isOneWay: boolean): Link[] =>
    links.flatMap(({ id, state: linkState }) =>
      (linkState === "one-way") === isOneWay ? (stored.get(id) ?? []) : [],
    );
  const inactiveSince = yield* finder.find(IS_INACTIVE, storedOf(false));
  const oneWaySince = yield* finder.find(IS_ONE_SIDED, storedOf(true));
  return links.map(({ id, state: linkState }): PathObstacle => {
    const common = { resource: "links", id, state: linkState === "active" ? "inactive" : linkState } as const;
    const gone = linkState === "lost" ? lost.get(id) : undefined;
    if (gone)
      return { ...common, since: new Date(gone.time).toISOString(), src: gone.link.src, dst: gone.link.dst };
    const link = stored.get(id);
    if (!link) return common;
    const since = (linkState === "one-way" ? oneWaySince : inactiveSince).get(id) ?? link.lastChanged;
    return { ...common, since, src: link.src, dst: link.dst };
  });
}
