/**
 * The messages between the page and the layout worker. The page numbers devices in the order in which it first sees
 * them, and sends only differences. Coordinates are those of the renderer: y is upwards.
 */

import type { Drawing } from "../../formats/svg.ts";
import type { DeviceNode } from "../../layout/cluster-assignment.ts";

export interface NumberedNode {
  readonly number: number;
  readonly node: DeviceNode;
}

/** A part of an update. The page sends several, because a large message blocks it; the worker collects them. */
export interface LayoutRequest {
  readonly added: readonly NumberedNode[];
  readonly removed: readonly number[];
  /** Pairs of device numbers, flat. */
  readonly connected: readonly number[];
  readonly disconnected: readonly number[];
  /** Number, x and y of each pinned device, flat. Absent when nothing has changed. */
  readonly pinned?: readonly number[];
  readonly isLast: boolean;
}

/** Starts a new layout without the devices and positions of earlier requests. */
export interface LayoutStart {
  /** The positions that the browser stored at an earlier visit, or an empty text. */
  readonly start: string;
  /** Whether the positions are to be stored for the next visit. */
  readonly isKept: boolean;
}

/** The positions that the browser is to store. */
export interface SavedLayout {
  readonly saved: string;
}

export interface LayoutResponse {
  /** The devices whose position changed: their numbers, x and y flat, and clusters. */
  readonly devices: Uint32Array<ArrayBuffer>;
  readonly positions: Float64Array<ArrayBuffer>;
  readonly clusters: Uint32Array<ArrayBuffer>;
  /** The pairs whose route changed: two device numbers each, the device with the lower id first. */
  readonly pairs: Uint32Array<ArrayBuffer>;
  /** The index in `points` at which each route begins, and the end of the last one. */
  readonly offsets: Uint32Array<ArrayBuffer>;
  readonly points: Float64Array<ArrayBuffer>;
  /** Whether this is the last part of the update. */
  readonly isLast: boolean;
}

/** Requests an SVG drawing. The worker makes it, because it takes long and uses the code of the layout. */
export interface DrawingRequest {
  readonly drawing: Drawing;
}

export interface DrawingResponse {
  readonly svg: string;
}
