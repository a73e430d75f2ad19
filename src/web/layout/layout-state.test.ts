/** What the layout worker computes: what is there does not move, and only what is different is sent to the page. */
import { describe, expect, test } from "bun:test";
import { countThroughBoxes } from "../../../bench/web/link-quality.ts";
import {
  demoLayoutGraph,
  fatTree,
  grid,
  type LayoutGraph,
  listedLayoutGraph,
  type NumberedEdge,
} from "../../../test/support/layout-graphs.ts";
import { leafSpine } from "../../../test/support/sample-network.ts";
import { DEVICE_BOX, SPACING } from "../../layout/map-layout.ts";
import type { LayoutRequest, LayoutResponse } from "./layout-messages.ts";
import { LayoutState } from "./layout-state.ts";

/** The page: it numbers the devices of a graph by their index and applies responses. */
class Page {
  readonly state: LayoutState;
  readonly positions = new Map<number, { x: number; y: number; cluster: number }>();
  readonly routes = new Map<string, number[]>();

  constructor(state = new LayoutState()) {
    this.state = state;
  }

  load({ nodes, edges }: LayoutGraph): LayoutResponse {
    return this.send({
      added: nodes.map((node, number) => ({ number, node })),
      connected: edges.flat(),
    });
  }

  send(request: Partial<LayoutRequest>): LayoutResponse {
    this.state.add({ added: [], removed: [], connected: [], disconnected: [], isLast: true, ...request });
    const [response, ...others] = this.state.update();
    if (!response || others.length > 0) throw new Error("a small network is sent in one part");
    for (const [i, number] of response.devices.entries()) {
      const [x = 0, y = 0] = response.positions.slice(i * 2);
      this.positions.set(number, { x, y, cluster: response.clusters[i] ?? 0 });
    }
    for (let i = 0; i * 2 < response.pairs.length; i++) {
      const [a = 0, b = 0] = response.pairs.slice(i * 2);
      const route = response.points.slice(response.offsets[i], response.offsets[i + 1]);
      this.routes.set(pairText(a, b), [...route]);
    }
    return response;
  }

  at(number: number): { x: number; y: number; cluster: number } {
    const position = this.positions.get(number);
    if (!position) throw new Error(`device ${number} has no position`);
    return position;
  }

  throughBoxes(): number {
    const boxes = [...this.positions.keys()].sort((p, q) => p - q).map((number) => this.at(number));
    const links = [...this.routes].map(([pair, points]) => {
      const [a = 0, b = 0] = pair.split("-").map(Number);
      return { a, b, points };
    });
    return countThroughBoxes(links, boxes, DEVICE_BOX);
  }
}

const pairText = (a: number, b: number): string => (a < b ? `${a}-${b}` : `${b}-${a}`);
const withSites = () => demoLayoutGraph(100, { sites: true });

