/**
 * The network as graphs that the renderer draws: `near`, with every device and cable, and `far`, with one node a
 * block, for when devices would be smaller than the eye can tell apart. It keeps both in step with the network by
 * touching only what differs, because each touch costs the renderer.
 */
import { MultiDirectedGraph } from "graphology";
import type { Cable } from "../../model/cable.ts";
import type { Device } from "../../model/entity.ts";
import type { Network } from "../network.ts";
import type { Block, Spot } from "./clusters.ts";
import type { Focus } from "./highlights.ts";
import type { Palette } from "./palette.ts";
import { SMALLEST_RADIUS } from "./projection.ts";
import { CARD, cableLook, deviceLook, type LineLook, type NodeLook, SHAPES } from "./style.ts";

export interface NodeAttributes extends NodeLook {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly zIndex: number;
}
export interface LineAttributes extends LineLook {
  readonly zIndex: number;
}
export type Drawing = MultiDirectedGraph<NodeAttributes, LineAttributes>;

export interface SceneInput {
  readonly network: Network;
  readonly spots: ReadonlyMap<string, Spot>;
  readonly focus: Focus;
  readonly palette: Palette;
  readonly expanded: ReadonlySet<string>;
}

/** Dropping a node costs the renderer a full pass: with more than this, a new drawing is cheaper. */
const MAX_DROPS = 40;
const MAX_HOSTS_DRAWN = 400;
const PARALLEL_GAP_PX = 4;
const SMALLEST_CARD_PX = 4;
const LARGEST_CARD_PX = 46;
const HOST = "host ";

export const isHostNode = (node: string): boolean => node.startsWith(HOST);
export const hostOfNode = (node: string): string => node.slice(HOST.length);

interface Wanted {
  readonly nodes: Map<string, NodeAttributes>;
  readonly lines: Map<string, { readonly from: string; readonly to: string; readonly look: LineAttributes }>;
}

export function createDrawing(): Drawing {
  return new MultiDirectedGraph<NodeAttributes, LineAttributes>();
}

/** Makes `drawing` show what is wanted; answers another drawing when that is cheaper. */
export function reconcile(drawing: Drawing, wanted: Wanted): Drawing {
  const gone = drawing.filterNodes((node) => !wanted.nodes.has(node));
  const cut = drawing.filterEdges((line) => !wanted.lines.has(line));
  const target = gone.length + cut.length > MAX_DROPS || drawing.order === 0 ? createDrawing() : drawing;
  if (target === drawing) {
    for (const line of cut) drawing.dropEdge(line);
    for (const node of gone) drawing.dropNode(node);
  }
  for (const [node, look] of wanted.nodes) {
    if (!target.hasNode(node)) target.addNode(node, look);
    else if (!sameLook(target.getNodeAttributes(node), look)) target.replaceNodeAttributes(node, look);
  }
  for (const [line, { from, to, look }] of wanted.lines) {
    if (target.hasEdge(line) && target.source(line) !== from) target.dropEdge(line);
    if (!target.hasEdge(line)) target.addDirectedEdgeWithKey(line, from, to, look);
    else if (!sameLook(target.getEdgeAttributes(line), look)) target.replaceEdgeAttributes(line, look);
  }
  return target;
}

function sameLook<T extends object>(a: T, b: T): boolean {
  for (const key in b) if (a[key] !== b[key]) return false;
  return true;
}

export function nearScene(input: SceneInput): Wanted {
  const { network, spots, focus, palette } = input;
  const wanted: Wanted = { nodes: new Map(), lines: new Map() };
  for (const device of network.devices.values()) {
    const spot = spots.get(device.id);
    if (!spot || !focus.isShown(device.id)) continue;
    const emphasis = focus.device(device);
    const look = deviceLook(device, emphasis, palette);
    const zIndex = emphasis.selected ? 3 : emphasis.lit === false ? 0 : device.available ? 1 : 2;
    wanted.nodes.set(device.id, { x: spot.x, y: spot.y, size: 1, zIndex, ...look });
    if (input.expanded.has(device.id)) addHosts(wanted, input, device, spot);
  }
  const parallel = new Map<string, number>();
  for (const cable of network.cables.values()) addCable(wanted, input, cable, parallel);
  return wanted;
}

function addCable(
  wanted: Wanted,
  { focus, palette }: SceneInput,
  cable: Cable,
  parallel: Map<string, number>,
): void {
  const [from, to] = [cable.from.device, cable.to.device];
  if (!wanted.nodes.has(from) || !wanted.nodes.has(to)) return;
  const pair = from < to ? `${from} ${to}` : `${to} ${from}`;
  const nth = parallel.get(pair) ?? 0;
  parallel.set(pair, nth + 1);
  // 0, 1, -1, 2, -2 … beside the first; the sign follows the pair, not the direction of this cable.
  const side = (nth % 2 === 0 ? -nth / 2 : (nth + 1) / 2) * PARALLEL_GAP_PX;
  const emphasis = focus.cable(cable);
  const zIndex = emphasis.selected || emphasis.onPath ? 3 : emphasis.lit === false ? 0 : cable.active ? 1 : 2;
  const look = { ...cableLook(cable, emphasis, palette), offset: from < to ? side : -side, zIndex };
  wanted.lines.set(cable.id, { from, to, look });
}

