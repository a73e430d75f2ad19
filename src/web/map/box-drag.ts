/**
 * Draws a box with a drag: the rectangle from where the pointer was pressed to where it is. The map shows it while it
 * grows. A rectangle that is too small is none, so that a click, or a finger that trembles, adds nothing.
 */
import { type Bounds, boundsOf } from "./bounds.ts";
import type { MapCamera } from "./camera.ts";
import type { DragHandlers } from "./pointer.ts";
import type { MapPoint } from "./projection.ts";

/** Of each side. At the closest zoom it is still more than the map unit that a box needs. */
const MIN_SIDE_PX = 12;

interface BoxDragHandlers {
  /** The preview has changed. */
  onPreview(): void;
  onDrawn(bounds: Bounds): void;
}

export class BoxDrag {
  readonly #camera: MapCamera;
  readonly #handlers: BoxDragHandlers;
  #isOn = false;
  /** The first corner. A drag whose corner is another one has been cancelled. */
  #from: MapPoint | undefined;
  #preview: Bounds | undefined;

  constructor(camera: MapCamera, handlers: BoxDragHandlers) {
    this.#camera = camera;
    this.#handlers = handlers;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** In map units, y upwards. Undefined while nothing is drawn. */
  get preview(): Bounds | undefined {
    return this.#preview;
  }

  /** Off also ends the drag that is under way. */
  setOn(isOn: boolean): void {
    this.#isOn = isOn;
    if (!isOn) this.#clear();
  }

  start(pixel: MapPoint): DragHandlers {
    const from = this.#toMap(pixel);
    this.#from = from;
    const isUnderWay = () => this.#from === from;
    return {
      onMove: (to) => {
        if (!isUnderWay()) return;
        this.#preview = boundsOf([from, this.#toMap(to)]);
        this.#handlers.onPreview();
      },
      onEnd: (to) => {
        if (!isUnderWay()) return;
        this.#clear();
        const bounds = boundsOf([from, this.#toMap(to)]);
        if (this.#isLargeEnough(bounds)) this.#handlers.onDrawn(bounds);
      },
      onCancel: () => {
        if (isUnderWay()) this.#clear();
      },
    };
  }

  #isLargeEnough({ left, right, bottom, top }: Bounds): boolean {
    const { scale } = this.#camera.projection();
    return Math.min(right - left, top - bottom) * scale >= MIN_SIDE_PX;
  }

  #toMap(pixel: MapPoint): MapPoint {
    return this.#camera.projection().toMap(pixel);
  }

  #clear(): void {
    this.#from = undefined;
    this.#preview = undefined;
    this.#handlers.onPreview();
  }
}
