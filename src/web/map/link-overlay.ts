/**
 * Values on links, such as their utilisation: the colour of a line, the text on it and the steps of the legend. A link
 * without a value is drawn dimmed, never as zero.
 */
import type { LinkOverlay } from "../data/overlay.ts";
import type { Bundle } from "./bundles.ts";
import type { Palette } from "./palette.ts";

const STEPS = ["#4c9be8", "#3fb68b", "#d9a514", "#e8772e", "#e5484d"] as const;

/** The largest value of the links of a bundle, because that one is the first to be full. */
export function overlayValue(overlay: LinkOverlay | undefined, { cables }: Bundle): number | undefined {
  if (!overlay) return undefined;
  let largest: number | undefined;
  for (const { links } of cables)
    for (const { id } of links) {
      const value = overlay.values.get(id);
      if (value !== undefined && Number.isFinite(value)) largest = Math.max(largest ?? value, value);
    }
  return largest;
}

export function overlayColor(overlay: LinkOverlay, value: number, palette: Palette): string {
  const { max } = overlay;
  const step = Math.floor((Math.max(0, value) / (max || 1)) * STEPS.length);
  return STEPS[Math.min(STEPS.length - 1, step)] ?? palette.line;
}

export function overlayText({ unit }: LinkOverlay, value: number): string {
  const number = Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(2));
  return `${number.toLocaleString("en")}${unit === "%" || unit === "" ? unit : ` ${unit}`}`;
}

/** The colours of the legend and the smallest value of each. */
export function overlaySteps(overlay: LinkOverlay): { readonly color: string; readonly from: string }[] {
  const { max } = overlay;
  return STEPS.map((color, i) => ({ color, from: overlayText(overlay, (max * i) / STEPS.length) }));
}
