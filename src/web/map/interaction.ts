/** Finds the entity under the pointer and reports clicks, hovering, and what the user drags and chooses while arranging. */
import type { EntityRef } from "../data/view-state.ts";
import { titleAt } from "./backgrounds.ts";
import type { Bundle } from "./bundles.ts";
import type { MapCamera } from "./camera.ts";
import type { ClusterCard } from "./cluster-scene.ts";
import type { BundleItem, LostItem } from "./device-scene.ts";
import { hostIdOf, isHostNode } from "./device-scene.ts";
import { type Bounds, boundsOf, containsBounds, containsPoint, type MapPoint } from "./geometry.ts";
import { areaAt, lineAt, nodeAt } from "./hit-test.ts";
import type { Label } from "./labels.ts";
import type { MapCluster } from "./map-clusters.ts";
import type { LostCableMark } from "./marks.ts";
import { DOUBLE_CLICK_MS, type DragHandlers, listenToPointers } from "./pointer.ts";

/** The entity under the pointer: a device, a host, or a line with its bundle or its lost link. */
interface MapTarget {
  readonly ref: EntityRef;
  readonly bundle?: Bundle;
  readonly lost?: LostCableMark;
}

/** The entity under the pointer, with the position of the pointer in pixels. */
export interface Hovered extends MapPoint, MapTarget {}

export interface InteractionHandlers {
  /** Called on a click; undefined when there is nothing under the pointer. */
  onPick(target: MapTarget | undefined): void;
  onDoubleClick(ref: EntityRef): void;
  onHover(hovered: Hovered | undefined): void;
  /** Present while the user arranges the map. Without it, drags move the map. */
  readonly arrange?: ArrangeHandlers | undefined;
}

export interface ArrangeHandlers {
  /** Called when a drag begins. Returns the function that moves the devices by a distance in map units from their places. */
  startMove(devices: readonly string[]): (distance: MapPoint) => void;
  /** Shift and a click on a device. */
  onToggle(device: string): void;
  /** Shift and a drag around devices. */
  onChoose(devices: readonly string[]): void;
}

interface MapParts {
  readonly labels: () => readonly Label[];
  readonly bundles: () => Iterable<BundleItem>;
  readonly lost: () => Iterable<LostItem>;
  /** The cards that are drawn instead of devices, or undefined. */
  readonly cards: () => Iterable<ClusterCard> | undefined;
  /** The clusters whose titles are drawn behind devices. */
  readonly titled: () => readonly MapCluster[];
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
  #choiceBox: Bounds | undefined;

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
      onClick: (point, withShift) => this.#click(point, withShift),
      onDoubleClick: (point) => {
        if (map.cards()) return this.#cardAt(point) !== undefined;
        const node = this.#nodeAt(point);
        if (node !== undefined) handlers.onDoubleClick(refOf(node));
        return node !== undefined;
      },
      onPan: (dx, dy) => camera.panPixels(dx, dy),
      onZoom: (factor, point) => camera.zoomAt(factor, point),
      onDragStart: (point, withShift) => this.#startDrag(point, withShift),
    });
  }

  /** The node under the pointer, whose label is drawn at every zoom. */
  get hoveredNode(): string | undefined {
    return this.#hovered?.node;
  }

  /** The rectangle that the user draws around devices, in map units. */
  get choiceBox(): Bounds | undefined {
    return this.#choiceBox;
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

  #click(point: MapPoint, withShift: boolean): void {
    const { arrange } = this.#handlers;
    if (arrange && withShift) {
      const node = this.#map.cards() ? undefined : this.#nodeAt(point);
      if (node !== undefined && !isHostNode(node)) arrange.onToggle(node);
      return;
    }
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

  #startDrag(point: MapPoint, withShift: boolean): DragHandlers | undefined {
    const { arrange } = this.#handlers;
    if (!arrange) return undefined;
    if (withShift) return this.#startChoosing(point, arrange);
    const devices = this.#draggedAt(point);
    if (devices.length === 0) return undefined;
    const start = this.#camera.projection().toMap(point);
    let move: ((distance: MapPoint) => void) | undefined;
    let frame = 0;
    const follow = (pixel: MapPoint) => {
      frame = 0;
      move ??= arrange.startMove(devices);
      const { x, y } = this.#camera.projection().toMap(pixel);
      move({ x: x - start.x, y: y - start.y });
    };
    let last = point;
    return {
      // Once per frame, because all devices of a site may move.
      onMove: (pixel) => {
        last = pixel;
        frame ||= requestAnimationFrame(() => follow(last));
      },
      onEnd: (pixel) => {
        cancelAnimationFrame(frame);
        follow(pixel);
      },
      onCancel: () => undefined,
    };
  }

  /** The devices that a drag from the point moves: a device, or those of a site whose title or card is there. */
  #draggedAt(point: MapPoint): readonly string[] {
    if (this.#map.cards()) return this.#cardAt(point)?.cluster.deviceIds ?? [];
    const node = this.#nodeAt(point);
    if (node !== undefined) return isHostNode(node) ? [] : [node];
    return titleAt(this.#map.titled(), this.#camera.projection(), point)?.deviceIds ?? [];
  }

  /** Draws a rectangle from the point to the pointer, and reports the devices in it at the end. */
  #startChoosing(point: MapPoint, arrange: ArrangeHandlers): DragHandlers {
    const { toMap } = this.#camera.projection();
    const draw = (to: MapPoint | undefined) => {
      this.#choiceBox = to && boundsOf([toMap(point), toMap(to)]);
      this.#map.requestFrame();
    };
    return {
      onMove: draw,
      onEnd: (pixel) => {
        const box = boundsOf([toMap(point), toMap(pixel)]);
        draw(undefined);
        arrange.onChoose(this.#devicesIn(box));
      },
      onCancel: () => draw(undefined),
    };
  }

  #devicesIn(box: Bounds): readonly string[] {
    const cards = this.#map.cards();
    if (cards) return [...cards].flatMap((card) => (containsBounds(box, card) ? card.cluster.deviceIds : []));
    return this.#map
      .labels()
      .flatMap(({ nodeId, x, y }) => (!isHostNode(nodeId) && containsPoint(box, { x, y }) ? [nodeId] : []));
  }
}

const refOf = (node: string): EntityRef =>
  isHostNode(node) ? { kind: "hosts", id: hostIdOf(node) } : { kind: "devices", id: node };
