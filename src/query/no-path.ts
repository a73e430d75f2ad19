/**
 * Why there is no path between two devices: the devices that each end reaches, and the obstacles between the two sets. Only
 * the obstacles on a path with the fewest obstacles are listed: repairing `needed` of them gives a path again, and
 * repairing other parts of the network that are down does not help.
 */
import { compareTexts } from "../lib/sorted.ts";
import { COST, Pause, type PausingSteps, type Steps } from "../lib/steps.ts";
import type { Link } from "../model/entity.ts";
import type { PathObstacle, ReachableSet } from "../model/path-explanation.ts";
import type { LinkGraph } from "../view/link-graph.ts";
import { type NetworkState, parseStored } from "../view/view.ts";
import { IS_INACTIVE, IS_ONE_SIDED } from "./problems/link-findings.ts";
import type { LostLink } from "./problems/recent-changes.ts";
import { type SinceFinder, unavailableSince } from "./problems/since.ts";
import { distancesFrom } from "./shortest-paths.ts";

/*
 * The graph with everything that is down: inactive links, lost links, directions that are not known, and devices that are
 * unavailable or gone. Each of those costs 1 and everything that works costs nothing, so that the cheapest path between two
 * devices has the fewest obstacles, and a device at cost 0 can be reached. A link at a device that is down costs nothing
 * besides the device, because it comes back with the device and needs no repair of its own.
 */

type LinkState = Extract<PathObstacle["state"], "inactive" | "lost" | "one-way"> | "active";

interface RelaxedLink {
  /** The id of the link; where its direction is not known, the id of the link in the other direction. */
  readonly id: string;
  readonly src: string;
  readonly dst: string;
  readonly state: LinkState;
}

class RelaxedGraph {
  readonly #graph: LinkGraph;
  readonly #lostFrom: ReadonlyMap<string, readonly LostLink[]>;
  readonly #lostTo: ReadonlyMap<string, readonly LostLink[]>;

  constructor(graph: LinkGraph, lost: readonly LostLink[]) {
    this.#graph = graph;
    this.#lostFrom = Map.groupBy(lost, ({ link }) => link.src.device);
    this.#lostTo = Map.groupBy(lost, ({ link }) => link.dst.device);
  }

  /** The cost of the device itself. */
  deviceCost(id: string): 0 | 1 {
    return this.#graph.isAvailable(id) ? 0 : 1;
  }

  /** The cost of the link itself. */
  linkCost({ src, dst, state }: RelaxedLink): 0 | 1 {
    return state === "active" || this.#isDown(src, dst) ? 0 : 1;
  }

  /** The cost of using a link to enter the device at its end. */
  costOf(link: RelaxedLink): number {
    return this.linkCost(link) + this.deviceCost(link.dst);
  }

  /** The links from a device in order of id, because the order in the graph differs between the nodes of a cluster. */
  from(id: string): RelaxedLink[] {
    return this.#ways(id, "dst").map(({ other, ...link }) => ({ ...link, src: id, dst: other }));
  }

  /** The links to a device in order of id. */
  to(id: string): RelaxedLink[] {
    return this.#ways(id, "src").map(({ other, ...link }) => ({ ...link, src: other, dst: id }));
  }

  /** The links to other devices at their `end` and, for devices known only in the other direction, those as `one-way`. */
  #ways(id: string, end: End): Way[] {
    const needed = this.#known(id, end);
    const known = new Set(needed.map(({ other }) => other));
    const oneWay = this.#known(id, end === "src" ? "dst" : "src").filter(
      ({ other, state }) => !known.has(other) && (state === "active" || this.#isDown(id, other)),
    );
    return [...needed, ...oneWay.map((way): Way => ({ ...way, state: "one-way" }))].sort(byId);
  }

  /** The known links of a device that have the other device at their `end`. */
  #known(id: string, end: End): Way[] {
    const links = end === "dst" ? this.#graph.linksFrom(id) : this.#graph.linksTo(id);
    const lost = (end === "dst" ? this.#lostFrom : this.#lostTo).get(id) ?? [];
    return [
      ...links.map(
        (link): Way => ({ id: link.id, other: link[end], state: link.active ? "active" : "inactive" }),
      ),
      ...lost.map(({ link }): Way => ({ id: link.id, other: link[end].device, state: "lost" })),
    ];
  }

  #isDown(...ids: readonly string[]): boolean {
    return ids.some((id) => this.deviceCost(id) === 1);
  }
}

type End = "src" | "dst";

/** A link between a device and `other`. */
interface Way {
  readonly id: string;
  readonly other: string;
  readonly state: LinkState;
}

const byId = (a: Way, b: Way): number => compareTexts(a.id, b.id);

/** Length of each list of ids in the result. */
const MAX_LISTED = 100;

export interface Parting {
  readonly from: ReachableSet;
  readonly to: ReachableSet;
  /** Number of obstacles that must end; 0 where nothing is known that joins the ends. */
  readonly needed: number;
  readonly obstacles: readonly PathObstacle[];
  readonly obstacleCount: number;
}

/** `src` and `dst` must differ and have no path between them. `lost` are removed links, which are not in the state. */
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

/** The devices at cost 0, nearest first. An end always reaches itself. */
function reachableSet(
  end: string,
  distances: Iterable<readonly [id: string, distance: number]>,
): ReachableSet {
  const devices = [end];
  for (const [id, distance] of distances) if (distance === 0 && id !== end) devices.push(id);
  return { count: devices.length, devices: devices.slice(0, MAX_LISTED) };
}

/** The obstacles on any path from `src` whose cost is `distance`. */
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