/** Hosts stand in rings around their device. */
function addHosts(wanted: Wanted, { network, palette }: SceneInput, device: Device, spot: Spot): void {
  const hosts = network.hostsOf(device.id).slice(0, MAX_HOSTS_DRAWN);
  let [ring, inRing] = [0, 0];
  for (const host of hosts) {
    const radius = 27 + ring * 10;
    const room = Math.floor((2 * Math.PI * radius) / 11);
    const angle = (inRing / Math.min(room, hosts.length)) * 2 * Math.PI + ring * 0.3 - Math.PI / 2;
    const node = HOST + host.id;
    if (wanted.nodes.has(node)) continue;
    const x = spot.x + Math.cos(angle) * radius;
    const y = spot.y + Math.sin(angle) * radius;
    const colours = { color: palette.host, fill: palette.plate };
    wanted.nodes.set(node, {
      x,
      y,
      size: 0.45,
      zIndex: 1,
      shape: SHAPES.circle,
      mark: 0,
      ring: 0,
      ...colours,
    });
    const look = { stroke: 0, arrow: 0, color: palette.faded, size: 0.8, offset: 0, zIndex: 0 };
    wanted.lines.set(node, { from: node, to: device.id, look });
    inRing++;
    if (inRing >= room) [ring, inRing] = [ring + 1, 0];
  }
}

export const blockNode = (block: Block): string => `block ${block.index}`;

export interface BlockSummary {
  readonly block: Block;
  readonly down: number;
  readonly lit: boolean;
}

export function farScene(
  input: SceneInput,
  blocks: readonly Block[],
  pixelsPerUnit: number,
): Wanted & { summaries: Map<string, BlockSummary> } {
  const { network, spots, focus, palette } = input;
  const nodes: Wanted["nodes"] = new Map();
  const summaries = new Map<string, BlockSummary>();
  for (const block of blocks) {
    const devices = block.members.flatMap((id) => network.devices.get(id) ?? []);
    if (!devices.some((device) => focus.isShown(device.id))) continue;
    const down = devices.filter((device) => !device.available).length;
    const looks = devices.map((device) => focus.device(device));
    const lit = looks.some((look) => look.lit !== false);
    const ring = looks.some((look) => look.selected) ? 2 : looks.some((look) => look.onPath) ? 1 : 0;
    const bad = down > 0 && lit;
    const color = bad ? palette.down : lit ? palette.node : palette.faded;
    const fill = bad ? palette.downFill : lit ? palette.nodeFill : palette.fadedFill;
    const size = cardSize(block, pixelsPerUnit);
    const [x, y] = [(block.left + block.right) / 2, (block.bottom + block.top) / 2];
    const look = { shape: SHAPES.card, mark: bad ? 1 : 0, ring, color, fill };
    nodes.set(blockNode(block), { x, y, size, zIndex: bad ? 2 : 1, ...look });
    summaries.set(blockNode(block), { block, down, lit });
  }
  return { nodes, lines: trunks(network, spots, blocks, nodes, palette), summaries };
}

/** All cables between two blocks as one line, as thick as there are many, dashed when none works. */
function trunks(
  network: Network,
  spots: ReadonlyMap<string, Spot>,
  blocks: readonly Block[],
  nodes: ReadonlyMap<string, NodeAttributes>,
  palette: Palette,
): Wanted["lines"] {
  const names = new Map(blocks.map((block) => [block.index, blockNode(block)]));
  const bundles = new Map<string, { from: string; to: string; all: number; active: number }>();
  for (const cable of network.cables.values()) {
    const from = names.get(spots.get(cable.from.device)?.block ?? -1);
    const to = names.get(spots.get(cable.to.device)?.block ?? -1);
    if (!from || !to || from === to || !nodes.has(from) || !nodes.has(to)) continue;
    const [p, q] = from < to ? [from, to] : [to, from];
    const bundle = bundles.get(`${p} ${q}`) ?? { from: p, to: q, all: 0, active: 0 };
    bundle.all++;
    if (cable.active) bundle.active++;
    bundles.set(`${p} ${q}`, bundle);
  }
  const lines: Wanted["lines"] = new Map();
  for (const [key, { from, to, all, active }] of bundles) {
    const stroke = active === 0 ? 1 : 0;
    const color = active === 0 ? palette.down : palette.line;
    const size = Math.min(5, 1.6 + Math.log2(all));
    lines.set(key, { from, to, look: { stroke, arrow: 0, color, size, offset: 0, zIndex: 1 - stroke } });
  }
  return lines;
}

/** As large as fits on the block's own plate, in radii of a device. */
function cardSize({ left, right, bottom, top }: Block, pixelsPerUnit: number): number {
  const [halfWidth, halfHeight] = [(right - left) / 2 + 50, (top - bottom) / 2 + 50];
  const pixels = Math.min(halfWidth / CARD.width, halfHeight / CARD.height) * pixelsPerUnit;
  return Math.max(SMALLEST_CARD_PX, Math.min(LARGEST_CARD_PX, pixels)) / SMALLEST_RADIUS;
}
