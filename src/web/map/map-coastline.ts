/**
 * The coastline below everything else on the map: whether it is on, its lines for the present layout, and how they are
 * drawn. The layout worker bends the lines; a frame only scales them, and leaves out what is not visible.
 */
import type { Coastline, CoastlineResult } from "../coastline/coastline.ts";
import { formatCount } from "../data/entity-names.ts";
import type { Palette } from "./palette.ts";
import type { Projection } from "./projection.ts";

interface CoastlineHandlers {
  /** Loads the land from its address; empty ends that. */
  setLand(landUrl: string): void;
  onChanged(): void;
  /** What a user should know about it; undefined for nothing. */
  onNote(note: string | undefined): void;
}

export class MapCoastline {
  readonly #landUrl: string;
  readonly #handlers: CoastlineHandlers;
  #isOn = false;
  #lines: Coastline | undefined;

  constructor(landUrl: string, handlers: CoastlineHandlers) {
    this.#landUrl = landUrl;
    this.#handlers = handlers;
  }

  /** Undefined until the lines are known, and without a coastline. */
  get lines(): Coastline | undefined {
    return this.#lines;
  }

  show(isOn: boolean): void {
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    this.#handlers.setLand(isOn ? this.#landUrl : "");
    this.#set(undefined, undefined);
  }

  receive(result: CoastlineResult): void {
    if (!this.#isOn) return;
    if ("fault" in result) this.#set(undefined, result.fault);
    else this.#set(result, noteOf(result));
  }

  #set(lines: Coastline | undefined, note: string | undefined): void {
    this.#lines = lines;
    this.#handlers.onNote(note);
    this.#handlers.onChanged();
  }
}

function noteOf({ sites, misplaced }: Coastline): string | undefined {
  if (misplaced === 0) return undefined;
  return `${misplaced} of ${formatCount(sites, "site")} with a location are not where the coastline has their place, because the map has moved sites apart.`;
}

/** Points that are nearer to the last one, in pixels, are left out. */
const MIN_STEP_PX = 0.8;

export function drawCoastline(
  context: CanvasRenderingContext2D,
  { points, offsets }: Coastline,
  projection: Projection,
  palette: Palette,
): void {
  context.beginPath();
  for (let ring = 0; ring + 1 < offsets.length; ring++) {
    const [start, end] = [offsets[ring] ?? 0, offsets[ring + 1] ?? 0];
    if (isInView(points, start, end, projection)) addRing(context, points, start, end, projection);
  }
  context.fillStyle = palette.land;
  // The Caspian Sea is a ring within a ring.
  context.fill("evenodd");
  context.strokeStyle = palette.coast;
  context.lineWidth = 1;
  context.stroke();
}

function isInView(
  points: Float32Array,
  start: number,
  end: number,
  { width, height, centre, scale }: Projection,
): boolean {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = start; i < end; i += 2) {
    const [x = 0, y = 0] = [points[i], points[i + 1]];
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < bottom) bottom = y;
    if (y > top) top = y;
  }
  const [reachX, reachY] = [width / 2 / scale, height / 2 / scale];
  return (
    right >= centre.x - reachX &&
    left <= centre.x + reachX &&
    top >= centre.y - reachY &&
    bottom <= centre.y + reachY
  );
}

function addRing(
  context: CanvasRenderingContext2D,
  points: Float32Array,
  start: number,
  end: number,
  projection: Projection,
): void {
  let [lastX, lastY] = [Infinity, Infinity];
  for (let i = start; i < end; i += 2) {
    const x = projection.x(points[i] ?? 0);
    const y = projection.y(points[i + 1] ?? 0);
    if (Math.abs(x - lastX) < MIN_STEP_PX && Math.abs(y - lastY) < MIN_STEP_PX) continue;
    if (i === start) context.moveTo(x, y);
    else context.lineTo(x, y);
    [lastX, lastY] = [x, y];
  }
  context.closePath();
}
