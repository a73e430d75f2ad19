/**
 * How DOT and SVG show the state of devices and cables. States differ in line or shape as well as in colour, so that
 * they can be distinguished in black and white and by people who are colour-blind. All colours have a contrast of at
 * least 4.5:1 on white.
 */

import type { Point } from "../layout/adjacency.ts";
import type { Cable } from "../model/cable.ts";
import { hasConflict } from "../model/conflict.ts";
import type { Device } from "../model/entity.ts";

export const TEXT_COLOUR = "#1c2733";
export const MUTED_TEXT_COLOUR = "#52616f";

export const DEVICE_STYLES = {
  available: { label: "up", stroke: "#27608f", fill: "#eff6fc" },
  unavailable: { label: "down", stroke: "#b3261e", fill: "#fdf0ef" },
  cutOff: { label: "cut off", stroke: "#8a5200", fill: "#fff6e0" },
  conflict: { label: "contradictory reports", stroke: "#8a5200", fill: "#fff6e0" },
} as const;
export type DeviceState = keyof typeof DEVICE_STYLES;

/** The state that is reported. Unavailable has priority over conflict, because it is more urgent. */
export function deviceState(device: Device): Exclude<DeviceState, "cutOff"> {
  if (!device.available) return "unavailable";
  return hasConflict(device) ? "conflict" : "available";
}

export const CABLE_STYLES = {
  active: { label: "up", stroke: "#4d6273", width: 1.6, dash: "" },
  unverified: { label: "up, not verified", stroke: "#4d6273", width: 1.6, dash: "1 4" },
  inactive: { label: "down", stroke: "#b3261e", width: 1.6, dash: "8 5" },
  conflict: { label: "contradictory reports", stroke: "#8a5200", width: 4, dash: "" },
  /** A lost cable is dashed like an inactive one and has a cross in the middle. */
  lost: { label: "lost", stroke: "#b3261e", width: 1.6, dash: "8 5" },
} as const;
export type CableState = keyof typeof CABLE_STYLES;

/** A cable that the network no longer has, drawn where it was. */
export interface LostCable extends Pick<Cable, "from" | "to"> {
  readonly isLost: true;
}

export type DrawnCable = Cable | LostCable;

export function cableState(cable: Cable): Exclude<CableState, "lost"> {
  if (!cable.active) return "inactive";
  if (cable.conflict) return "conflict";
  return cable.verified ? "active" : "unverified";
}

/** A count with its noun in singular or plural: `1 host`, `2 hosts`. */
export const formatCount = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;

/** Rounds to a tenth of a pixel, because more digits are not visible and make the document larger. */
export const formatNumber = (n: number): string => String(Math.round(n * 10) / 10);
export const formatPoint = ({ x, y }: Point): string => `${formatNumber(x)} ${formatNumber(y)}`;
