/**
 * SVG: a picture of the network for a report. Cards for devices, lines for cables, a title that says of what and
 * when, a legend that says what each look means.
 *
 * It is safe to open and to embed: no script, no style sheet, no reference to anything outside or inside itself;
 * looks are presentation attributes, which every viewer and converter knows and no content policy forbids.
 */

import type { Cable } from "../model/cable.ts";
import { inChunks } from "./chunks.ts";
import { cablesOf, deviceName, hostCounts, type TopologyGraph } from "./graph.ts";
import type { LayoutNode, Point, Spacing } from "./layout/adjacency.ts";
import { namedLayer } from "./layout/layer-names.ts";
import { layoutNetwork } from "./layout/layout.ts";
import { extent } from "./layout/route.ts";
import { counted, INK, MUTED, place } from "./drawing-style.ts";
import { type Card, cardSize, createCard, drawCard } from "./svg-device.ts";
import { drawLegend, LEGEND } from "./svg-legend.ts";
import { drawLines, routeEdges } from "./svg-cable.ts";
import { xmlText } from "./xml.ts";

const MARGIN = 28;
const HEADER = 84;
/** Where the layout leaves it open, neighbours stand in the order people count in: leaf-2 before leaf-10. */
const byName = new Intl.Collator("en", { numeric: true });
const GUTTER: Spacing = { x: 22, y: 22 };

export function renderSvg(graph: TopologyGraph): Iterable<string> {
  return inChunks(document(graph));
}

function* document(graph: TopologyGraph): Generator<string> {
  const hosts = hostCounts(graph);
  const edges = cablesOf(graph);
  const devices = graph.devices.toSorted((p, q) => byName.compare(deviceName(p), deviceName(q)));
  const cards = devices.map((device) => createCard(device, hosts.get(device.id) ?? 0));
  const card = cardSize(cards);
  const { positions, layered } = layoutNetwork(
    {
      nodes: devices.map(({ id, annotations }) => layoutNode(id, annotations.layer, hosts.get(id) ?? 0)),
      edges: edges.map(({ from, to }) => ({ a: from.device, b: to.device })),
    },
    { x: card.x + GUTTER.x, y: card.y + GUTTER.y },
  );
  const lines = routeEdges(edges, { places: positions, layered, card, gutter: GUTTER });
  const { left, top, right, bottom } = extent(
    lines.map((line) => line.path),
    positions.values(),
    card,
  );
  const page = {
    x: Math.ceil(Math.max(right - left, LEGEND.x) + 2 * MARGIN),
    y: Math.ceil(HEADER + bottom - top + 3 * MARGIN + LEGEND.y),
  };
  yield* header(graph, edges, page);
  const corner = { x: (page.x - (right - left)) / 2 - left, y: HEADER + MARGIN - top };
  yield `<g transform="translate(${place(corner)})">\n`;
  yield* drawLines(lines, card);
  yield* drawCards(cards, positions, card);
  yield "</g>\n";
  yield drawLegend({ x: MARGIN, y: page.y - MARGIN - LEGEND.y });
  yield "</svg>\n";
}

/** The `layer` annotation is a name or a number. */
function layoutNode(id: string, annotation: string | undefined, leaves: number): LayoutNode {
  const text = annotation?.trim() ?? "";
  const layer = /^\d{1,3}$/.test(text) ? Number(text) : namedLayer(text);
  return layer === undefined ? { id, leaves } : { id, leaves, layer };
}

function* header(graph: TopologyGraph, edges: readonly Cable[], page: Spacing): Generator<string> {
  const { topology, revision, devices, links, hosts } = graph;
  const down = devices.filter((device) => !device.available).length;
  const inactive = edges.filter((edge) => !edge.active).length;
  const counts = [
    counted(devices.length, "device") + (down > 0 ? ` (${down} unavailable)` : ""),
    `${counted(links.length, "directed link")} drawn as ${counted(edges.length, "line")}${inactive > 0 ? ` (${inactive} inactive)` : ""}`,
    counted(hosts.length, "host"),
    counted(topology.clusters, "cluster"),
  ].join(" · ");
  const time = new Date(topology.time).toISOString().slice(0, 19).replace("T", " ");
  const when = `Revision ${revision} · last change ${time} UTC`;
  yield `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="${xmlText(`Network topology: ${counts}. ${when}.`)}" \
width="${page.x}" height="${page.y}" viewBox="0 0 ${page.x} ${page.y}" \
font-family="'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif">\n`;
  yield `<title>Network topology, revision ${revision}</title>\n<desc>${xmlText(`${counts}. ${when}.`)}</desc>\n`;
  yield `<rect width="${page.x}" height="${page.y}" fill="#fff"/>\n`;
  yield `<text x="${MARGIN}" y="42" font-size="20" font-weight="700" fill="${INK}">Network topology</text>\n`;
  yield `<text x="${MARGIN}" y="62" font-size="12" fill="${INK}">${xmlText(counts)}</text>\n`;
  yield `<text x="${MARGIN}" y="79" font-size="12" fill="${MUTED}">${xmlText(when)}</text>\n`;
}

function* drawCards(
  cards: readonly Card[],
  places: ReadonlyMap<string, Point>,
  size: Spacing,
): Generator<string> {
  yield '<g text-anchor="middle">\n';
  for (const card of cards) {
    const at = places.get(card.id);
    if (at !== undefined) yield drawCard(card, at, size);
  }
  yield "</g>\n";
}
