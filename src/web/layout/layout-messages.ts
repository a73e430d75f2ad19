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

/** A part of an update. The worker collects parts until the last one, because a large part blocks the page. */
export interface LayoutRequest {
  readonly added: readonly NumberedNode[];
  readonly removed: readonly number[];
  /** Pairs of numbers of devices, flat. */
  readonly connected: readonly number[];
  readonly disconnected: readonly number[];
  /** Devices whose position is given: number, x and y, flat. Absent when it has not changed. */
  readonly pinned?: readonly number[];
  /** Pairs that have a route and are no part of the layout, flat: those of lost links. Absent when they have not changed. */
  readonly lost?: readonly number[];
  readonly isLast: boolean;
}

/** Starts a layout of its own: without the devices and positions of the requests before. */
export interface LayoutStart {
  /** What the browser kept of an earlier visit, or nothing. */
  readonly start: string;
  /** Whether the positions are to be kept for the next visit. */
  readonly isKept: boolean;
}

/** What the browser is to keep. */
export interface SavedLayout {
  readonly saved: string;
}

export interface LayoutResponse {
  /** The devices with another position than before: their numbers, x and y flat, and clusters. */
  readonly devices: Uint32Array<ArrayBuffer>;
  readonly positions: Float64Array<ArrayBuffer>;
  readonly clusters: Uint32Array<ArrayBuffer>;
  /** The pairs with another route than before: two numbers each, the lower id first. */
  readonly pairs: Uint32Array<ArrayBuffer>;
  /** Where the points of each route begin in `points`, and the end of the last. */
  readonly offsets: Uint32Array<ArrayBuffer>;
  readonly points: Float64Array<ArrayBuffer>;
  /** Whether this is all of the update. */
  readonly isLast: boolean;
}

/** A drawing is no part of the layout. The worker makes it because it takes long and uses the layout's code. */
export interface DrawingRequest {
  readonly drawing: Drawing;
}

export interface DrawingResponse {
  readonly svg: string;
}
