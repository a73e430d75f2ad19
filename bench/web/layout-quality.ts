/**
 * Measures the layout with routes: crossings of links, links through boxes of other devices, and time, for hierarchies,
 * a ring, meshes, 24 graphs like those of the Internet Topology Zoo, and large networks. `--sheet FILE` also writes an
 * SVG with all of them.
 */
import { writeFileSync } from "node:fs";
import type { Point } from "../../src/layout/adjacency.ts";
import { LinkRouter } from "../../src/layout/link-router.ts";
import { DEVICE_BOX, GUTTER, layoutMap } from "../../src/layout/map-layout.ts";
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
import { leafSpine } from "../../test/support/sample-network.ts";
import type { Result } from "../api/result.ts";
import { countCrossings, countThroughBoxes, type RoutedLink } from "./link-quality.ts";

const MAX_DEVICES_FOR_CROSSINGS = 1000;

export interface Drawn {
  readonly boxes: readonly Point[];
  readonly links: readonly RoutedLink[];
  readonly layoutMs: number;
  readonly routeMs: number;
}

export function drawGraph(graph: LayoutGraph): Drawn {
  const start = performance.now();
  const { positions } = layoutMap(graph);
  const layoutMs = performance.now() - start;
  const boxes = graph.nodes.map((_, i) => ({ x: positions[i * 2] ?? 0, y: positions[i * 2 + 1] ?? 0 }));
  const router = new LinkRouter({ box: DEVICE_BOX, gutter: GUTTER });
  for (const [i, box] of boxes.entries()) router.place(i, box);
  for (const [a, b] of graph.edges) router.connect(a, b);
  router.update();
  const links = graph.edges.map(([a, b]) => ({ a, b, points: router.route(a, b) ?? new Float64Array() }));
  return { boxes, links, layoutMs, routeMs: performance.now() - start - layoutMs };
}

export const smallGraphs = (): LayoutGraph[] => [
  demoLayoutGraph(50, { sites: true }),
  { ...demoLayoutGraph(50, { sites: false }), name: "demo 50 without sites" },
  campusLayoutGraph(),
  listedLayoutGraph("leaf and spine", leafSpine(4, 40)),
  fatTree(8),
  ring(12),
  grid(6, 6),
  ...backbones(),
  demoLayoutGraph(200, { sites: true }),
];

const largeGraphs = (): LayoutGraph[] => [
  demoLayoutGraph(1000, { sites: true }),
  demoLayoutGraph(10_000, { sites: true }),
  listedLayoutGraph("leaf and spine 10,000", leafSpine(2, 10_000)),
  grid(100, 100),
];

/** Links through boxes in a network that is too large to compare every link with every box. */
function countThroughSampled({ links, boxes }: Drawn): number {
  const step = Math.max(1, Math.floor(links.length / 1000));
  const sampled = links.filter((_, i) => i % step === 0);
  return Math.round((countThroughBoxes(sampled, boxes, DEVICE_BOX) * links.length) / sampled.length);
}

export function measureLayout({ large }: { readonly large: boolean }): Result[] {
  const results: Result[] = [];
  for (const graph of smallGraphs()) {
    const drawn = drawGraph(graph);
    const name = `layout ${graph.name}`;
    const through = countThroughBoxes(drawn.links, drawn.boxes, DEVICE_BOX);
    results.push({ name, what: "crossings", unit: "", ours: countCrossings(drawn.links) });
    results.push({ name, what: "links through boxes", unit: "", ours: through, max: 0 });
    results.push({ name, what: "layout and routes", unit: "ms", ours: drawn.layoutMs + drawn.routeMs });
  }
  for (const graph of large ? largeGraphs() : []) {
    const drawn = drawGraph(graph);
    const name = `layout ${graph.name}`;
    results.push({ name, what: "links through boxes", unit: "", ours: countThroughSampled(drawn) });
    results.push({ name, what: "layout", unit: "ms", ours: drawn.layoutMs });
    results.push({ name, what: "routes", unit: "ms", ours: drawn.routeMs });
  }
  return results;
}

/** Of the demo with this many devices. Counting the crossings of a large one takes minutes. */
export function measureDemoLayout(name: string, devices: number): Result[] {
  const drawn = drawGraph(demoLayoutGraph(devices, { sites: true }));
  const crossings = devices <= MAX_DEVICES_FOR_CROSSINGS ? countCrossings(drawn.links) : undefined;
  return [
    ...(crossings === undefined ? [] : [{ name, what: "crossings", unit: "", ours: crossings }]),
    { name, what: "links through boxes", unit: "", ours: countThroughSampled(drawn) },
    { name, what: "layout and routes", unit: "ms", ours: Math.round(drawn.layoutMs + drawn.routeMs) },
  ];
}

/** All small graphs below each other, to look at. */
function renderSheet(): string {
  let [top, width] = [0, 0];
  const parts = smallGraphs().map((graph) => {
    const { boxes, links } = drawGraph(graph);
    const [left, up] = [Math.min(...boxes.map(({ x }) => x)), Math.min(...boxes.map(({ y }) => y))];
    const lines = links.map(
      ({ points }) =>
        `<polyline points="${Array.from(points, (n) => n.toFixed(1)).join(" ")}" fill="none" stroke="#456"/>`,
    );
    const rects = boxes.map(
      ({ x, y }) =>
        `<rect x="${x - DEVICE_BOX.width / 2}" y="${y - DEVICE_BOX.height / 2}" width="${DEVICE_BOX.width}" height="${DEVICE_BOX.height}" fill="#cde" stroke="#27608f"/>`,
    );
    const part = `<g transform="translate(${60 - left} ${top + 80 - up})"><text x="${left}" y="${up - 30}">${graph.name}</text>${lines.join("")}${rects.join("")}</g>`;
    top += Math.max(...boxes.map(({ y }) => y)) - up + 160;
    width = Math.max(width, Math.max(...boxes.map(({ x }) => x)) - left + 120);
    return part;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top}"><rect width="100%" height="100%" fill="#fff"/>${parts.join("\n")}</svg>\n`;
}

if (import.meta.main) {
  const [option, file] = process.argv.slice(2);
  if (option === "--sheet" && file) writeFileSync(file, renderSheet());
  for (const { name, what, ours } of measureLayout({ large: true }))
    console.log(name, what, Math.round(ours));
}
