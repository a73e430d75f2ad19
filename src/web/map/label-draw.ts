/**
 * Draws the labels of the map on a canvas above the graph: as many as fit without overlap, in order of priority. The
 * labels of the renderer are not used, because they have neither a priority nor an overlap check.
 */
import type { Palette } from "./palette.ts";
import type { Projection } from "./projection.ts";

export interface Label {
  readonly nodeId: string;
  readonly text: string;
  /** A second line; may be empty. */
  readonly detail: string;
  /** Drawn beside the node if there is enough space; 0 is not drawn. */
  readonly hostCount: number;
  readonly x: number;
  readonly y: number;
  /** Drawn in the centre of the node instead of below it. */
  readonly centred?: boolean;
  /** The size of the node, in radii of a device. */
  readonly size: number;
  readonly priority: number;
  readonly bold?: boolean;
  /** The smallest spacing of devices at which the label is drawn, if it is not the default. */
  readonly minSpacingPx?: number;
  /** Drawn at every zoom, if it does not overlap another label. */
  readonly atEveryZoom?: boolean;
  readonly color: string;
}

const CELL_PX = 6;
const MAX_LABELS = 320;
const LINE_HEIGHT_PX = 13;
const DEFAULT_MIN_SPACING_PX = 34;
const HOST_COUNT_MIN_SPACING_PX = 44;
const MAX_CACHED_WIDTHS = 50_000;
const FONT = '11px system-ui, "Segoe UI", sans-serif';
const HOST_COUNT_FONT = '10px system-ui, "Segoe UI", sans-serif';
const BOLD_FONT = '600 11px system-ui, "Segoe UI", sans-serif';

/** Measuring text is slow, and the same labels are drawn in every frame. */
const cachedWidths = new Map<string, number>();

function textWidth(context: CanvasRenderingContext2D, text: string): number {
  let width = cachedWidths.get(text);
  if (width === undefined) {
    if (cachedWidths.size > MAX_CACHED_WIDTHS) cachedWidths.clear();
    width = context.measureText(text).width;
    cachedWidths.set(text, width);
  }
  return width;
}

/** `labels` are sorted by priority, highest first. The label of the hovered node is always drawn. */
export function drawLabels(
  context: CanvasRenderingContext2D,
  labels: readonly Label[],
  projection: Projection,
  palette: Palette,
  hoveredNodeId: string | undefined,
): void {
  const { width, height, spacingPx, radiusPx } = projection;
  context.clearRect(0, 0, width, height);
  context.textAlign = "center";
  context.textBaseline = "top";
  context.lineJoin = "round";
  context.strokeStyle = palette.background;
  const occupied = new OccupiedCells(width, height);
  let drawnCount = 0;
  for (const label of labels) {
    const isHovered = label.nodeId === hoveredNodeId;
    const hasSpace = spacingPx >= (label.minSpacingPx ?? DEFAULT_MIN_SPACING_PX) && drawnCount <= MAX_LABELS;
    if (!label.atEveryZoom && !isHovered && !hasSpace) continue;
    const { detail } = label;
    const x = projection.x(label.x);
    const labelHeight = detail === "" ? LINE_HEIGHT_PX : LINE_HEIGHT_PX * 2;
    const y = projection.y(label.y) + (label.centred ? -labelHeight / 2 : radiusPx * label.size + 4);
    if (x < -80 || y < -20 || x > width + 80 || y > height) continue;
    if (label.hostCount > 0 && spacingPx >= HOST_COUNT_MIN_SPACING_PX)
      drawHostCount(context, label, projection, palette);
    context.font = label.bold ? BOLD_FONT : FONT;
    const detailWidth = detail === "" ? 0 : textWidth(context, detail);
    const halfWidth = Math.max(textWidth(context, label.text), detailWidth) / 2 + 3;
    const isFree = occupied.occupy(x - halfWidth, y - 1, x + halfWidth, y + labelHeight);
    if (!isFree && !isHovered) continue;
    drawnCount++;
    context.lineWidth = 3;
    context.strokeText(label.text, x, y);
    context.fillStyle = label.color;
    context.fillText(label.text, x, y);
    if (detail === "") continue;
    context.font = FONT;
    context.strokeText(detail, x, y + LINE_HEIGHT_PX);
    context.fillStyle = palette.muted;
    context.fillText(detail, x, y + LINE_HEIGHT_PX);
  }
}

/** A grid over the viewport that marks the cells with a label. */
class OccupiedCells {
  readonly #columns: number;
  readonly #rows: number;
  readonly #cells: Uint8Array;

  constructor(width: number, height: number) {
    this.#columns = Math.ceil(width / CELL_PX) + 1;
    this.#rows = Math.ceil(height / CELL_PX) + 1;
    this.#cells = new Uint8Array(this.#columns * this.#rows);
  }

  /** Marks the rectangle. Returns false and marks nothing if a part of it is occupied. */
  occupy(left: number, top: number, right: number, bottom: number): boolean {
    const firstColumn = Math.max(0, Math.floor(left / CELL_PX));
    const lastColumn = Math.min(this.#columns - 1, Math.floor(right / CELL_PX));
    const firstRow = Math.max(0, Math.floor(top / CELL_PX));
    const lastRow = Math.min(this.#rows - 1, Math.floor(bottom / CELL_PX));
    for (let row = firstRow; row <= lastRow; row++) {
      const rowStart = row * this.#columns;
      for (let column = firstColumn; column <= lastColumn; column++)
        if (this.#cells[rowStart + column] === 1) return false;
    }
    for (let row = firstRow; row <= lastRow; row++) {
      this.#cells.fill(1, row * this.#columns + firstColumn, row * this.#columns + lastColumn + 1);
    }
    return true;
  }
}

function drawHostCount(
  context: CanvasRenderingContext2D,
  label: Label,
  projection: Projection,
  palette: Palette,
): void {
  const nodeRadius = projection.radiusPx * label.size;
  context.font = HOST_COUNT_FONT;
  context.textAlign = "left";
  context.fillStyle = palette.muted;
  context.lineWidth = 3;
  const [x, y] = [projection.x(label.x) + nodeRadius + 3, projection.y(label.y) - nodeRadius - 2];
  context.strokeText(String(label.hostCount), x, y);
  context.fillText(String(label.hostCount), x, y);
  context.textAlign = "center";
}
