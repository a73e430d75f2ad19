/**
 * The graph with everything that is down: inactive links, links that are lost, directions that are not known, and devices
 * that are unavailable or gone. Each of those costs 1 and what works costs nothing, so that the cheapest way between two
 * devices passes the fewest obstacles, and what costs nothing is what can be reached.
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

  /** What it costs to go over a link into the device at its end. */
  costOf({ dst, state }: RelaxedLink): number {
    return (state === "active" ? 0 : 1) + this.deviceCost(dst);
  }

  /** In order of id: that of the graph depends on how it came about, and is not the same on every node of a cluster. */
  from(id: string): RelaxedLink[] {
    const links: RelaxedLink[] = [];
    const known = new Set<string>();
    for (const { id: link, dst, active } of this.#graph.linksFrom(id)) {
      known.add(dst);
      links.push({ id: link, src: id, dst, state: active ? "active" : "inactive" });
    }
    for (const { link } of this.#lostFrom.get(id) ?? []) {
      const dst = link.dst.device;
      known.add(dst);
      links.push({ id: link.id, src: id, dst, state: "lost" });
    }
    for (const { id: link, src, active } of this.#graph.linksTo(id))
      if (active && !known.has(src)) links.push({ id: link, src: id, dst: src, state: "one-way" });
    return links.sort(byId);
  }

  /** In the same order. */
  to(id: string): RelaxedLink[] {
    const links: RelaxedLink[] = [];
    const known = new Set<string>();
    for (const { id: link, src, active } of this.#graph.linksTo(id)) {
      known.add(src);
      links.push({ id: link, src, dst: id, state: active ? "active" : "inactive" });
    }
    for (const { link } of this.#lostTo.get(id) ?? []) {
      const src = link.src.device;
      known.add(src);
      links.push({ id: link.id, src, dst: id, state: "lost" });
    }
    for (const { id: link, dst, active } of this.#graph.linksFrom(id))
      if (active && !known.has(dst)) links.push({ id: link, src: dst, dst: id, state: "one-way" });
    return links.sort(byId);
  }
}

const byId = (a: RelaxedLink, b: RelaxedLink): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
