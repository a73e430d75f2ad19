/**
 * The clusters as the map draws them at a zoom at which devices would be too small: one card per cluster and one line for
 * all cables between two clusters. Cards never overlap: the size of each is limited by the distance to all others.
 */

import type { BundleItem, DeviceScene, LostLines, SceneChanges, SceneInput } from "./device-scene.ts";
import { edgeLevel, encodeEdge } from "./edge-program.ts";
import type { MapPoint } from "./geometry.ts";
import { createScene } from "./gl-renderer.ts";
import { WordWriter } from "./instance-layer.ts";
import type { Clusters, MapCluster } from "./map-clusters.ts";
import { encodeNode } from "./node-program.ts";
import type { Palette } from "./palette.ts";
import { CARD, type EdgeStyle, LINE_SIGNS, RINGS, SHAPES, STROKES, SYMBOLS } from "./style.ts";

const PREFIX = "cluster ";
const clusterNode = (index: number): string => PREFIX + index;
/** The space around the devices of a cluster that its card may cover, and the space between two cards, in map units. */
const CARD_PADDING = 50;
const CARD_GAP = 4;

type DrawnLines = Pick<DeviceScene, "bundles" | "lost">;

export interface ClusterCard extends MapPoint {
  readonly cluster: MapCluster;
  /** The radius in map units. */
  readonly radius: number;
  readonly downCount: number;
  /** Number of devices that are up and cut off by a fault elsewhere. */
  readonly cutOffCount: number;
  /** Number of devices that a comparison, a layer or a problem marks. */
  readonly markCount: number;
  /** False when all devices of the cluster are dimmed. */
  readonly highlighted: boolean;
}

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
  #radii = new Map<number, number>();
  #lines = new Set<string>();

  *update(
    input: SceneInput,
    clusters: Clusters,
    { bundles, lost }: DrawnLines,
    changes: SceneChanges,
  ): Generator<void, void> {
    const resized = changes.clusterShapes.size > 0;
    if (resized) this.#radii = yield* cardRadii([...clusters.byIndex.values()]);
    const changed = resized ? new Set([...changes.clusters, ...clusters.byIndex.keys()]) : changes.clusters;
    for (const index of changed) {
      yield;
      this.#updateCard(index, clusters.byIndex.get(index), input);
    }
    if (resized || changes.lines || changes.clusters.size > 0)
      yield* this.#updateLines(input, bundles, lost.items);
  }

  #updateCard(
    index: number,
    cluster: MapCluster | undefined,
    { network, highlights, palette }: SceneInput,
  ): void {
    const node = clusterNode(index);
    const devices = (cluster?.deviceIds ?? [])
      .filter((id) => highlights.isVisible(id))
      .flatMap((id) => network.devices.get(id) ?? []);
    if (!cluster || devices.length === 0) {
      this.cards.delete(node);
      this.scene.nodes.delete(node);
      return;
    }
    const emphases = devices.map((device) => highlights.device(device));
    // A device that is only planned is neither up nor down.
    const downCount = devices.filter(
      (device, i) => !device.available && emphases[i]?.mark !== "missing",
    ).length;
    const highlighted = emphases.some((emphasis) => emphasis.highlighted !== false);
    const selected = emphases.some((emphasis) => emphasis.selected);
    const onPath = emphases.some((emphasis) => emphasis.onPath);
    const markCount = emphases.filter(({ mark }) => mark !== undefined).length;
    const cutOffCount = devices.filter(({ id }) => network.cutOff.ids.has(id)).length;
    const showsDown = downCount > 0;
    const showsCutOff = !showsDown && cutOffCount > 0;
    const plain = highlighted ? (["node", "nodeFill"] as const) : (["dimmed", "dimmedFill"] as const);
    const [color, fill] = showsDown
      ? (["down", "downFill"] as const)
      : showsCutOff
        ? (["warning", "warningFill"] as const)
        : plain;
    const [x, y] = [(cluster.left + cluster.right) / 2, (cluster.bottom + cluster.top) / 2];
    const radius = this.#radii.get(index) ?? 0;
    this.cards.set(node, { cluster, x, y, radius, downCount, cutOffCount, markCount, highlighted });
    const style = {
      shape: SHAPES.card,
      symbol: showsDown ? SYMBOLS.cross : showsCutOff ? SYMBOLS.minus : SYMBOLS.none,
      ring: RINGS[selected ? "thick" : onPath ? "thin" : "none"],
      dashed: showsCutOff ? 1 : 0,
      color: palette[color],
      fill: palette[fill],
    };
    const words = encodeNode(this.#writer, { x, y, size: radius, ...style });
    this.scene.nodes.set(node, showsDown || showsCutOff ? 2 : 1, words);
  }

  *#updateLines(
    input: SceneInput,
    bundles: DrawnLines["bundles"],
    lost: LostLines["items"],
  ): Generator<void, void> {
    const totals = new Map<string, LineTotal>();
    const totalOf = ([start, end]: BundleItem["ends"]): LineTotal | undefined => {
      if (start.cluster === end.cluster) return undefined;
      const [p, q] = [Math.min(start.cluster, end.cluster), Math.max(start.cluster, end.cluster)];
      const [from, to] = [clusterNode(p), clusterNode(q)];
      const key = `${from} ${to}`;
      const total = totals.get(key) ?? { from, to, cables: 0, active: 0, down: 0 };
      totals.set(key, total);
      return total;
    };
    for (const { bundle, ends } of bundles.values()) {
      yield;
      const total = totalOf(ends);
      if (!total) continue;
      total.cables += bundle.cables.length;
      for (const cable of bundle.cables) {
        if (cable.active) total.active++;
        // A cable that is only planned is neither up nor down.
        else if (input.highlights.cable(cable).mark !== "missing") total.down++;
      }
    }
    for (const { ends } of lost.values()) {
      yield;
      const total = totalOf(ends);
      if (total) total.down++;
    }
    for (const key of this.#lines) if (!totals.has(key)) this.scene.edges.delete(key);
    this.#lines = new Set(totals.keys());
    for (const [key, total] of totals) {
      yield;
      const [start, end] = [this.cards.get(total.from), this.cards.get(total.to)];
      if (!start || !end) {
        this.scene.edges.delete(key);
        continue;
      }
      const style = clusterLineStyle(total, input.palette);
      const points = Float64Array.of(start.x, start.y, end.x, end.y);
      this.scene.edges.set(
        key,
        edgeLevel(total.down > 0 ? 2 : 1, style),
        encodeEdge(this.#writer, points, style),
      );
    }
  }
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
    size: Math.min(5, 1.6 + Math.log2(Math.max(1, cables))),
    fades: false,
  };
}

