/**
 * How each thing looks on the map: from what is known of it to numbers the shaders understand. Down goes before
 * doubtful, and a comparison goes before both, because that is what was asked for.
 */
import type { Cable } from "../../model/cable.ts";
import { type Device, hasConflict } from "../../model/entity.ts";
import type { Palette } from "./palette.ts";

export type Mark = "added" | "removed" | "updated";

export interface NodeLook {
  readonly shape: number;
  /** 0 none, 1 cross, 2 exclamation, 3 plus, 4 minus, 5 dot. */
  readonly mark: number;
  /** 0 none, 1 a thin ring, 2 a strong one. */
  readonly ring: number;
  readonly color: string;
  readonly fill: string;
}

export interface LineLook {
  /** 0 whole, 1 dashed, 2 dotted, 3 double. */
  readonly stroke: number;
  readonly arrow: number;
  readonly color: string;
  readonly size: number;
  readonly offset: number;
}

export interface Emphasis {
  /** What stands out; everything else fades. Undefined: nothing does. */
  readonly lit: boolean | undefined;
  readonly selected: boolean;
  readonly onPath: boolean;
  readonly mark: Mark | undefined;
}

export const SHAPES = { circle: 0, square: 1, diamond: 2, hexagon: 3, triangle: 4, card: 5 } as const;
/** The reach of a card to its sides, in its radius: the shader draws it so. */
export const CARD = { width: 1.15, height: 0.8 } as const;
export type Shape = keyof typeof SHAPES;

const OPTICAL = [
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
const GUARDS = ["FIREWALL", "BALANCER", "IPS", "IDS"];
const MACHINES = ["SERVER", "CONTROLLER", "TERMINAL_DEVICE", "VIRTUAL"];

export function shapeOf(type: string): Shape {
  if (type === "ROUTER") return "circle";
  if (GUARDS.includes(type)) return "hexagon";
  if (MACHINES.includes(type)) return "diamond";
  if (OPTICAL.includes(type)) return "triangle";
  return "square";
}

export function deviceLook(device: Device, emphasis: Emphasis, palette: Palette): NodeLook {
  const shape = SHAPES[shapeOf(device.type)];
  const ring = emphasis.selected ? 2 : emphasis.onPath ? 1 : 0;
  return { shape, ring, ...deviceColours(device, emphasis, palette) };
}

function deviceColours(device: Device, { lit, mark }: Emphasis, palette: Palette) {
  if (mark === "added") return { mark: 3, color: palette.added, fill: palette.addedFill };
  if (mark === "removed") return { mark: 4, color: palette.down, fill: palette.downFill };
  if (mark === "updated") return { mark: 5, color: palette.doubt, fill: palette.doubtFill };
  if (lit === false) return { mark: device.available ? 0 : 1, color: palette.faded, fill: palette.fadedFill };
  if (!device.available) return { mark: 1, color: palette.down, fill: palette.downFill };
  if (hasConflict(device)) return { mark: 2, color: palette.doubt, fill: palette.doubtFill };
  return { mark: 0, color: palette.node, fill: palette.nodeFill };
}

export function cableLook(cable: Cable, emphasis: Emphasis, palette: Palette): Omit<LineLook, "offset"> {
  const stroke = cable.active ? (cable.conflict ? 3 : cable.verified ? 0 : 2) : 1;
  const arrow = cable.oneWay && cable.active ? 1 : 0;
  const size = emphasis.selected || emphasis.onPath ? 3 : cable.active && !emphasis.mark ? 1.1 : 1.6;
  return { stroke, arrow, size, color: cableColour(cable, emphasis, palette) };
}

function cableColour(cable: Cable, { lit, mark, selected, onPath }: Emphasis, palette: Palette): string {
  if (selected || onPath) return palette.accent;
  if (mark === "added") return palette.added;
  if (mark === "removed") return palette.down;
  if (mark === "updated") return palette.doubt;
  if (lit === false) return palette.faded;
  if (!cable.active) return palette.down;
  return cable.conflict ? palette.doubt : palette.line;
}
