/** What the scenes of the map are computed from, and what they keep of each device and bundle that is drawn. */
import type { Device } from "../../model/entity.ts";
import type { LinkOverlay } from "../data/link-overlay.ts";
import type { Network } from "../data/loaded-network.ts";
import type { Bundle } from "./bundles.ts";
import type { MapPosition } from "./clusters.ts";
import type { Highlights } from "./highlights.ts";
import type { Palette } from "./palette.ts";
import type { LostCable } from "./problem-marks.ts";
import type { Routes } from "./routes.ts";
import type { Emphasis } from "./style.ts";

export interface SceneInput {
  readonly network: Network;
  readonly positions: ReadonlyMap<string, MapPosition>;
  readonly routes: Routes;
  readonly highlights: Highlights;
  readonly palette: Palette;
  /** The devices whose hosts are drawn. */
  readonly expanded: ReadonlySet<string>;
  readonly overlay: LinkOverlay | undefined;
  readonly lost: readonly LostCable[];
  /** The speed of a bundle in Mb/s; 0 when it is not known. */
  readonly speedOf: (bundle: Bundle) => number;
}

export interface DeviceItem {
  readonly device: Device;
  readonly position: MapPosition;
  readonly emphasis: Emphasis;
}

export interface BundleItem {
  readonly bundle: Bundle;
  readonly route: Float64Array | undefined;
  readonly ends: readonly [MapPosition, MapPosition];
  /** x and y of the corners of the line, flat, from `bundle.a` to `bundle.b`. */
  readonly points: Float64Array;
  readonly emphasis: Emphasis;
  readonly color: string;
}
