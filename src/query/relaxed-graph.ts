/**
 * The graph with everything that is down: inactive links, links that are lost, directions that are not known, and devices
 * that are unavailable or gone. Each of those costs 1 and what works costs nothing, so that the cheapest way between two
 * devices passes the fewest obstacles, and what costs nothing is what can be reached. A link at a device that is down costs
 * nothing besides the device: it comes back with it, and is no repair of its own.
 */
import type { PathObstacle } from "../model/path-explanation.ts";
import type { LinkGraph } from "../view/link-graph.ts";
import type { LostLink } from "./problems/recent-changes.ts";

type LinkState = Extract<PathObstacle["state"], "inactive" | "lost" | "one-way"> | "active";

export interface RelaxedLink {
  /** Of a direction that is not known: the id of the link in the other direction. */
  readonly id: string;
  readonly src: string;
  readonly dst: string;
  readonly state: LinkState;
}

export class RelaxedGraph {
  readonly #graph: LinkGraph;
  readonly #lostFrom: ReadonlyMap<string, readonly LostLink[]>;
  readonly #lostTo: ReadonlyMap<string, readonly LostLink[]>;

  constructor(graph: LinkGraph, lost: readonly LostLink[]) {
    this.#graph = graph;
    this.#lostFrom = Map.groupBy(lost, ({ link }) => link.src.device);
    this.#lostTo = Map.groupBy(lost, ({ link }) => link.dst.device);
  }

  /** What the device itself costs. */
  deviceCost(id: string): 0 | 1 {
    return this.#graph.isAvailable(id) ? 0 : 1;
  }

  /** What the link itself costs. */
  linkCost({ src, dst, state }: RelaxedLink): 0 | 1 {
    return state === "active" || this.#isDown(src, dst) ? 0 : 1;
  }

  /** What it costs to go over a link into the device at its end. */
  costOf(link: RelaxedLink): number {
    return this.linkCost(link) + this.deviceCost(link.dst);
  }

  /** In order of id: that of the graph depends on how it came about, and is not the same on every node of a cluster. */
  from(id: string): RelaxedLink[] {
    const ways = this.#waysOf(id, this.#knownFrom(id), this.#knownTo(id));
    return ways.map(({ id: link, other, state }) => ({ id: link, src: id, dst: other, state })).sort(byId);
  }

  /** In the same order. */
  to(id: string): RelaxedLink[] {
    const ways = this.#waysOf(id, this.#knownTo(id), this.#knownFrom(id));
    return ways.map(({ id: link, other, state }) => ({ id: link, src: other, dst: id, state })).sort(byId);
  }

  /** What is known in the direction that is needed; of other devices, what is known in the other one. */
  #waysOf(id: string, needed: readonly Way[], reverse: readonly Way[]): Way[] {
    const known = new Set(needed.map(({ other }) => other));
    const oneWay = reverse.filter(
      ({ other, state }) => !known.has(other) && (state === "active" || this.#isDown(id, other)),
    );
    return [...needed, ...oneWay.map((way): Way => ({ ...way, state: "one-way" }))];
  }

  #knownFrom(id: string): Way[] {
    return [
      ...this.#graph.linksFrom(id).map((link) => ({ id: link.id, other: link.dst, state: stateOf(link) })),
      ...(this.#lostFrom.get(id) ?? []).map(({ link }) => lostWay(link, link.dst.device)),
    ];
  }

  #knownTo(id: string): Way[] {
    return [
      ...this.#graph.linksTo(id).map((link) => ({ id: link.id, other: link.src, state: stateOf(link) })),
      ...(this.#lostTo.get(id) ?? []).map(({ link }) => lostWay(link, link.src.device)),
    ];
  }

  #isDown(...ids: readonly string[]): boolean {
    return ids.some((id) => this.deviceCost(id) === 1);
  }
}

/** A link between a device and another one. */
interface Way {
  readonly id: string;
  readonly other: string;
  readonly state: LinkState;
}

const stateOf = ({ active }: { readonly active: boolean }): LinkState => (active ? "active" : "inactive");

const lostWay = ({ id }: LostLink["link"], other: string): Way => ({ id, other, state: "lost" });

const byId = (a: RelaxedLink, b: RelaxedLink): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
