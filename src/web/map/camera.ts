/**
 * The camera of the map. Its position is in map units, so that a new device neither moves nor scales the others. It reports
 * each move. There are no animations for users who prefer reduced motion.
 */

import { SPACING } from "../../layout/map-layout.ts";
import type { Camera } from "../data/view-state.ts";
import {
  type Bounds,
  type CameraPosition,
  createProjection,
  type MapPoint,
  type Projection,
} from "./geometry.ts";
import { UncoveredSpace } from "./uncovered-space.ts";

/** The spacing at which the camera stops when it fits a single device, and the spacing at the closest zoom. */
export const CLOSE_UP_SPACING_PX = 144;
const MAX_SPACING_PX = 900;
/** The farthest zoom shows an area whose sides are this many times those of the whole map. */
const MAX_ZOOM_OUT = 1.6;
const ANIMATION_MS = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 260;

export class MapCamera {
  #position: CameraPosition = { x: 0, y: 0, span: 1000 };
  #space = new UncoveredSpace({ width: 1, height: 1 }, []);
  #bounds: Bounds | undefined;
  #frame = 0;
  readonly #onMoved: () => void;

  constructor(onMoved: () => void) {
    this.#onMoved = onMoved;
  }

  get position(): CameraPosition {
    return this.#position;
  }

  projection(): Projection {
    return createProjection(this.#position, this.#space.width, this.#space.height);
  }

  /** Sets the size of the viewport. Returns whether it has changed. The shorter side keeps its length in map units. */
  resize(space: UncoveredSpace): boolean {
    const { width, height } = this.#space;
    this.#space = space;
    return space.width !== width || space.height !== height;
  }

  /** Sets the bounds that limit the farthest zoom. The camera does not move. */
  setBounds(bounds: Bounds): void {
    this.#bounds = bounds;
  }

  moveTo(position: CameraPosition): void {
    this.place(position);
    this.#onMoved();
  }

  /** Moves without calling `onMoved`, because the page knows this position. */
  place(position: CameraPosition): void {
    cancelAnimationFrame(this.#frame);
    this.#position = { ...position, span: this.#limitSpan(position.span) };
  }

  animateTo(target: CameraPosition): void {
    cancelAnimationFrame(this.#frame);
    if (ANIMATION_MS === 0) {
      this.moveTo(target);
      return;
    }
    const [from, to] = [this.#position, { ...target, span: this.#limitSpan(target.span) }];
    const start = performance.now();
    const step = (now: number) => {
      const linear = Math.min(1, Math.max(0, (now - start) / ANIMATION_MS));
      const share = linear * (2 - linear);
      const between = (a: number, b: number) => a + (b - a) * share;
      this.#position = {
        x: between(from.x, to.x),
        y: between(from.y, to.y),
        span: Math.exp(between(Math.log(from.span), Math.log(to.span))),
      };
      if (linear < 1) this.#frame = requestAnimationFrame(step);
      this.#onMoved();
    };
    this.#frame = requestAnimationFrame(step);
  }

  /** The camera position that shows the bounds in uncovered space, not closer than for a single device. */
  fitted({ left, right, bottom, top }: Bounds, minSpacingPx = CLOSE_UP_SPACING_PX): CameraPosition {
    const { width, height } = this.#space;
    const size = { width: right - left, height: top - bottom };
    const { area, scale } = this.#space.fit(size, minSpacingPx / SPACING.width);
    return {
      x: (left + right) / 2 - (area.left + area.right - width) / 2 / scale,
      y: (bottom + top) / 2 + (area.top + area.bottom - height) / 2 / scale,
      span: Math.min(width, height) / scale,
    };
  }

  /** Zooms so that the map point at the pixel stays there. */
  zoomAt(
    factor: number,
    pixel: MapPoint = { x: this.#space.width / 2, y: this.#space.height / 2 },
    animate = false,
  ): void {
    const { x, y } = this.projection().toMap(pixel);
    const { span, ...centre } = this.#position;
    const next = this.#limitSpan(span * factor);
    const share = next / span;
    const target = { x: x + (centre.x - x) * share, y: y + (centre.y - y) * share, span: next };
    if (animate) this.animateTo(target);
    else this.moveTo(target);
  }

  panPixels(dx: number, dy: number): void {
    const { scale } = this.projection();
    const { x, y, span } = this.#position;
    this.moveTo({ x: x - dx / scale, y: y + dy / scale, span });
  }

  /** Moves the map by fractions of the viewport; y points upwards. */
  panShare(dx: number, dy: number): void {
    this.panPixels(-dx * this.#space.width, dy * this.#space.height);
  }

  #limitSpan(span: number): number {
    const shorter = Math.min(this.#space.width, this.#space.height);
    const min = (shorter * SPACING.width) / MAX_SPACING_PX;
    const max = this.#bounds ? this.fitted(this.#bounds).span * MAX_ZOOM_OUT : Number.POSITIVE_INFINITY;
    return Math.max(min, Math.min(Math.max(max, min), span));
  }
}

interface Anchor {
  readonly device: { readonly id: string };
  readonly position: MapPoint;
}

/**
 * The camera in the form of the address: relative to the device nearest to the centre, so that it shows the same devices on
 * another screen, in another browser, or after the layout has grown.
 */
export function saveCamera(camera: CameraPosition, anchors: Iterable<Anchor>): Camera | undefined {
  let [nearest, nearestDistance]: [Anchor | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
  for (const anchor of anchors) {
    const distance = (anchor.position.x - camera.x) ** 2 + (anchor.position.y - camera.y) ** 2;
    if (distance < nearestDistance) [nearest, nearestDistance] = [anchor, distance];
  }
  if (!nearest) return undefined;
  const { device, position } = nearest;
  const round = (value: number) => Math.round(value * 100) / 100;
  return {
    device: device.id,
    dx: round(camera.x - position.x),
    dy: round(camera.y - position.y),
    span: round(camera.span),
  };
}

/** The position of a saved camera. Undefined while its device has no position. */
export function restoreCamera(
  { device, dx, dy, span }: Camera,
  positions: ReadonlyMap<string, MapPoint>,
): CameraPosition | undefined {
  const position = positions.get(device);
  return position && { x: position.x + dx, y: position.y + dy, span };
}
