/**
 * The lines of lost links, from one device to the other where the link was: dashed, with a cross in the middle. A cut cable
 * is in no list of links, so that without its line the map would look as if nothing had happened. The layout
 * leads them around other devices, as all links, but no position depends on them, so that nothing moves because of them.
 */
import { EMPHASISED_WIDTH_PX } from "./bundle-style.ts";
import { pairKey } from "./bundles.ts";
import type { MapPosition } from "./clusters.ts";
import { edgeLevel, encodeEdge } from "./edge-program.ts";
import type { Scene } from "./gl-renderer.ts";
import { WordWriter } from "./instance-layer.ts";
import type { Palette } from "./palette.ts";
import type { LostCable } from "./problem-marks.ts";
import { linePoints } from "./routes.ts";
import type { DeviceItem, SceneInput } from "./scene-input.ts";
import { LINE_SIGNS, STROKES } from "./style.ts";

const PREFIX = "lost ";
const WIDTH_PX = 1.6;

export interface LostItem {
  readonly lost: LostCable;
  readonly route: Float64Array | undefined;
  /** The devices with the lower and the higher id. */
  readonly ends: readonly [MapPosition, MapPosition];
  readonly points: Float64Array;
}

export class LostLines {
  /** By cable id. */
  readonly items = new Map<string, LostItem>();
  readonly #scene: Scene;
  readonly #writer = new WordWriter();
  #palette: Palette | undefined;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** Returns whether a line was added, moved or removed. */
  *update(input: SceneInput, devices: ReadonlyMap<string, DeviceItem>): Generator<void, boolean> {
    const gone = new Set(this.items.keys());
    const isRepainted = this.#palette !== input.palette;
    this.#palette = input.palette;
    let changed = false;
    for (const lost of input.lost) {
      yield;
      const next = itemOf(lost, input, devices);
      if (!next) continue;
      gone.delete(lost.id);
      const item = this.items.get(lost.id);
      this.items.set(lost.id, next);
      const moved = !item || !isSameLine(item, next);
      changed ||= moved;
      if (!moved && !isRepainted && item.lost.isChosen === lost.isChosen) continue;
      const style = lostStyle(lost, input.palette);
      const words = encodeEdge(this.#writer, next.points, style);
      this.#scene.edges.set(PREFIX + lost.id, edgeLevel(lost.isChosen ? 3 : 2, style), words);
    }
    for (const id of gone) {
      this.items.delete(id);
      this.#scene.edges.delete(PREFIX + id);
    }
    return changed || gone.size > 0;
  }
}

/**
 * Undefined when the network has the cable: it is back before the list of problems says so, or a comparison or the plan
 * draws it. Also when a device is not drawn.
 */
function itemOf(
  lost: LostCable,
  { network, routes }: SceneInput,
  devices: ReadonlyMap<string, DeviceItem>,
): LostItem | undefined {
  const { id, a, b } = lost;
  const [from, to] = [devices.get(a)?.position, devices.get(b)?.position];
  if (!from || !to || a === b || network.cables.has(id)) return undefined;
  const route = routes.get(pairKey(a, b));
  return { lost, route, ends: [from, to], points: linePoints(from, to, route) };
}

const isSameLine = (p: LostItem, q: LostItem): boolean =>
  p.route === q.route && p.ends[0] === q.ends[0] && p.ends[1] === q.ends[1];

/** Never dimmed, because it is an alarm. */
const lostStyle = ({ isChosen }: LostCable, palette: Palette) => ({
  stroke: STROKES.dashed,
  sign: LINE_SIGNS.cross,
  color: palette.down,
  size: isChosen ? EMPHASISED_WIDTH_PX : WIDTH_PX,
  fades: false,
});
