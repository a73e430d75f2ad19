/** What the map is given to draw, where, and whom it tells. */
import type { GroupBox } from "../../model/map-view.ts";
import type { LinkOverlay } from "../data/link-overlay.ts";
import type { Network } from "../data/loaded-network.ts";
import type { Highlights } from "./highlights.ts";
import type { InteractionHandlers } from "./interaction.ts";
import type { PinnedPositions } from "./layout-session.ts";
import type { LostCable } from "./problem-marks.ts";

export interface MapContent {
  readonly network: Network;
  readonly highlights: Highlights;
  /** The devices whose hosts are drawn. */
  readonly expanded: ReadonlySet<string>;
  /** The moment of the network; undefined is now. */
  readonly at?: string | undefined;
  readonly overlay?: LinkOverlay | undefined;
  /** Drawn where they were. They have routes, but the layout does not depend on them. */
  readonly lost: readonly LostCable[];
  /** Devices that stay where they were put. */
  readonly pinned: PinnedPositions;
  /** Boxes behind devices. */
  readonly groups: readonly GroupBox[];
}

export interface MapHandlers extends InteractionHandlers {
  onCameraMoved(): void;
  /** The devices of the content have positions, and the camera its place. */
  onUpdated(): void;
  /** A frame was drawn. */
  onDrawn(): void;
  /** Why the map is not drawn, or not as the network is now; undefined when it is again. */
  onFault(reason: string | undefined): void;
}

/** The elements that the map draws in, from bottom to top; `element` contains the others. */
export interface MapLayers {
  readonly element: HTMLElement;
  readonly background: HTMLCanvasElement;
  readonly graph: HTMLCanvasElement;
  readonly labels: HTMLCanvasElement;
}
