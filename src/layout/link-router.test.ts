/** Links around boxes: none runs through a box of another device, and routes follow changes. */

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countCrossings, countThroughBoxes, type RoutedLink } from "../../bench/web/link-quality.ts";
import {
  backbones,
  campusLayoutGraph,
  demoLayoutGraph,
  fatTree,
  grid,
  type LayoutGraph,
  listedLayoutGraph,
  ring,
} from "../../test/support/layout-graphs.ts";
import { runs } from "../../test/support/property.ts";
import { leafSpine } from "../../test/support/sample-network.ts";
import type { Point } from "./adjacency.ts";
import { layoutClusters } from "./clustered-layout.ts";
import { LinkRouter, pairKey } from "./link-router.ts";

const BOX = { width: 36, height: 30 };
const SPACING = { width: 84, height: 60 };
const GUTTER = { width: 48, height: 30 };
const createRouter = () => new LinkRouter({ box: BOX, gutter: GUTTER });

interface Drawn {
  readonly boxes: readonly Point[];
  readonly links: readonly RoutedLink[];
}

/** By name: several tests look at the same drawing. */
const drawings = new Map<string, Drawn>();

function draw(graph: LayoutGraph): Drawn {
  const known = drawings.get(graph.name);
  if (known) return known;
  const { positions } = layoutClusters(graph, { spacing: SPACING, margin: { width: 110, height: 120 } });
  const boxes = graph.nodes.map((_, i) => ({ x: positions[i * 2] ?? 0, y: positions[i * 2 + 1] ?? 0 }));
  const drawn = { boxes, links: route(boxes, graph.edges) };
  drawings.set(graph.name, drawn);
  return drawn;
}

function route(boxes: readonly Point[], edges: LayoutGraph["edges"]): RoutedLink[] {
  const router = createRouter();
  for (const [i, box] of boxes.entries()) router.place(i, box);
  for (const [a, b] of edges) router.connect(a, b);
  router.update();
  return edges.map(([a, b]) => ({ a, b, points: router.route(a, b) ?? [] }));
}

describe("no link runs through the box of another device, and crossings do not become more", () => {
  const crossings: Readonly<Record<string, number>> = {
    "demo 50": 150,
    campus: 172,
    "leaf and spine": 4680,
    "fat tree 8": 3648,
    "ring 12": 0,
    "grid 6×6": 0,
  };
  test.each(
    [
      demoLayoutGraph(50, { sites: true }),
      demoLayoutGraph(200, { sites: false }),
      campusLayoutGraph(),
      listedLayoutGraph("leaf and spine", leafSpine(4, 40)),
      listedLayoutGraph("wide", leafSpine(2, 198)),
      fatTree(8),
      ring(12),
      grid(6, 6),
      ...backbones(),
    ].map((graph) => [graph.name, graph] as const),
  )("%s", (name, graph) => {
    const { boxes, links } = draw(graph);
    expect(links).toHaveLength(graph.edges.length);
    for (const { a, b, points } of links) {
      const [first, last] = [boxes[Math.min(a, b)], boxes[Math.max(a, b)]];
      expect([points[0], points[1]]).toEqual([first?.x, first?.y]);
      expect([points[points.length - 2], points[points.length - 1]]).toEqual([last?.x, last?.y]);
    }
    expect(countThroughBoxes(links, boxes, BOX)).toBe(0);
    if (crossings[name] !== undefined) expect(countCrossings(links)).toBeLessThanOrEqual(crossings[name]);
  });

  test("all backbones together", () => {
    const total = backbones().reduce((sum, graph) => sum + countCrossings(draw(graph).links), 0);
    expect(total).toBeLessThanOrEqual(100);
  });
});

test("boxes at any free places: no link runs through another box", () => {
  const cells = fc.uniqueArray(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 }), fc.nat({ max: 20 })), {
    minLength: 2,
    maxLength: 30,
    selector: ([x, y]) => x * 10 + y,
  });
  fc.assert(
    fc.property(cells, fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 25 }), (places, pairs) => {
      const boxes = places.map(([x, y, shift]) => ({ x: x * 104 + shift, y: y * SPACING.height }));
      const edges = pairs.map(([a, b]) => [a % boxes.length, b % boxes.length] as const);
      const unique = new Map(edges.filter(([a, b]) => a !== b).map((edge) => [pairKey(...edge), edge]));
      expect(countThroughBoxes(route(boxes, [...unique.values()]), boxes, BOX)).toBe(0);
    }),
    { numRuns: runs(50) },
  );
});

describe("changes", () => {
  const place = (router: LinkRouter, count: number) => {
    for (let i = 0; i < count; i++) router.place(i, { x: i * 100, y: 0 });
  };

  test("a box in the way is led around, on a lane of its own for each link", () => {
    const router = createRouter();
    place(router, 4);
    router.connect(0, 2);
    router.connect(0, 3);
    expect(router.update()).toHaveLength(2);
    const [short, long] = [router.route(0, 2) ?? [], router.route(0, 3) ?? []];
    expect(short.length).toBeGreaterThan(4);
    expect([...long].slice(2, 4)).not.toEqual([...short].slice(2, 4));
  });

  test("only the routes that a change touches are routed again", () => {
    const router = createRouter();
    place(router, 4);
    router.connect(0, 1);
    router.connect(2, 3);
    router.update();
    expect(router.update()).toEqual([]);
    router.place(9, { x: 50, y: 0 });
    expect(router.update()).toEqual([pairKey(0, 1)]);
    expect(router.route(0, 1)?.length).toBeGreaterThan(4);
    router.remove(9);
    expect(router.update()).toEqual([pairKey(0, 1)]);
    expect(router.route(0, 1)).toHaveLength(4);
    router.disconnect(0, 1);
    expect(router.route(0, 1)).toBeUndefined();
  });

  test("links between two rows run between the rows", () => {
    const router = createRouter();
    place(router, 3);
    for (let i = 0; i < 3; i++) router.place(10 + i, { x: i * 100, y: 200 });
    router.connect(0, 12);
    router.update();
    expect([...(router.route(0, 12) ?? [])]).toEqual([0, 0, 0, 15, 200, 185, 200, 200]);
  });
});
