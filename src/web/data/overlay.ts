/** The values of a metric on links, as the page has them: what the map draws, or why there is nothing to draw. */
import { computed, type ReadonlySignal, type Signal } from "@preact/signals";
import type { MetricValues } from "../../model/map-settings.ts";
import type { ViewState } from "./view-state.ts";

/** What the map draws. */
export interface LinkOverlay {
  readonly name: string;
  /** May be empty. */
  readonly unit: string;
  /** By link id. A link without a value has none: that is not zero. */
  readonly values: ReadonlyMap<string, number>;
  /** The value that is drawn as full. */
  readonly max: number;
}

export type OverlayResult =
  | { readonly ok: true; readonly overlay: LinkOverlay; readonly facts: Omit<MetricValues, "values"> }
  | { readonly ok: false; readonly reason: string };

/** The values are of now, so that there are none where the page shows the past or a comparison. */
export function overlayOf(
  state: ReadonlySignal<ViewState>,
  overlayResult: Signal<OverlayResult | undefined>,
): ReadonlySignal<LinkOverlay | undefined> {
  return computed(() => {
    const { at, compare } = state.value;
    const result = overlayResult.value;
    return result?.ok && at === undefined && compare === undefined ? result.overlay : undefined;
  });
}

/** `42.5 %`. */
export function formatValue({ unit }: Pick<LinkOverlay, "unit">, value: number): string {
  const number = Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
  return `${number.toLocaleString("en")}${unit === "" ? "" : ` ${unit}`}`;
}
