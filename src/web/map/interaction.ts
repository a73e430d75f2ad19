/** What the pointer does on the map: it finds what is under it and reports clicks, hovering and dragged devices. */
import type { EntityRef } from "../state.ts";
import type { Bundle } from "./bundles.ts";
import type { MapCamera } from "./camera.ts";
import { bundleAt, nodeAt } from "./hit-test.ts";
import { hostIdOf, isHostNode } from "./host-scene.ts";
import type { Label } from "./label-draw.ts";
import { type DragHandlers, listenToPointers } from "./pointer.ts";
import type { MapPoint } from "./projection.ts";
import type { BundleItem } from "./scene-input.ts";

/** An entity under the pointer, for a line its bundle, and the pixel of the pointer. */
export interface Hovered extends MapPoint {
  readonly ref: EntityRef;
  readonly bundle: Bundle | undefined;
}

export interface InteractionHandlers {
  /** A click; undefined when there is no entity under the pointer. With the bundle of a line. */
  onPick(ref: EntityRef | undefined, bundle: Bundle | undefined): void;
  onDoubleClick(ref: EntityRef): void;
  onHover(hovered: Hovered | undefined): void;
  /** The device is dragged to the point, in map units; `ended` with the last one. Absent: drags move the map. */
  onDeviceDrag?: ((device: string, point: MapPoint, ended: boolean) => void) | undefined;
}

interface MapParts {
  readonly labels: () => readonly Label[];
  readonly bundles: () => Iterable<BundleItem>;
  readonly showsClusters: () => boolean;
  readonly fitCluster: (node: string) => void;
  readonly requestFrame: () => void;
}

interface Hit {
  readonly ref: EntityRef;
  readonly node: string | undefined;
  readonly bundle: Bundle | undefined;
}

export class MapInteraction {
  readonly #canvas: HTMLCanvasElement;
  readonly #camera: MapCamera;
  readonly #handlers: InteractionHandlers;
  readonly #map: MapParts;
  #hovered: Hit | undefined;
  /** Hovering is evaluated once a frame, for the last of its events. */
  #hoverPoint: MapPoint | undefined;
  #hoverFrame = 0;

  constructor(canvas: HTMLCanvasElement, camera: MapCamera, handlers: InteractionHandlers, map: MapParts) {
    this.#canvas = canvas;
    this.#camera = camera;
    this.#handlers = handlers;
    this.#map = map;
    listenToPointers(canvas, {
      onHover: (point) => {
        this.#hoverPoint = point;
        this.#hoverFrame ||= requestAnimationFrame(() => this.#hover());
      },
      onClick: (point) => this.#click(point),
      onDoubleClick: (point) => {
        const node = this.#nodeAt(point);
        if (node !== undefined && !map.showsClusters()) handlers.onDoubleClick(refOf(node));
        return node !== undefined;
      },
      onPan: (dx, dy) => camera.panPixels(dx, dy),
      onZoom: (factor, point) => camera.zoomAt(factor, point),
      onDragStart: (point) => this.#startDrag(point),
    });
  }

  /** Its label is drawn at every zoom. */
  get hoveredNode(): string | undefined {
    return this.#hovered?.node;
  }

  #nodeAt(point: MapPoint): string | undefined {
    return nodeAt(this.#map.labels(), this.#camera.projection(), point);
  }

  #hitAt(point: MapPoint): Hit | undefined {
    const node = this.#nodeAt(point);
    if (node !== undefined) return { ref: refOf(node), node, bundle: undefined };
    const bundle = bundleAt(this.#map.bundles(), this.#camera.projection(), point)?.bundle;
    const link = bundle?.cables[0]?.links[0];
    return link && { ref: { kind: "links", id: link.id }, node: undefined, bundle };
  }

  #click(point: MapPoint): void {
    if (this.#map.showsClusters()) {
      const node = this.#nodeAt(point);
      if (node === undefined) this.#handlers.onPick(undefined, undefined);
      else this.#map.fitCluster(node);
      return;
    }
    const hit = this.#hitAt(point);
    this.#handlers.onPick(hit?.ref, hit?.bundle);
  }

  #hover(): void {
    this.#hoverFrame = 0;
    const point = this.#hoverPoint;
    if (this.#map.showsClusters()) {
      const isOnCard = point !== undefined && this.#nodeAt(point) !== undefined;
      this.#canvas.classList.toggle("pointing", isOnCard);
      if (this.#hovered) this.#handlers.onHover(undefined);
      this.#hovered = undefined;
      return;
    }
    const hit = point && this.#hitAt(point);
    const isSame = hit?.ref.kind === this.#hovered?.ref.kind && hit?.ref.id === this.#hovered?.ref.id;
    const nodeChanged = hit?.node !== this.#hovered?.node;
    this.#hovered = hit;
    if (isSame) return;
    this.#canvas.classList.toggle("pointing", hit !== undefined);
    this.#handlers.onHover(hit && point && { ref: hit.ref, bundle: hit.bundle, x: point.x, y: point.y });
    if (nodeChanged) this.#map.requestFrame();
  }

  #startDrag(point: MapPoint): DragHandlers | undefined {
    const { onDeviceDrag } = this.#handlers;
    const node = onDeviceDrag && !this.#map.showsClusters() ? this.#nodeAt(point) : undefined;
    if (!onDeviceDrag || node === undefined || isHostNode(node)) return undefined;
    const report = (pixel: MapPoint, ended: boolean) =>
      onDeviceDrag.call(this.#handlers, node, this.#camera.projection().toMap(pixel), ended);
    return { onMove: (pixel) => report(pixel, false), onEnd: (pixel) => report(pixel, true) };
  }
}

const refOf = (node: string): EntityRef =>
  isHostNode(node) ? { kind: "hosts", id: hostIdOf(node) } : { kind: "devices", id: node };