/**
 * The radius of the card of each cluster in map units: the largest at which the card covers only the area of its devices
 * and at which any two cards are apart in x or in y. For that, each extends at most half of the larger of both distances.
 */
export function* cardRadii(clusters: readonly MapCluster[]): Generator<void, Map<number, number>> {
  const centres = clusters.map(({ left, right, bottom, top }) => ({
    x: (left + right) / 2,
    y: (bottom + top) / 2,
  }));
  const radii = clusters.map(({ left, right, bottom, top }) =>
    Math.min(
      ((right - left) / 2 + CARD_PADDING) / CARD.width,
      ((top - bottom) / 2 + CARD_PADDING) / CARD.height,
    ),
  );
  for (let i = 0; i < centres.length; i++) {
    yield;
    for (let j = i + 1; j < centres.length; j++) {
      const [dx, dy] = [
        Math.abs((centres[i]?.x ?? 0) - (centres[j]?.x ?? 0)),
        Math.abs((centres[i]?.y ?? 0) - (centres[j]?.y ?? 0)),
      ];
      const limit = Math.max((dx - CARD_GAP) / (2 * CARD.width), (dy - CARD_GAP) / (2 * CARD.height), 0);
      radii[i] = Math.min(radii[i] ?? 0, limit);
      radii[j] = Math.min(radii[j] ?? 0, limit);
    }
  }
  return new Map(clusters.map(({ index }, i) => [index, radii[i] ?? 0]));
}
