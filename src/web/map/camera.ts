/**
 * The camera of the map. Its position is in map units, so that a new device neither moves nor scales the others. It reports
 * each move. There are no animations for users who prefer reduced motion.
 *
 * When a panel opens, the network stays where it is on the screen; if all of it was in view, the camera moves until it is in
 * view again. When the panel closes, the camera returns, unless the user has moved it meanwhile.
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
import { NAMED_SPACING_PX } from "./labels.ts";
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
  #reported = this.#position;
  #isPlaced = false;
  /** The positions before panels opened, with the space that the map had. */
  #places: { readonly space: UncoveredSpace; readonly position: CameraPosition }[] = [];
  /** The time until which the camera does not move by itself. */
  #stillUntil = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #onMoved: () => void;

  constructor(onMoved: () => void) {
    this.#onMoved = onMoved;
  }

  /**
   * The position for the address: the last one that was reported. The shift that keeps the network in place on the screen
   * when a panel opens is not reported, but a move that follows it is.
   */
  get reported(): CameraPosition {
    return this.#reported;
  }

  get position(): CameraPosition {
    return this.#position;
  }

  projection(): Projection {
    return createProjection(this.#position, this.#space.width, this.#space.height);
  }

  /** Sets the size of the viewport. Returns whether it has changed. */
  resize(space: UncoveredSpace): boolean {
    const previous = this.#space;
    this.#space = space;
    if (space.isSameAs(previous)) return false;
    const { page } = previous;
    const isPanel = page.width === space.page.width && page.height === space.page.height;
    if (this.#isPlaced && isPanel) this.#keepPlace(previous, space);
    // The shorter side of another window keeps its length in map units.
    else this.#places = [];
    return true;
  }

  #report(): void {
    this.#reported = this.#position;
    this.#onMoved();
  }

  /** Keeps the camera from moving by itself, so that a second click meets what the first one has met. */
  holdStill(ms: number): void {
    this.#stillUntil = performance.now() + ms;
  }

  #keepPlace(from: UncoveredSpace, to: UncoveredSpace): void {
    const known = this.#places.findIndex(({ space }) => space.isSameAs(to));
    const place = this.#places[known];
    if (place) {
      this.#places.length = known;
      this.#stop();
      this.#position = place.position;
      this.#report();
      return;
    }
    const { x, y, span } = this.#position;
    this.#places.push({ space: from, position: this.#position });
    const all = this.#bounds;
    const before = createProjection(this.#position, from.width, from.height);
    this.#position = {
      x: x + (to.middle.x - from.middle.x) / before.scale,
      y: y - (to.middle.y - from.middle.y) / before.scale,
      span: (span * Math.min(to.width, to.height)) / Math.min(from.width, from.height),
    };
    if (!all || !isInView(before, all) || isInView(this.projection(), all)) return;
    const fitted = this.fitted(all, before.spacingPx);
    // Names that were drawn stay drawn.
    const named = (Math.min(to.width, to.height) * SPACING.width) / NAMED_SPACING_PX;
    const maxSpan = before.spacingPx < NAMED_SPACING_PX ? fitted.span : named;
    this.moveByItself({ ...fitted, span: Math.min(fitted.span, maxSpan) });
  }

  /** Sets the bounds that limit the farthest zoom. The camera does not move. */
  setBounds(bounds: Bounds): void {
    this.#bounds = bounds;
  }

  moveTo(position: CameraPosition): void {
    this.place(position);
    this.#report();
  }

  /** Moves the camera without forgetting the place before a panel; waits while `holdStill` applies. */
  moveByItself(target: CameraPosition): void {
    this.#stop();
    const waitMs = this.#stillUntil - performance.now();
    if (waitMs <= 0) this.#animate(target);
    else this.#timer = setTimeout(() => this.#animate(target), waitMs);
  }

  /** Moves without calling `onMoved`, because the page knows this position. */
  place(position: CameraPosition): void {
    this.#stop();
    this.#places = [];
    this.#isPlaced = true;
    this.#position = { ...position, span: this.#limitSpan(position.span) };
    this.#reported = this.#position;
  }

  animateTo(target: CameraPosition): void {
    this.#places = [];
    this.moveByItself(target);
  }

  #stop(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
  }

  #animate(target: CameraPosition): void {
    const [from, to] = [this.#position, { ...target, span: this.#limitSpan(target.span) }];
    const start = performance.now();
    const step = (now: number) => {
      const linear = ANIMATION_MS === 0 ? 1 : Math.min(1, Math.max(0, (now - start) / ANIMATION_MS));
      const share = linear * (2 - linear);
      const between = (a: number, b: number) => a + (b - a) * share;
      this.#position = {
        x: between(from.x, to.x),
        y: between(from.y, to.y),
        span: Math.exp(between(Math.log(from.span), Math.log(to.span))),
      };
      if (linear < 1) this.#frame = requestAnimationFrame(step);
      this.#report();
    };
    if (ANIMATION_MS === 0) step(start);
    else this.#frame = requestAnimationFrame(step);
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

function isInView({ width, height, x, y }: Projection, { left, right, bottom, top }: Bounds): boolean {
  return x(left) >= 0 && x(right) <= width && y(top) >= 0 && y(bottom) <= height;
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
