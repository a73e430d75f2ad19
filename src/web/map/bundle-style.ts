/** The style of the line of a bundle: the state of its cables, their emphasis, their speed, or a value of an overlay. */

import type { LinkOverlay } from "../data/link-overlay.ts";
import { overlayColor, overlayValue } from "../data/link-overlay.ts";
import type { Bundle } from "./bundles.ts";
import type { Palette } from "./palette.ts";
import { type EdgeStyle, type Emphasis, LINE_SIGNS, lineColor, strokeOf } from "./style.ts";

interface BundleStyleInput {
  readonly palette: Palette;
  readonly overlay: LinkOverlay | undefined;
  readonly speedOf: (bundle: Bundle) => number;
}

export const EMPHASISED_WIDTH_PX = 3;
const OVERLAY_WIDTH_PX = 3;

export function bundleStyle(bundle: Bundle, emphasis: Emphasis, input: BundleStyleInput): EdgeStyle {
  const { cables } = bundle;
  const activeCount = cables.filter((cable) => cable.active).length;
  const line = {
    active: activeCount > 0,
    partlyDown: activeCount > 0 && activeCount < cables.length,
    verified: cables.every((cable) => cable.verified),
    conflict: cables.some((cable) => cable.conflict),
  };
  const value = overlayValue(input.overlay, bundle);
  const emphasised = emphasis.selected || emphasis.onPath;
  // A value replaces the colour of a line only where that says nothing: an alarm or a mark stays visible.
  const isPlain = line.active && !line.partlyDown && !line.conflict && !emphasised && !emphasis.mark;
  const showsValue = input.overlay !== undefined && isPlain;
  const speedWidth = widthOfSpeed(input.speedOf(bundle));
  const stateWidth = line.active && !line.partlyDown ? 0 : 1.6;
  const markWidth = emphasis.mark === "unplanned" ? 3 : emphasis.mark ? 1.6 : 0;
  return {
    stroke: strokeOf(line, emphasis.mark),
    sign: signOf(bundle, emphasis),
    size: Math.max(
      speedWidth,
      stateWidth,
      markWidth,
      emphasised ? EMPHASISED_WIDTH_PX : 0,
      showsValue && value !== undefined ? OVERLAY_WIDTH_PX : 0,
    ),
    color:
      showsValue && input.overlay
        ? value === undefined
          ? input.palette.dimmed
          : overlayColor(input.overlay, value, input.palette)
        : lineColor(line, emphasis, input.palette),
    fades: isPlain && value === undefined,
  };
}

/** From 1.1 pixels for an unknown speed or 100 Mb/s to 2.8 pixels for 400 Gb/s: 0.45 pixels for a factor of ten. */
export function widthOfSpeed(mbps: number): number {
  return mbps > 0 ? Math.min(4.5, 1.1 + 0.45 * Math.max(0, Math.log10(mbps / 100))) : 1.1;
}

/** An arrow in the direction that works, where a cable has only one. */
function signOf({ a, cables }: Bundle, { mark }: Emphasis): number {
  const oneWay = mark === "missing" ? undefined : cables.find((cable) => cable.oneWay && cable.active);
  if (!oneWay) return LINE_SIGNS.none;
  return oneWay.from.device === a ? LINE_SIGNS.along : LINE_SIGNS.against;
}

/** The emphasis of a bundle is the strongest of its cables. */
export function mergeEmphases(emphases: readonly Emphasis[]): Emphasis {
  return {
    highlighted: emphases.some(({ highlighted }) => highlighted)
      ? true
      : emphases.every(({ highlighted }) => highlighted === false)
        ? false
        : undefined,
    selected: emphases.some(({ selected }) => selected),
    onPath: emphases.some(({ onPath }) => onPath),
    mark: emphases.find(({ mark }) => mark !== undefined)?.mark,
  };
}
