/** Finds the entity under the pointer and reports clicks, hovering and drags of devices. */
import type { EntityRef } from "../data/view-state.ts";
import type { Bundle } from "./bundles.ts";
import type { MapCamera } from "./camera.ts";
import type { ClusterCard } from "./cluster-scene.ts";
import type { BundleItem, LostItem } from "./device-scene.ts";
import { hostIdOf, isHostNode } from "./device-scene.ts";
import type { MapPoint } from "./geometry.ts";
import { areaAt, lineAt, nodeAt } from "./hit-test.ts";
import type { Label } from "./labels.ts";
import type { MapCluster } from "./map-clusters.ts";
import type { CutCable } from "./marks.ts";
import { DOUBLE_CLICK_MS, type DragHandlers, listenToPointers } from "./pointer.ts";

/** The entity under the pointer: a device, a host, or a line with its bundle or its lost link. */
interface MapTarget {
  readonly ref: EntityRef;
  readonly bundle?: Bundle;
  readonly lost?: CutCable;
}

/** The entity under the pointer, with the position of the pointer in pixels. */
export interface Hovered extends MapPoint, MapTarget {}

export interface InteractionHandlers {
  /** Called on a click; undefined when there is nothing under the pointer. */
  onPick(target: MapTarget | undefined): void;
  onDoubleClick(ref: EntityRef): void;
  onHover(hovered: Hovered | undefined): void;
  /** Called with each point of a drag, in map units; `ended` is set for the last one. Without it, drags move the map. */
  onDeviceDrag?: ((device: string, point: MapPoint, ended: boolean) => void) | undefined;
}

interface MapParts {
  readonly labels: () => readonly Label[];
  readonly bundles: () => Iterable<BundleItem>;
  readonly lost: () => Iterable<LostItem>;
  /** The cards that are drawn instead of devices, or undefined. */
  readonly cards: () => Iterable<ClusterCard> | undefined;
  readonly fitCluster: (cluster: MapCluster) => void;
  readonly requestFrame: () => void;
}

interface Hit {
  readonly target: MapTarget;
  readonly node?: string;
}

export class MapInteraction {
  readonly #canvas: HTMLCanvasElement;
  readonly #camera: MapCamera;
  readonly #handlers: InteractionHandlers;
  readonly #map: MapParts;
  #hovered: Hit | undefined;
  /** The point of the last pointer event. Hovering is evaluated once per frame. */
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
        if (map.cards()) return this.#cardAt(point) !== undefined;
        const node = this.#nodeAt(point);
        if (node !== undefined) handlers.onDoubleClick(refOf(node));
        return node !== undefined;
      },
      onPan: (dx, dy) => camera.panPixels(dx, dy),
      onZoom: (factor, point) => camera.zoomAt(factor, point),
      onDragStart: (point) => this.#startDrag(point),
    });
  }

  /** The node under the pointer, whose label is drawn at every zoom. */
  get hoveredNode(): string | undefined {
    return this.#hovered?.node;
  }

  #nodeAt(point: MapPoint): string | undefined {
    return nodeAt(this.#map.labels(), this.#camera.projection(), point);
  }

  #cardAt(point: MapPoint): ClusterCard | undefined {
    return areaAt(this.#map.cards() ?? [], this.#camera.projection(), point);
  }

  #hitAt(point: MapPoint): Hit | undefined {
    const node = this.#nodeAt(point);
    if (node !== undefined) return { target: { ref: refOf(node) }, node };
    const projection = this.#camera.projection();
    // A lost link is drawn above the bundle between the same devices.
    const lost = lineAt(this.#map.lost(), projection, point)?.lost;
    if (lost) return { target: { ref: { kind: "links", id: lost.id }, lost } };
    const bundle = lineAt(this.#map.bundles(), projection, point)?.bundle;
    const link = bundle?.cables[0]?.links[0];
    return link && { target: { ref: { kind: "links", id: link.id }, bundle } };
  }

  #click(point: MapPoint): void {
    this.#camera.holdStill(DOUBLE_CLICK_MS);
    if (this.#map.cards()) {
      const card = this.#cardAt(point);
      if (card) this.#map.fitCluster(card.cluster);
      else this.#handlers.onPick(undefined);
      return;
    }
    this.#handlers.onPick(this.#hitAt(point)?.target);
  }

  #hover(): void {
    this.#hoverFrame = 0;
    const point = this.#hoverPoint;
    if (this.#map.cards()) {
      const isOnCard = point !== undefined && this.#cardAt(point) !== undefined;
      this.#canvas.classList.toggle("pointing", isOnCard);
      if (this.#hovered) this.#handlers.onHover(undefined);
      this.#hovered = undefined;
      return;
    }
    const hit = point && this.#hitAt(point);
    const [next, previous] = [hit?.target.ref, this.#hovered?.target.ref];
    const isSame = next?.kind === previous?.kind && next?.id === previous?.id;
    const nodeChanged = hit?.node !== this.#hovered?.node;
    this.#hovered = hit;
    if (isSame) return;
    this.#canvas.classList.toggle("pointing", hit !== undefined);
    this.#handlers.onHover(hit && point && { ...hit.target, x: point.x, y: point.y });
    if (nodeChanged) this.#map.requestFrame();
  }

  #startDrag(point: MapPoint): DragHandlers | undefined {
    const { onDeviceDrag } = this.#handlers;
    const node = onDeviceDrag && !this.#map.cards() ? this.#nodeAt(point) : undefined;
    if (!onDeviceDrag || node === undefined || isHostNode(node)) return undefined;
    const report = (pixel: MapPoint, ended: boolean) =>
      onDeviceDrag.call(this.#handlers, node, this.#camera.projection().toMap(pixel), ended);
    let last: MapPoint | undefined;
    return {
      onMove(pixel) {
        last = pixel;
        report(pixel, false);
      },
      onEnd: (pixel) => report(pixel, true),
      onCancel: () => last && report(last, true),
    };
  }
}

const refOf = (node: string): EntityRef =>
  isHostNode(node) ? { kind: "hosts", id: hostIdOf(node) } : { kind: "devices", id: node };
