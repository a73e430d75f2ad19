/**
 * Names on the map. As many as fit without touching, the important first, drawn on a plain canvas above the graph: the
 * renderer's own labels know neither importance nor each other.
 */
import type { Palette } from "./palette.ts";
import type { Projection } from "./projection.ts";

export interface Name {
  readonly node: string;
  readonly text: string;
  readonly detail: string;
  /** How many hosts hang on it: written beside it, while there is room. */
  readonly count: number;
  readonly x: number;
  readonly y: number;
  /** Centred on the spot, rather than below it. */
  readonly inside?: boolean;
  /** In radii of a device. */
  readonly size: number;
  /** Higher goes first. */
  readonly weight: number;
  readonly strong?: boolean;
  /** Pixels between devices from which on it is drawn, where that is not the usual. */
  readonly room?: number;
  /** At every zoom, if there is room. */
  readonly always?: boolean;
  readonly color: string;
}

const CELL = 6;
const MAX_DRAWN = 320;
const LINE_HEIGHT = 13;
/** Ordinary names need this much room between devices, and their second line more. */
const ROOM_FOR_NAMES = 34;
const ROOM_FOR_COUNT = 44;
const FONT = '11px system-ui, "Segoe UI", sans-serif';
const FONT_COUNT = '10px system-ui, "Segoe UI", sans-serif';
const FONT_STRONG = '600 11px system-ui, "Segoe UI", sans-serif';

const widths = new Map<string, number>();

function widthOf(context: CanvasRenderingContext2D, text: string): number {
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size > 50_000) widths.clear();
    width = context.measureText(text).width;
    widths.set(text, width);
  }
  return width;
}

/** `names` come sorted by weight, heaviest first. */
export function drawNames(
  context: CanvasRenderingContext2D,
  names: readonly Name[],
  projection: Projection,
  palette: Palette,
  hovered: string | undefined,
): void {
  const { width, height } = projection;
  context.clearRect(0, 0, width, height);
  context.textAlign = "center";
  context.textBaseline = "top";
  context.lineJoin = "round";
  context.strokeStyle = palette.ground;
  const taken = new Occupancy(width, height);
  const room = projection.spacing;
  let drawn = 0;
  for (const name of names) {
    const important = name.always || name.node === hovered;
    if (!important && (room < (name.room ?? ROOM_FOR_NAMES) || drawn > MAX_DRAWN)) continue;
    const x = projection.x(name.x);
    const tall = name.detail === "" ? LINE_HEIGHT : LINE_HEIGHT * 2;
    const y = projection.y(name.y) + (name.inside ? -tall / 2 : projection.radius * name.size + 4);
    if (x < -80 || y < -20 || x > width + 80 || y > height) continue;
    const { detail } = name;
    if (name.count > 0 && room >= ROOM_FOR_COUNT) drawCount(context, name, projection, palette);
    context.font = name.strong ? FONT_STRONG : FONT;
    const half = Math.max(widthOf(context, name.text), detail === "" ? 0 : widthOf(context, detail)) / 2 + 3;
    const free = taken.claim(x - half, y - 1, x + half, y + tall);
    if (!free && name.node !== hovered) continue;
    drawn++;
    context.lineWidth = 3;
    context.strokeText(name.text, x, y);
    context.fillStyle = name.color;
    context.fillText(name.text, x, y);
    if (detail === "") continue;
    context.font = FONT;
    context.strokeText(detail, x, y + LINE_HEIGHT);
    context.fillStyle = palette.muted;
    context.fillText(detail, x, y + LINE_HEIGHT);
  }
}

/** Which parts of the screen have writing on them. */
class Occupancy {
  readonly #columns: number;
  readonly #rows: number;
  readonly #cells: Uint8Array;

  constructor(width: number, height: number) {
    this.#columns = Math.ceil(width / CELL) + 1;
    this.#rows = Math.ceil(height / CELL) + 1;
    this.#cells = new Uint8Array(this.#columns * this.#rows);
  }

  /** Takes the rectangle if all of it is free. */
  claim(left: number, top: number, right: number, bottom: number): boolean {
    const from = Math.max(0, Math.floor(left / CELL));
    const to = Math.min(this.#columns - 1, Math.floor(right / CELL));
    const first = Math.max(0, Math.floor(top / CELL));
    const last = Math.min(this.#rows - 1, Math.floor(bottom / CELL));
    for (let row = first; row <= last; row++) {
      const start = row * this.#columns;
      for (let column = from; column <= to; column++) if (this.#cells[start + column] === 1) return false;
    }
    for (let row = first; row <= last; row++) {
      this.#cells.fill(1, row * this.#columns + from, row * this.#columns + to + 1);
    }
    return true;
  }
}

function drawCount(
  context: CanvasRenderingContext2D,
  name: Name,
  projection: Projection,
  palette: Palette,
): void {
  const reach = projection.radius * name.size;
  context.font = FONT_COUNT;
  context.textAlign = "left";
  context.fillStyle = palette.muted;
  context.lineWidth = 3;
  const [x, y] = [projection.x(name.x) + reach + 3, projection.y(name.y) - reach - 2];
  context.strokeText(String(name.count), x, y);
  context.fillText(String(name.count), x, y);
  context.textAlign = "center";
}
