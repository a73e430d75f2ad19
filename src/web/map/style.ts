/**
 * The style of devices and cables on the map, as the numbers that the shaders use. Each state has a form as well as a
 * colour, for people who cannot distinguish the colours. A comparison has priority over a state, because the user
 * requested it, and down has priority over a conflict.
 */
import { hasConflict } from "../../model/conflict.ts";
import type { Device, DriftState } from "../../model/entity.ts";
import { type LinkOverlay, overlayColor, overlayValue } from "../data/link-overlay.ts";
import type { Bundle } from "./bundles.ts";
import type { Palette } from "./palette.ts";

export type ChangeMark = "added" | "removed" | "updated";
/** The mark `problem` is that of the devices and the cable of the chosen problem. */
export type Mark = ChangeMark | DriftState | "conflict" | "problem";
/** The role of a device or cable in a fault: others follow from it, or it is cut off by another one. */
export type FaultRole = "cause" | "cut-off";

export interface NodeStyle {
  /** One of `SHAPES`. */
  readonly shape: number;
  /** One of `SYMBOLS`, drawn inside the shape. */
  readonly symbol: number;
  /** One of `RINGS`, around the shape. */
  readonly ring: number;
  /** 1 for a dashed outline. */
  readonly dashed: number;
  readonly color: string;
  readonly fill: string;
}

export interface EdgeStyle {
  /** One of `STROKES`. */
  readonly stroke: number;
  /** One of `LINE_SIGNS`, in the middle of the line. */
  readonly sign: number;
  readonly color: string;
  /** The width in pixels. */
  readonly size: number;
  /** Whether the line is more transparent and thinner at a low zoom. */
  readonly fades: boolean;
}

/** The emphasis that distinguishes a device or cable from others in the same state. */
export interface Emphasis {
  /** False when it is dimmed; undefined when no filter, path or mark is active. */
  readonly highlighted: boolean | undefined;
  readonly selected: boolean;
  readonly onPath: boolean;
  readonly mark: Mark | undefined;
}

export const SHAPES = { circle: 0, square: 1, diamond: 2, hexagon: 3, triangle: 4, card: 5 } as const;
export const SYMBOLS = { none: 0, cross: 1, exclamation: 2, plus: 3, minus: 4, dot: 5, unequal: 6 } as const;
/** A halo is a wide and light ring, which is seen from afar. */
export const RINGS = { none: 0, thin: 1, thick: 2, halo: 3 } as const;
/** The signs on lines: an arrow along the line or against it, and a cross for a lost link. */
export const LINE_SIGNS = { none: 0, along: 1, against: 2, cross: 3 } as const;
export const STROKES = { solid: 0, dashed: 1, dotted: 2, double: 3, dashDotted: 4, longDashed: 5 } as const;
type Shape = keyof typeof SHAPES;

const TRANSMISSION_TYPES = [
  "ROADM",
  "OTN",
  "ROADM_OTN",
  "FIBER_SWITCH",
  "OPTICAL_AMPLIFIER",
  "OLS",
  "OLT",
  "ONU",
  "MICROWAVE",
];
const MIDDLEBOX_TYPES = ["FIREWALL", "BALANCER", "IPS", "IDS"];
const SERVER_TYPES = ["SERVER", "CONTROLLER", "TERMINAL_DEVICE", "VIRTUAL"];

function shapeOf(type: string): Shape {
  if (type === "ROUTER") return "circle";
  if (MIDDLEBOX_TYPES.includes(type)) return "hexagon";
  if (SERVER_TYPES.includes(type)) return "diamond";
  if (TRANSMISSION_TYPES.includes(type)) return "triangle";
  return "square";
}

export function deviceStyle(
  device: Device,
  emphasis: Emphasis,
  role: FaultRole | undefined,
  palette: Palette,
): NodeStyle {
  const { selected, onPath, highlighted, mark } = emphasis;
  const { symbol, color, fill } = stateStyle(device, highlighted, mark, role);
  const isCutOff = role === "cut-off" && (mark === undefined || mark === "problem");
  return {
    shape: SHAPES[shapeOf(device.type)],
    ring: RINGS[selected ? "thick" : ringOf(mark, role, onPath)],
    dashed: mark === "missing" || isCutOff ? 1 : 0,
    symbol: SYMBOLS[symbol],
    color: palette[color],
    fill: palette[fill],
  };
}

function ringOf(mark: Mark | undefined, role: FaultRole | undefined, onPath: boolean): keyof typeof RINGS {
  if (role === "cause") return "halo";
  return mark === "problem" ? "thick" : onPath ? "thin" : "none";
}

