/**
 * The graph with everything that is down: inactive links, links that are lost, directions that are not known, and devices
 * that are unavailable or gone. Each of those costs 1 and what works costs nothing, so that the cheapest way between two
 * devices passes the fewest obstacles, and what costs nothing is what can be reached.
 */
import type { Link } from "../model/entity.ts";
import type { PathObstacle } from "../model/path-explanation.ts";
import type { LinkGraph } from "../view/link-graph.ts";

type LinkState = Extract<PathObstacle["state"], "inactive" | "lost" | "one-way"> | "active";

export interface RelaxedLink {
  /** Of a direction that is not known: the id of the link in the other direction. */
  readonly id: string;
  readonly src: string;
  readonly dst: string;
  readonly state: LinkState;
}

/** A link that was removed, with its ends and when. */
export interface LostLink {
  readonly id: string;
  readonly src: Link["src"];
  readonly dst: Link["dst"];
  readonly timeMs: number;
}

export class RelaxedGraph {
  readonly #graph: LinkGraph;
  readonly #lostFrom: ReadonlyMap<string, readonly LostLink[]>;
  readonly #lostTo: ReadonlyMap<string, readonly LostLink[]>;

  constructor(graph: LinkGraph, lost: readonly LostLink[]) {
    this.#graph = graph;
    this.#lostFrom = Map.groupBy(lost, ({ src }) => src.device);
    this.#lostTo = Map.groupBy(lost, ({ dst }) => dst.device);
  }

  /** What the device itself costs. */
  deviceCost(id: string): 0 | 1 {
    return this.#graph.isAvailable(id) ? 0 : 1;
  }

  /** What it costs to go over a link into the device at its end. */
  costOf({ dst, state }: RelaxedLink): number {
    return (state === "active" ? 0 : 1) + this.deviceCost(dst);
  }

  from(id: string): RelaxedLink[] {
    const links: RelaxedLink[] = [];
    const known = new Set<string>();
    for (const { id: link, dst, active } of this.#graph.linksFrom(id)) {
      known.add(dst);
      links.push({ id: link, src: id, dst, state: active ? "active" : "inactive" });
    }
    for (const { id: link, dst } of this.#lostFrom.get(id) ?? []) {
      known.add(dst.device);
      links.push({ id: link, src: id, dst: dst.device, state: "lost" });
    }
    for (const { id: link, src, active } of this.#graph.linksTo(id))
      if (active && !known.has(src)) links.push({ id: link, src: id, dst: src, state: "one-way" });
    return links;
  }

  to(id: string): RelaxedLink[] {
    const links: RelaxedLink[] = [];
    const known = new Set<string>();
    for (const { id: link, src, active } of this.#graph.linksTo(id)) {
      known.add(src);
      links.push({ id: link, src, dst: id, state: active ? "active" : "inactive" });
    }
    for (const { id: link, src } of this.#lostTo.get(id) ?? []) {
      known.add(src.device);
      links.push({ id: link, src: src.device, dst: id, state: "lost" });
    }
    for (const { id: link, dst, active } of this.#graph.linksFrom(id))
      if (active && !known.has(dst)) links.push({ id: link, src: dst, dst: id, state: "one-way" });
    return links;
  }
}
