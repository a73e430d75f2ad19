/**
 * The clusters as the map draws them at a zoom at which devices would be too small: one card per cluster and one line for
 * all cables between two clusters. A card covers the area of its devices, so that its size shows how many they are. Cards
 * never overlap.
 */
import type { Size } from "../../layout/adjacency.ts";
import { type Box, leastCardSize, separateBoxes } from "../../layout/clustered-layout.ts";
import { CLUSTER_MARGIN, SPACING } from "../../layout/map-layout.ts";
import { formatCount } from "../data/shown-names.ts";
import type { BundleItem, DeviceScene, SceneChanges, SceneInput } from "./device-scene.ts";
import { edgeLevel, encodeEdge } from "./edge-program.ts";
import type { Bounds, MapPoint } from "./geometry.ts";
import { createScene } from "./gl-renderer.ts";
import { WordWriter } from "./instance-layer.ts";
import type { Clusters, MapCluster } from "./map-clusters.ts";
import { encodeNode } from "./node-program.ts";
import type { Palette } from "./palette.ts";
import { type EdgeStyle, LINE_SIGNS, RINGS, SHAPES, STROKES, SYMBOLS } from "./style.ts";

const PREFIX = "cluster ";
const clusterNode = (index: number): string => PREFIX + index;
/** The space between two cards, relative to the least height of a card, and its minimum in map units. */
const CARD_GAP = 0.16;
const MIN_CARD_GAP = 4;
/** The maximum width of a card relative to its height. Rows of devices may be much wider. */
const MAX_CARD_RATIO = 6;
/** The share of its sides that a card keeps where it overlaps others. So two clusters at one place have the space of one. */
const KEPT_SHARE = 0.5;

type DrawnLines = Pick<DeviceScene, "bundles" | "lost">;

/** A card; its bounds are in map units. */
export interface ClusterCard extends Bounds {
  readonly cluster: MapCluster;
  readonly name: string;
  /** The number of devices, with that of the matching ones while the map dims others. */
  readonly count: string;
  /** What is wrong in the cluster, worst first. */
  readonly faults: readonly string[];
  readonly tone: "down" | "warning" | "node" | "dimmed";
  /** Whether nothing of the cluster can be reached. */
  readonly isCrossed: boolean;
}

const countOf = <T>(values: readonly T[], wanted: T): number =>
  values.filter((value) => value === wanted).length;

/** The counts of the cables between two clusters. */
interface LineTotal {
  readonly from: string;
  readonly to: string;
  cables: number;
  active: number;
  /** Number of inactive and lost cables. `cables` does not count lost ones. */
  down: number;
}

export class ClusterScene {
  readonly scene = createScene();
  /** Cards by the id of their node. */
  readonly cards = new Map<string, ClusterCard>();
  readonly #writer = new WordWriter();
  #boxes: ReadonlyMap<number, Box> = new Map();
  #lines = new Set<string>();
  /** Number of inactive and lost cables between two devices of a cluster. */
  #downInside: ReadonlyMap<number, number> = new Map();