interface MarkStyle {
  readonly symbol: keyof typeof SYMBOLS;
  readonly color: keyof Palette;
  readonly fill: keyof Palette;
}

/** The symbol and colours of each mark. A missing device has the colour of the background as its fill. */
const MARK_STYLES: Readonly<Record<Mark, MarkStyle>> = {
  added: { symbol: "plus", color: "added", fill: "addedFill" },
  removed: { symbol: "minus", color: "down", fill: "downFill" },
  updated: { symbol: "dot", color: "warning", fill: "warningFill" },
  missing: { symbol: "minus", color: "missing", fill: "background" },
  unplanned: { symbol: "plus", color: "unplanned", fill: "unplannedFill" },
  differs: { symbol: "unequal", color: "differs", fill: "differsFill" },
  conflict: { symbol: "exclamation", color: "warning", fill: "warningFill" },
  problem: { symbol: "exclamation", color: "down", fill: "downFill" },
};

function stateStyle(
  device: Device,
  highlighted: boolean | undefined,
  mark: Mark | undefined,
  role: FaultRole | undefined,
): MarkStyle {
  // For a device that is down or cut off, the symbol of its state is more specific than that of a problem.
  const showsState = mark === "problem" && (!device.available || role === "cut-off");
  if (mark && !showsState) return MARK_STYLES[mark];
  // An alarm is never dimmed: a device that is down or cut off must be visible with every filter.
  if (!device.available) return { symbol: "cross", color: "down", fill: "downFill" };
  if (role === "cut-off") return { symbol: "minus", color: "warning", fill: "warningFill" };
  if (hasConflict(device)) return MARK_STYLES.conflict;
  if (highlighted === false) return { symbol: "none", color: "dimmed", fill: "dimmedFill" };
  return { symbol: "none", color: "node", fill: "nodeFill" };
}

/** The state of a bundle that the style of its line shows. */
interface LineState {
  readonly active: boolean;
  /** Whether some cables of the bundle are active and others are not. */
  readonly partlyDown: boolean;
  readonly verified: boolean;
  readonly conflict: boolean;
}

/** The stroke of a line. A mark of drift has priority over the state of the line. */
function strokeOf(line: LineState, mark: Mark | undefined): number {
  if (mark === "missing") return STROKES.dashed;
  if (mark === "unplanned") return STROKES.solid;
  if (mark === "differs") return STROKES.dashDotted;
  if (!line.active) return STROKES.dashed;
  if (line.partlyDown) return STROKES.longDashed;
  if (line.conflict) return STROKES.double;
  return line.verified ? STROKES.solid : STROKES.dotted;
}

export function lineColor(
  line: LineState,
  { highlighted, mark, selected, onPath }: Emphasis,
  palette: Palette,
): string {
  if (selected || onPath) return palette.accent;
  if (mark) return palette[MARK_STYLES[mark].color];
  // An alarm is never dimmed.
  if (!line.active || line.partlyDown) return palette.down;
  if (line.conflict) return palette.warning;
  return highlighted === false ? palette.dimmed : palette.line;
}

/** The input of `bundleStyle` besides the bundle and its emphasis. */
interface BundleStyleInput {
  readonly palette: Palette;
  readonly overlay: LinkOverlay | undefined;
  readonly speedOf: (bundle: Bundle) => number;
  /** Whether a fault of the bundle is the cause of others. */
  readonly isCause: boolean;
}

/** The widths of cables that are down: the cause of a fault, and what follows from one. */
export const CAUSE_WIDTH_PX = 2.6;
export const DOWN_WIDTH_PX = 1.4;
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
  // A value replaces only the colour of a plain line, so that alarms and marks stay visible.
  const isPlain = line.active && !line.partlyDown && !line.conflict && !emphasised && !emphasis.mark;
  const showsValue = input.overlay !== undefined && isPlain;
  const speedWidth = widthOfSpeed(input.speedOf(bundle));
  const downWidth = input.isCause ? CAUSE_WIDTH_PX : DOWN_WIDTH_PX;
  const stateWidth = line.active && !line.partlyDown ? 0 : downWidth;
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

/** The width of a line in pixels: 1.1 for an unknown speed or up to 100 Mb/s, and 0.45 more for each factor of ten. */
export function widthOfSpeed(mbps: number): number {
  return mbps > 0 ? Math.min(4.5, 1.1 + 0.45 * Math.max(0, Math.log10(mbps / 100))) : 1.1;
}

/** The arrow of a bundle with a one-way cable, in the direction that works. */
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
