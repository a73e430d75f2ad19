/**
 * The texts in the cards of clusters: the name, the number of devices and what is wrong. A text is drawn only where it fits
 * into its card, so that no name lies on another card. What is wrong has priority over the number.
 */
import type { Size } from "../../layout/adjacency.ts";
import type { ClusterCard } from "./cluster-scene.ts";
import type { Projection } from "./geometry.ts";
import { textWidth } from "./labels.ts";
import type { Palette } from "./palette.ts";

const FONT_SIZES_PX = [22, 18, 15, 13, 11, 10, 9] as const;
const LINE_HEIGHT = 1.2;
const PADDING_PX = 2;
const FAMILY = 'system-ui, "Segoe UI", sans-serif';
/** The size at which texts are measured. Widths grow with the size of the font. */
const MEASURED_PX = 10;
const measuredWidths = new Map<string, number>();
const TEXT_COLORS = { down: "down", warning: "warning", node: "text", dimmed: "muted" } as const;
const FAULT_SIGN = "!";

export interface CardText {
  readonly sizePx: number;
  /** The name is the first line, or the beginning of it. */
  readonly lines: readonly string[];
}

/**
 * The largest text that fits into a card. If there is no space for everything, the least important parts are left out.
 * `widthOf` is the width of a text at a size of one pixel. Undefined when nothing fits and nothing is wrong.
 */
export function fitCardText(
  { name, count, faults }: Pick<ClusterCard, "name" | "count" | "faults">,
  size: Size,
  widthOf: (text: string) => number,
): CardText | undefined {
  const [worst = "", ...others] = faults;
  const variants =
    faults.length === 0
      ? [[name, count], [name]]
      : [
          [name, count, worst, ...others],
          [name, count, worst],
          [name, worst],
          [name, FAULT_SIGN],
          [FAULT_SIGN],
        ];
  for (const parts of variants) {
    for (const sizePx of FONT_SIZES_PX) {
      const maxLines = Math.floor((size.height - PADDING_PX) / (sizePx * LINE_HEIGHT));
      const fits = (line: string) => widthOf(line) * sizePx <= size.width - 2 * PADDING_PX;
      const lines = parts.length <= maxLines ? parts : joinLines(parts, fits);
      if (lines.length <= maxLines && lines.every(fits)) return { sizePx, lines };
    }
  }
  return undefined;
}

/** Joins the parts into as few lines as fit. */
function joinLines(parts: readonly string[], fits: (line: string) => boolean): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const joined = last === undefined ? part : `${last}${lines.length === 1 ? "  " : ", "}${part}`;
    if (last !== undefined && fits(joined)) lines[lines.length - 1] = joined;
    else lines.push(part);
  }
  return lines;
}

export function drawCardTexts(
  context: CanvasRenderingContext2D,
  cards: Iterable<ClusterCard>,
  projection: Projection,
  palette: Palette,
): void {
  const { width, height, scale } = projection;
  context.clearRect(0, 0, width, height);
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 3;
  // All texts are measured before the first is drawn, because drawing sets other fonts.
  context.font = `600 ${MEASURED_PX}px ${FAMILY}`;
  const widthOf = (text: string) => textWidth(context, text, measuredWidths) / MEASURED_PX;
  const texts = Array.from(cards, (card) => {
    const [x, y] = [projection.x((card.left + card.right) / 2), projection.y((card.top + card.bottom) / 2)];
    const [cardWidth, cardHeight] = [(card.right - card.left) * scale, (card.top - card.bottom) * scale];
    const isOutside =
      Math.abs(x - width / 2) > width / 2 + cardWidth || Math.abs(y - height / 2) > height / 2 + cardHeight;
    return {
      card,
      x,
      y,
      text: isOutside ? undefined : fitCardText(card, { width: cardWidth, height: cardHeight }, widthOf),
    };
  });
  for (const { card, x, y, text } of texts) {
    if (!text) continue;
    const { sizePx, lines } = text;
    const hasFault = card.faults.length > 0;
    const color = TEXT_COLORS[card.tone];
    context.strokeStyle = palette[`${card.tone}Fill`];
    for (const [i, line] of lines.entries()) {
      const isBold = i === 0 || hasFault;
      const lineY = y + (i - (lines.length - 1) / 2) * sizePx * LINE_HEIGHT;
      context.font = `${isBold ? 600 : 400} ${sizePx}px ${FAMILY}`;
      context.fillStyle = palette[isBold ? color : "muted"];
      // The halo keeps the text legible over the cross.
      if (card.isCrossed) context.strokeText(line, x, lineY);
      context.fillText(line, x, lineY);
    }
  }
}
