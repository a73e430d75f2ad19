/**
 * The values of a metric on links, such as their utilisation: the loaded values or the reason why there are none, and the
 * colours and texts that show them. A link without a value is drawn dimmed, never as zero.
 */
import type { MetricValues } from "../../model/map-settings.ts";
import type { Bundle } from "../map/bundles.ts";
import type { Palette } from "../map/palette.ts";

/** The values that the map draws. */
export interface LinkOverlay {
  readonly name: string;
  /** The unit of the values; may be empty. */
  readonly unit: string;
  /** Values by link id. A link without a value is absent, which is not zero. */
  readonly values: ReadonlyMap<string, number>;
  /** The value that is drawn as full. */
  readonly max: number;
}

export type OverlayResult =
  | { readonly ok: true; readonly overlay: LinkOverlay; readonly facts: Omit<MetricValues, "values"> }
  | { readonly ok: false; readonly reason: string };

/** The value with its unit for a panel: `42.5 %`. */
export function formatMetric({ unit }: Pick<LinkOverlay, "unit">, value: number): string {
  const number = Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
  return `${number.toLocaleString("en")}${unit === "" ? "" : ` ${unit}`}`;
}

/** The colours of values, from the smallest to the largest. */
const STEPS = ["value1", "value2", "value3", "value4", "value5"] as const;
type Step = (typeof STEPS)[number];

/** The largest value of the links of a bundle, because that link reaches its maximum first. */
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
  return palette[STEPS[Math.min(STEPS.length - 1, step)] ?? "line"];
}

export function overlayText({ unit }: LinkOverlay, value: number): string {
  const number = Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(2));
  return `${number.toLocaleString("en")}${unit === "%" || unit === "" ? unit : ` ${unit}`}`;
}

/** The colours of the scale and the smallest value of each. */
export function overlaySteps(overlay: LinkOverlay): { readonly step: Step; readonly from: string }[] {
  const { max } = overlay;
  return STEPS.map((step, i) => ({ step, from: overlayText(overlay, (max * i) / STEPS.length) }));
}
