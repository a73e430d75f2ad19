/**
 * Handles mouse, pen and touch on the map: drags move the map or go to the handlers of `onDragStart`; the wheel and two
 * fingers zoom; a press that does not move is a click. Positions are in pixels of the element.
 */
import type { MapPoint } from "./geometry.ts";

interface PointerHandlers {
  /** Called with the point of the pointer, and with undefined when it leaves the map or is pressed. */
  onHover(point: MapPoint | undefined): void;
  onClick(point: MapPoint, withShift: boolean): void;
  /** Returns whether there is a node at the point. If not, the map zooms in. */
  onDoubleClick(point: MapPoint): boolean;
  onPan(dx: number, dy: number): void;
  onZoom(factor: number, point: MapPoint): void;
  /** Returns the handlers of the drag until the pointer is released, or undefined to move the map. */
  onDragStart(point: MapPoint, withShift: boolean): DragHandlers | undefined;
}

export interface DragHandlers {
  onMove(point: MapPoint): void;
  onEnd(point: MapPoint): void;
  /** Called when another finger touches the map or the browser cancels the pointer. */
  onCancel(): void;
}

/** A press that moves less than this is a click. */
const CLICK_TOLERANCE_PX = 4;
export const DOUBLE_CLICK_MS = 300;
const WHEEL_FACTOR = 1.0016;
const DOUBLE_CLICK_ZOOM = 0.45;

export function listenToPointers(element: HTMLElement, handlers: PointerHandlers): void {
  const pressed = new Map<number, MapPoint>();
  let start: MapPoint | undefined;
  let drag: DragHandlers | undefined;
  let lastClick: (MapPoint & { readonly time: number }) | undefined;

  const pointOf = (event: MouseEvent): MapPoint => {
    const { left, top } = element.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const point = pointOf(event);
    element.setPointerCapture(event.pointerId);
    pressed.set(event.pointerId, point);
    start = pressed.size === 1 ? point : undefined;
    drag?.onCancel();
    drag = start && handlers.onDragStart(start, event.shiftKey);
    handlers.onHover(undefined);
  });

  element.addEventListener("pointermove", (event) => {
    const point = pointOf(event);
    const previous = pressed.get(event.pointerId);
    if (!previous) return handlers.onHover(point);
    if (start && distance(start, point) < CLICK_TOLERANCE_PX) return;
    start = undefined;
    pressed.set(event.pointerId, point);
    if (drag) return drag.onMove(point);
    const other = [...pressed].find(([id]) => id !== event.pointerId)?.[1];
    // With two fingers, the move of each one moves the map by half.
    const share = other ? 0.5 : 1;
    handlers.onPan((point.x - previous.x) * share, (point.y - previous.y) * share);
    if (!other) return;
    const centre = { x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 };
    handlers.onZoom(Math.max(1, distance(previous, other)) / Math.max(1, distance(point, other)), centre);
  });

  const release = (event: PointerEvent): void => {
    if (!pressed.delete(event.pointerId)) return;
    const point = pointOf(event);
    const isCancelled = event.type === "pointercancel";
    const clicked = start !== undefined && !isCancelled;
    start = undefined;
    if (clicked) click(point, event.shiftKey);
    else if (isCancelled) drag?.onCancel();
    else drag?.onEnd(point);
    drag = undefined;
  };
  element.addEventListener("pointerup", release);
  element.addEventListener("pointercancel", release);
  element.addEventListener("pointerleave", () => {
    if (pressed.size === 0) handlers.onHover(undefined);
  });
  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 16 : event.deltaY;
      handlers.onZoom(WHEEL_FACTOR ** Math.max(-400, Math.min(400, pixels)), pointOf(event));
    },
    { passive: false },
  );

  function click(point: MapPoint, withShift: boolean): void {
    const time = performance.now();
    const isDouble =
      !withShift &&
      lastClick &&
      time - lastClick.time < DOUBLE_CLICK_MS &&
      distance(lastClick, point) < CLICK_TOLERANCE_PX * 2;
    lastClick = isDouble ? undefined : { ...point, time };
    if (!isDouble) handlers.onClick(point, withShift);
    else if (!handlers.onDoubleClick(point)) handlers.onZoom(DOUBLE_CLICK_ZOOM, point);
  }
}

const distance = (a: MapPoint, b: MapPoint): number => Math.hypot(a.x - b.x, a.y - b.y);
