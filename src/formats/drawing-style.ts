/**
 * How pictures show state, for DOT and SVG alike. Each state differs in line or shape as well as in colour, so that
 * it can be told in black and white and by people who do not see red. Colours have a contrast of at least 4.5:1 on
 * white.
 */

import type { Cable } from "../model/cable.ts";
import { type Device, hasConflict } from "../model/entity.ts";
import type { Point } from "./layout/adjacency.ts";

export const INK = "#1c2733";
export const MUTED = "#52616f";

export interface Look {
  readonly words: string;
  readonly stroke: string;
  readonly fill: string;
}

export const DEVICE_LOOKS = {
  available: { words: "available", stroke: "#27608f", fill: "#eff6fc" },
  unavailable: { words: "unavailable", stroke: "#b3261e", fill: "#fdf0ef" },
  conflict: { words: "conflicting claims", stroke: "#8a5200", fill: "#fff6e0" },
} as const satisfies Record<string, Look>;
export type DeviceState = keyof typeof DEVICE_LOOKS;

/** Down goes before doubtful: a device that cannot be reached is the more urgent news. */
export function deviceState(device: Device): DeviceState {
  if (!device.available) return "unavailable";
  return hasConflict(device) ? "conflict" : "available";
}

export const LINE_LOOKS = {
  active: { words: "active", stroke: "#4d6273", width: 1.6, dash: "" },
  unverified: { words: "active, not verified", stroke: "#4d6273", width: 1.6, dash: "1 4" },
  inactive: { words: "inactive", stroke: "#b3261e", width: 1.6, dash: "8 5" },
  conflict: { words: "conflicting claims", stroke: "#8a5200", width: 4, dash: "" },
} as const satisfies Record<string, { words: string; stroke: string; width: number; dash: string }>;
export type LineState = keyof typeof LINE_LOOKS;

export function lineState(edge: Cable): LineState {
  if (!edge.active) return "inactive";
  if (edge.conflict) return "conflict";
  return edge.verified ? "active" : "unverified";
}

export const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

/** A tenth of a pixel is finer than anybody sees; more digits are only bytes. */
export const round = (n: number): string => String(Math.round(n * 10) / 10);
export const place = ({ x, y }: Point): string => `${round(x)} ${round(y)}`;
