/**
 * The positions of devices and the routes of links, computed by the layout worker. A worker that fails is replaced by a
 * new one after a pause; the positions stay, and the browser keeps them for the next visit too.
 */
import type { Drawing } from "../../formats/svg.ts";
import type { MapPosition } from "./clusters.ts";
import { type Layout, type LayoutInput, type LayoutSession, startLayoutSession } from "./layout-session.ts";

interface LayoutClient {
  /** By device id. Also contains devices that were removed. */
  readonly positions: ReadonlyMap<string, MapPosition>;
  /**
   * By pair of devices that a link or a lost link joins (`pairKey`): a polyline around other devices, flat x and y, from the centre of
   * the device with the lower id to the centre of the other. A straight line has two points.
   */
  readonly routes: ReadonlyMap<string, Float64Array>;
  /** Requests a layout of what the network has and the layout has not. */
  update: LayoutSession["update"];
  /** Whether the positions are those of the last update. */
  isUpToDate: LayoutSession["isUpToDate"];
  /** Whether all devices get another position with the next network: this one is a part of it, or there is none yet. */
  isPartial: LayoutSession["isPartial"];
  /** Draws an SVG document outside the main thread. Rejects when the worker fails. */
  draw(drawing: Drawing): Promise<string>;
}

interface LayoutHandlers {
  /** The layout has changed. */
  onLayout(): void;
  /** Why the worker has failed; undefined when another one works. */
  onFault(reason: string | undefined): void;
}

/** A worker that fails at once, as one whose script cannot be loaded, must not occupy the page. */
const RESTART_MS = 3000;

export function createLayoutClient(workerUrl: string, { onLayout, onFault }: LayoutHandlers): LayoutClient {
  const layout: Layout = { positions: new Map(), routes: new Map() };
  let newest: LayoutInput | undefined;
  const start = () =>
    startLayoutSession(workerUrl, layout, {
      onLayout() {
        onFault(undefined);
        onLayout();
      },
      onFailed(reason) {
        onFault(`the layout failed: ${reason}`);
        setTimeout(restart, RESTART_MS);
      },
    });
  let session = start();
  const restart = () => {
    session = start();
    if (newest) session.update(newest);
  };
  return {
    ...layout,
    update(input) {
      newest = input;
      session.update(input);
    },
    isUpToDate: () => session.isUpToDate(),
    isPartial: () => session.isPartial(),
    draw: (drawing) => session.draw(drawing),
  };
}