  *update(
    input: SceneInput,
    clusters: Clusters,
    drawn: DrawnLines,
    changes: SceneChanges,
  ): Generator<void, void> {
    const changed = new Set(changes.clusters);
    if (changes.clusterShapes.size > 0) {
      this.#boxes = yield* cardBoxes([...clusters.byIndex.values()]);
      this.scene.cardReach = Math.max(0, ...Array.from(this.#boxes.values(), ({ width }) => width / 2));
      for (const index of clusters.byIndex.keys()) changed.add(index);
    }
    if (changed.size === 0 && !changes.lines) return;
    const { between, downInside } = yield* countLines(input, drawn);
    for (const index of new Set([...downInside.keys(), ...this.#downInside.keys()]))
      if (downInside.get(index) !== this.#downInside.get(index)) changed.add(index);
    this.#downInside = downInside;
    for (const index of changed) {
      yield;
      this.#updateCard(index, clusters.byIndex.get(index), input);
    }
    yield* this.#updateLines(between, input.palette);
  }

  #updateCard(
    index: number,
    cluster: MapCluster | undefined,
    { network, highlights, palette }: SceneInput,
  ): void {
    const [node, box] = [clusterNode(index), this.#boxes.get(index)];
    const devices = (cluster?.deviceIds ?? [])
      .filter((id) => highlights.isVisible(id))
      .flatMap((id) => network.devices.get(id) ?? []);
    if (!cluster || !box || devices.length === 0) {
      this.cards.delete(node);
      this.scene.nodes.delete(node);
      return;
    }
    const emphases = devices.map((device) => highlights.device(device));
    // A device that is only planned is neither up nor down, and is counted only among those that are not as planned.
    const present = devices.filter((_, i) => emphases[i]?.mark !== "missing");
    const states = present.map((device) => network.stateOf(device));
    const [downCount, cutOffCount] = [countOf(states, "down"), countOf(states, "cut off")];
    const downInside = this.#downInside.get(index) ?? 0;
    const isCrossed = present.length > 0 && downCount + cutOffCount === present.length;
    const faults = [
      ...(downCount > 0 ? [downCount === present.length ? "down" : `${downCount} down`] : []),
      ...(cutOffCount > 0 ? [cutOffCount === present.length ? "cut off" : `${cutOffCount} cut off`] : []),
      ...(downInside > 0 ? [`${formatCount(downInside, "cable")} down`] : []),
    ];
    const dims = emphases.some(({ highlighted }) => highlighted !== undefined);
    const matchCount = emphases.filter(({ highlighted }) => highlighted !== false).length;
    const markCount = emphases.filter(({ mark }) => mark !== undefined).length;
    const marked = markCount > 0 ? [`${markCount} ${highlights.markWord}`] : [];
    // A cable that is down is often one of many, so that a card is red only where a device is down.
    const isWarning = cutOffCount + downInside > 0;
    const tone = downCount > 0 ? "down" : isWarning ? "warning" : matchCount > 0 ? "node" : "dimmed";
    this.cards.set(node, {
      cluster,
      ...boundsOfBox(box),
      name: cluster.shortName,
      count: dims && markCount === 0 ? `${matchCount} of ${present.length}` : String(present.length),
      faults: [...marked, ...faults],
      tone,
      isCrossed,
    });
    const isSelected = emphases.some(({ selected }) => selected);
    const words = encodeNode(this.#writer, {
      x: box.x,
      y: box.y,
      size: { width: box.width / 2, height: box.height / 2 },
      shape: SHAPES.card,
      symbol: isCrossed ? SYMBOLS.cross : SYMBOLS.none,
      ring: RINGS[isSelected ? "thick" : emphases.some(({ onPath }) => onPath) ? "thin" : "none"],
      dashed: tone === "warning" && cutOffCount > 0 ? 1 : 0,
      color: palette[tone],
      fill: palette[`${tone}Fill`],
    });
    this.scene.nodes.set(node, faults.length > 0 ? 2 : 1, words);
  }

  *#updateLines(totals: ReadonlyMap<string, LineTotal>, palette: Palette): Generator<void, void> {
    for (const key of this.#lines) if (!totals.has(key)) this.scene.edges.delete(key);
    this.#lines = new Set(totals.keys());
    for (const [key, total] of totals) {
      yield;
      const [start, end] = [this.cards.get(total.from), this.cards.get(total.to)];
      if (!start || !end) {
        this.scene.edges.delete(key);
        continue;
      }
      const style = clusterLineStyle(total, palette);
      const [p, q] = [centreOf(start), centreOf(end)];
      const points = Float64Array.of(p.x, p.y, q.x, q.y);
      const level = edgeLevel(total.down > 0 ? 2 : 1, style);
      this.scene.edges.set(key, level, encodeEdge(this.#writer, points, style));
    }
  }
}

/** Counts the cables between clusters, and those that are down inside each. */
function* countLines({ highlights }: SceneInput, { bundles, lost }: DrawnLines) {
  const between = new Map<string, LineTotal>();
  const downInside = new Map<number, number>();
  const add = ([start, end]: BundleItem["ends"], cables: number, active: number, down: number) => {
    const [p, q] = [Math.min(start.cluster, end.cluster), Math.max(start.cluster, end.cluster)];
    if (p === q) {
      if (down > 0) downInside.set(p, (downInside.get(p) ?? 0) + down);
      return;
    }
    const [from, to] = [clusterNode(p), clusterNode(q)];
    const key = `${from} ${to}`;
    const total = between.get(key) ?? { from, to, cables: 0, active: 0, down: 0 };
    between.set(key, total);
    total.cables += cables;
    total.active += active;
    total.down += down;
  };
  for (const { bundle, ends } of bundles.values()) {
    yield;
    const inactive = bundle.cables.filter((cable) => !cable.active);
    // A cable that is only planned is neither up nor down.
    const down = inactive.filter((cable) => highlights.cable(cable).mark !== "missing");
    add(ends, bundle.cables.length, bundle.cables.length - inactive.length, down.length);
  }
  for (const { ends } of lost.items.values()) {
    yield;
    add(ends, 0, 0, 1);
  }
  return { between, downInside };
}

/**
 * The style of a line between two clusters. Its width grows with the number of cables. It is dashed if no cable is active,
 * long-dashed if some are down, and has a cross if all of them are lost.
 */
export function clusterLineStyle(
  { cables, active, down }: Pick<LineTotal, "cables" | "active" | "down">,
  palette: Palette,
): EdgeStyle {
  const { solid, dashed, longDashed } = STROKES;
  return {
    stroke: active === 0 ? dashed : down > 0 ? longDashed : solid,
    sign: cables > 0 ? LINE_SIGNS.none : LINE_SIGNS.cross,
    color: down > 0 ? palette.down : active === 0 ? palette.missing : palette.line,
    size: Math.min(4, 0.9 + 0.6 * Math.log2(Math.max(1, cables))) + (down > 0 ? 0.8 : 0),
    fades: false,
  };
}

const boundsOfBox = ({ x, y, width, height }: Box): Bounds => ({
  left: x - width / 2,
  right: x + width / 2,
  bottom: y - height / 2,
  top: y + height / 2,
});

const centreOf = ({ left, right, bottom, top }: Bounds): MapPoint => ({
  x: (left + right) / 2,
  y: (bottom + top) / 2,
});

/**
 * The box of the card of each cluster: the area that the layout reserves for the cluster, less a gap. Where these areas
 * overlap, because a cluster has grown or devices are pinned, the boxes are made smaller until they are apart, or moved
 * aside where they would become too small to be seen and clicked.
 */
export function* cardBoxes(clusters: readonly MapCluster[]): Generator<void, Map<number, Box>> {
  const areas = clusters.map(({ left, right, bottom, top }) => ({
    width: right - left + CLUSTER_MARGIN.width,
    height: top - bottom + CLUSTER_MARGIN.height,
  }));
  const devices = clusters.reduce((sum, { deviceIds }) => sum + deviceIds.length, 0);
  const least = leastCardSize(areas, devices, SPACING);
  const gap = Math.max(MIN_CARD_GAP, least.height * CARD_GAP);
  // The boxes have half of the gap around them until they are apart, so that cards which have to give way do not touch.
  const boxes = clusters.map((cluster, i): Box => {
    const { width = 0, height = 0 } = areas[i] ?? {};
    const cardHeight = Math.max(height, least.height) - gap;
    const cardWidth = Math.min(Math.max(width, least.width) - gap, cardHeight * MAX_CARD_RATIO);
    return { ...centreOf(cluster), width: cardWidth + gap / 2, height: cardHeight + gap / 2 };
  });
  yield* shrinkBoxes(boxes, ({ width, height }) => ({
    width: Math.max(SPACING.width, width * KEPT_SHARE),
    height: Math.max(SPACING.height, height * KEPT_SHARE),
  }));
  separateBoxes(boxes);
  // Very many boxes at one place may still overlap a little.
  yield* shrinkBoxes(boxes, () => ({ width: 0, height: 0 }));
  for (const box of boxes) {
    box.width = Math.max(0, box.width - gap / 2);
    box.height = Math.max(0, box.height - gap / 2);
  }
  return new Map(clusters.flatMap(({ index }, i) => (boxes[i] ? [[index, boxes[i]] as const] : [])));
}

/** Makes boxes that overlap smaller until they are apart, but none smaller than `leastOf` allows. */
function* shrinkBoxes(boxes: readonly Box[], leastOf: (size: Size) => Size): Generator<void, void> {
  // The boxes are sorted by their left edge, so the boxes that can overlap a box come directly after it.
  const order = boxes
    .map((box) => ({ box, left: boundsOfBox(box).left, least: leastOf(box) }))
    .sort((p, q) => p.left - q.left);
  for (const [i, item] of order.entries()) {
    yield;
    for (let j = i + 1; j < order.length; j++) {
      const other = order[j];
      // The edge is that before the other box became smaller, because the boxes are sorted by it.
      if (!other || other.left >= boundsOfBox(item.box).right) break;
      shrinkPair(item, other);
    }
  }
}

interface ShrinkableBox {
  readonly box: Box;
  readonly least: Size;
}

/** Makes two boxes that overlap smaller along the axis on which their centres are relatively farther apart. */
function shrinkPair(p: ShrinkableBox, q: ShrinkableBox): void {
  const shareX = Math.abs(p.box.x - q.box.x) / ((p.box.width + q.box.width) / 2);
  const shareY = Math.abs(p.box.y - q.box.y) / ((p.box.height + q.box.height) / 2);
  const share = Math.max(shareX, shareY);
  // The share of two boxes without a size is not a number, and they do not overlap.
  if (!(share < 1)) return;
  const side = shareX > shareY ? "width" : "height";
  for (const { box, least } of [p, q]) box[side] = Math.max(least[side], box[side] * share);
}