describe("a change", () => {
  test("a new device is placed near its neighbour, and nothing that is there moves", () => {
    const page = new Page();
    const graph = withSites();
    page.load(graph);
    const before = new Map(page.positions);
    const nodes = ["new", "attached to new", "isolated"].map((id) => ({ id }));
    const response = page.send({
      added: nodes.map((node, i) => ({ number: 100 + i, node })),
      connected: [50, 100, 100, 101],
    });
    expect([...response.devices]).toEqual([100, 101, 102]);
    expect([...page.positions].slice(0, 100)).toEqual([...before]);
    const [added, near] = [page.at(100), page.at(50)];
    expect(Math.hypot(added.x - near.x, added.y - near.y)).toBeLessThan(SPACING.width * 6);
    expect(added.cluster).toBe(near.cluster);
    expect(page.throughBoxes()).toBe(0);
  });

  test("a new leaf is on the row of the leaves", () => {
    const page = new Page();
    const graph = listedLayoutGraph("", leafSpine(2, 8));
    page.load(graph);
    const spines = graph.nodes.flatMap(({ id }, i) => (id.startsWith("spine") ? [i] : []));
    const leaf = graph.nodes.findIndex(({ id }) => id.startsWith("leaf"));
    page.send({ added: [{ number: 10, node: { id: "leaf:9" } }], connected: spines.flatMap((s) => [s, 10]) });
    expect(page.at(10).y).toBe(page.at(leaf).y);
    expect(page.throughBoxes()).toBe(0);
  });

  test("a device that appears before its links gets its place with the first one, and keeps it", () => {
    const page = new Page();
    const graph = listedLayoutGraph("", leafSpine(2, 8));
    page.load(graph);
    const before = new Map(page.positions);
    const spines = graph.nodes.flatMap(({ id }, i) => (id.startsWith("spine") ? [i] : []));
    const leaf = graph.nodes.findIndex(({ id }) => id.startsWith("leaf"));
    const links = spines.flatMap((spine) => [spine, 10]);
    page.send({ added: [{ number: 10, node: { id: "leaf:9" } }] });
    expect(page.at(10).y).not.toBe(page.at(leaf).y);
    page.send({ connected: links });
    const placed = page.at(10);
    expect(placed.y).toBe(page.at(leaf).y);
    page.send({ disconnected: links });
    page.send({ connected: links });
    expect(page.positions).toEqual(new Map([...before, [10, placed]]));
  });

  test("a network whose links are found one after the other is laid out with most of them", () => {
    const [page, whole] = [new Page(), new Page()];
    const graph = listedLayoutGraph("", leafSpine(2, 8));
    page.load({ ...graph, edges: [] });
    for (const edge of graph.edges) page.send({ connected: [...edge] });
    whole.load(graph);
    const rows = ({ positions }: Page) => new Set([...positions.values()].map(({ y }) => y)).size;
    expect([rows(whole), rows(page)]).toEqual([2, 2]);
  });

  test("a past with few and other devices moves nothing of the present", () => {
    const page = new Page();
    const graph = withSites();
    page.load(graph);
    // Placed where there was space: another layout of the whole would move it.
    const late = { number: 100, node: { id: "late" } };
    page.send({ added: [late], connected: [50, 100, 70, 100] });
    const before = new Map(page.positions);
    const others = [...graph.nodes.map((node, number) => ({ number, node })).slice(1), late];
    const links = [...graph.edges.flat(), 50, 100, 70, 100];
    const old = ["old 1", "old 2"].map((id, i) => ({ number: 101 + i, node: { id } }));
    const oldLinks = [0, 101, 0, 102];
    page.send({
      removed: others.map(({ number }) => number),
      disconnected: links,
      added: old,
      connected: oldLinks,
    });
    page.send({ removed: [101, 102], disconnected: oldLinks, added: others, connected: links });
    expect([...page.positions].slice(0, 101)).toEqual([...before]);
  });

  test("a change of links moves no device and sends only its own route", () => {
    const page = new Page();
    const graph = withSites();
    page.load(graph);
    const far: NumberedEdge = [3, 90];
    const added = page.send({ connected: [...far] });
    expect(added.devices.length).toBe(0);
    expect([...added.pairs]).toEqual([...far]);
    expect(page.throughBoxes()).toBe(0);
    const removed = page.send({ disconnected: [...far] });
    expect([removed.devices.length, removed.pairs.length]).toEqual([0, 0]);
  });

  test("a device in the way of a link changes the route of the link, and the route returns without it", () => {
    const page = new Page();
    page.load(grid(2, 1));
    const straight = page.routes.get("0-1");
    expect(straight).toHaveLength(4);
    const [p, q] = [page.at(0), page.at(1)];
    const added = [{ number: 2, node: { id: "between" } }];
    page.send({ added, pinned: [0, p.x, p.y, 1, p.x + 300, q.y, 2, p.x + 150, p.y] });
    expect(page.routes.get("0-1")?.length).toBeGreaterThan(4);
    expect(page.throughBoxes()).toBe(0);
    page.send({ removed: [2] });
    expect(page.routes.get("0-1")).toHaveLength(4);
  });

  test("a removed device returns to its position; another network gets a new layout", () => {
    const page = new Page();
    const graph = withSites();
    page.load(graph);
    const before = page.at(99);
    page.send({ removed: [99], disconnected: edgesOf(graph, 99) });
    const response = page.send({
      added: [{ number: 99, node: graph.nodes[99] ?? { id: "" } }],
      connected: edgesOf(graph, 99),
    });
    expect([...response.devices]).toEqual([99]);
    expect(page.at(99)).toEqual(before);
  });
});

const edgesOf = (graph: LayoutGraph, node: number): number[] =>
  graph.edges.filter(([a, b]) => a === node || b === node).flat();

describe("positions of an earlier visit", () => {
  const late = { added: [{ number: 20, node: { id: "late" } }], connected: [19, 20] };
  /** The text that a page saves after a device was added to it, and the positions of that page. */
  const savedWithLate = () => {
    const page = new Page();
    page.load(fatTree(4));
    page.send(late);
    return { saved: page.state.save(), positions: page.positions };
  };
  const withLate = (): LayoutGraph => {
    const { name, nodes, neighbours, edges } = fatTree(4);
    return { name, nodes: [...nodes, { id: "late" }], neighbours, edges: [...edges, [19, 20]] };
  };
  const opened = (saved: string, graph: LayoutGraph): Page => {
    const page = new Page();
    page.state.restore(saved);
    page.load(graph);
    return page;
  };

  test("are used for the same devices", () => {
    const { saved, positions } = savedWithLate();
    expect(opened(saved, withLate()).positions).toEqual(positions);
    expect(opened("", withLate()).positions).not.toEqual(positions);
  });

  test("are not used for more devices or fewer, which are laid out as in a new browser", () => {
    const { saved } = savedWithLate();
    const { nodes, ...rest } = withLate();
    const more = { ...rest, nodes: [...nodes, { id: "later" }] };
    expect(opened(saved, more).positions).toEqual(opened("", more).positions);
    expect(opened(saved, fatTree(4)).positions).toEqual(opened("", fatTree(4)).positions);
  });

  test.each([
    ["of another network", JSON.stringify(Array.from({ length: 50 }, (_, i) => [`x${i}`, i, i, 0]).flat())],
    ["that are damaged", '["n00000", 1'],
    ["of another form", '{"n00000": [1, 2]}'],
    ["with values that are no numbers", '["n00000", null, "1", {}]'],
  ])("%s are not used", (_, saved) => {
    const [fresh, restored] = [new Page(), new Page()];
    restored.state.restore(saved);
    fresh.load(grid(4, 4));
    restored.load(grid(4, 4));
    expect(restored.positions).toEqual(fresh.positions);
  });
});

test("the layout does not depend on the order in which the page has numbered the devices", () => {
  const graph = withSites();
  const reversed = graph.nodes.map((node, i) => ({ number: 1000 - i, node })).toReversed();
  const [first, second] = [new Page(), new Page()];
  first.load(graph);
  second.send({ added: reversed, connected: graph.edges.flatMap(([a, b]) => [1000 - b, 1000 - a]) });
  for (const i of graph.nodes.keys()) expect(second.at(1000 - i)).toEqual(first.at(i));
});
