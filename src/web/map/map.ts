/**
 * The map: a WebGL canvas for devices and lines, a canvas below it for the backgrounds of clusters and one above it for
 * texts. It draws the content that `show` receives and reports clicks, drags and camera moves to its handlers. It does not
 * depend on the state of the page. At a low zoom, a large network is drawn as clusters instead of devices.
 *
 * An update runs in slices and encodes only changed items. Attributes of the element contain numbers for tests:
 * `data-encoded` is the number of items encoded since the start, `data-updates` that of updates, `data-items` that of
 * present items, `data-frames` that of frames, and `data-instances` that of instances in the last frame, which draws only
 * those in view.
 */
import type { Client } from "../../client/client.ts";
import { MAX_DEVICES_WITHOUT_CARDS, MIN_DEVICE_SPACING_PX } from "../../layout/clustered-layout.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { GroupBox } from "../../model/map-view.ts";
import type { LinkOverlay } from "../data/link-overlay.ts";
import { SlicedWork, throttle } from "../data/pacing.ts";
import type { PageNetwork } from "../data/page-network.ts";
import { devicesOf } from "../data/shown-path.ts";
import type { Camera, EntityRef } from "../data/view-state.ts";
import { LayoutClient, type PinnedPositions } from "../layout/layout-client.ts";
import type { FaultCauses } from "../problems/problem-store.ts";
import { type GroupShape, groupShapes } from "./backgrounds.ts";
import { type Bundle, pairName } from "./bundles.ts";
import { CLOSE_UP_SPACING_PX, MapCamera, restoreCamera, saveCamera } from "./camera.ts";
import { ClusterScene } from "./cluster-scene.ts";
import { DeviceScene, type SceneInput } from "./device-scene.ts";
import { type Bounds, boundsOf, containsBounds, cornersOf, type MapPoint, widened } from "./geometry.ts";
import { GlRenderer } from "./gl-renderer.ts";
import type { Highlights } from "./highlights.ts";
import { nextDevice } from "./hit-test.ts";
import { type InteractionHandlers, MapInteraction } from "./interaction.ts";
import { DeviceLabels, HOST_COUNT_SPACING_PX } from "./labels.ts";
import { drawFrame } from "./map-drawing.ts";
import { composePng, createDrawing, type DrawingFacts, type PictureOptions } from "./map-export.ts";
import type { LostCableMark } from "./marks.ts";
import { hasDeviceInView, type InsetArea, insetAreas, type MapOverview } from "./overview.ts";
import { currentPalette, onPaletteChange, PALETTES, type Palette } from "./palette.ts";
import { MAX_DEVICES_IN_VIEW, PortCache } from "./port-cache.ts";
import { measureUncovered } from "./uncovered-space.ts";

/** The smallest spacing at which an entity counts as clearly visible, and at which ports are loaded. */
const MIN_VISIBLE_SPACING_PX = 24;
const PORTS_INTERVAL_MS = 150;

export class NetworkMap {
  readonly ports: PortCache;
  readonly #layers: MapLayers;
  readonly #handlers: MapHandlers;
  readonly #layout: LayoutClient;
  readonly #camera = new MapCamera(() => this.#onCameraMoved());
  readonly #devices = new DeviceScene();
  readonly #clusters = new ClusterScene();
  readonly #deviceLabels = new DeviceLabels();
  readonly #update = new SlicedWork(
    () => this.#updateScene(),
    (error) => this.#onUpdateFailed(error),
  );
  /** Requests one update for the ports of many devices. */
  readonly #updateSoon = throttle(PORTS_INTERVAL_MS, () => this.#update.request());
  #renderer: GlRenderer | undefined;
  #content: MapContent | undefined;
  #input: SceneInput | undefined;
  #groups: readonly GroupShape[] = [];
  #insetAreas: readonly InsetArea[] = [];
  /** The bounds of the drawn devices. */
  #drawnBounds: Bounds = boundsOf([]);
  /** The camera of the address, until the device that it refers to has a position, or the camera moves. */
  #requestedCamera: Camera | undefined;
  #isPlaced = false;
  /** Set while each layout places the camera: until the user moves it or the whole network is laid out. */
  #followsLayout = true;
  readonly #faults = new Map<"layout" | "drawing", string>();
  readonly #interaction: MapInteraction;
  #frame = 0;
  /** The picture that the next update draws, in its own colours. */
  #picture: { readonly palette: Palette; take(): void; cancel(reason: Error): void } | undefined;

  constructor(layers: MapLayers, client: Pick<Client, "ports">, workerUrl: string, handlers: MapHandlers) {
    this.#layers = layers;
    this.#handlers = handlers;
    this.#layout = new LayoutClient(workerUrl, {
      onLayout: () => this.#update.request(),
      onFault: (reason) => this.#setFault("layout", reason),
    });
    this.ports = new PortCache(client, (device) => this.#onPortsLoaded(device));
    this.#interaction = new MapInteraction(layers.graph, this.#camera, handlers, {
      labels: () => this.#deviceLabels.sorted,
      bundles: () => this.#devices.bundles.values(),
      lost: () => this.#devices.lost.items.values(),
      cards: () => (this.#showsClusters ? this.#clusters.cards.values() : undefined),
      titled: () => Array.from(this.#clusters.cards.values(), ({ cluster }) => cluster),
      fitCluster: ({ deviceIds }) => void this.fitDevices(deviceIds),
      requestFrame: () => this.#requestFrame(),
    });
    onPaletteChange(() => this.#update.request());
    new ResizeObserver(() => this.#resize()).observe(layers.element);
  }

  /** Creates the renderer before the network is loaded, so that the first drawing is faster. */
  prepare(): void {
    try {
      this.#renderer ??= new GlRenderer(this.#layers.graph, {
        onRestored: () => this.#requestFrame(),
        onFailed: (reason) => this.#setFault("drawing", reason),
      });
    } catch (error) {
      this.#setFault("drawing", errorMessage(error));
    }
  }

  show(content: MapContent): void {
    const { network, observed, pinned, listedLost } = content;
    // Devices that are only planned get places beside the others, so that the map is the same with a plan and without.
    if (!this.#content && observed) this.#layout.update({ network: observed, pinned, lost: listedLost });
    this.#content = content;
    this.#layout.update({ network, pinned, lost: listedLost });
    this.#update.request();
  }

  /** Draws the numbers of hosts beside devices again, if the zoom shows them. */
  redrawHostCounts(): void {
    if (this.#camera.projection().spacingPx >= HOST_COUNT_SPACING_PX) this.#requestFrame();
  }

  /**
   * Moves the camera only if the devices are not clearly visible. `closeUp` requires the zoom at which hosts are legible.
   * Returns false if none has a position yet.
   */
  bringIntoView(devices: readonly string[], closeUp: boolean): boolean {
    const positions = devices.flatMap((id) => this.#layout.positions.get(id) ?? []);
    if (!this.#isPlaced || positions.length === 0) return false;
    this.#measure();
    const { width, height, x, y, spacingPx } = this.#camera.projection();
    const isVisible = positions.every((position) => {
      const [px, py] = [x(position.x), y(position.y)];
      return px > width * 0.08 && px < width * 0.92 && py > height * 0.1 && py < height * 0.9;
    });
    const minSpacingPx = closeUp ? CLOSE_UP_SPACING_PX * 0.8 : MIN_VISIBLE_SPACING_PX;
    const isLarge = spacingPx >= minSpacingPx;
    if (isVisible && isLarge) return true;
    const fitted = this.#camera.fitted(widened(boundsOf(positions)));
    const { span } = this.#camera.position;
    // Devices that are large enough and only out of view do not change the zoom.
    this.#camera.moveByItself(isLarge && fitted.span < span ? { ...boundsMiddle(positions), span } : fitted);
    return true;
  }

  /** Moves the camera to the devices. Returns false if none has a position yet. */
  fitDevices(devices: Iterable<string>, whole = false): boolean {
    const positions = [...devices].flatMap((id) => this.#layout.positions.get(id) ?? []);
    if (!this.#isPlaced || positions.length === 0) return false;
    this.#measure(whole);
    this.#camera.animateTo(this.#camera.fitted(widened(boundsOf(positions))));
    return true;
  }

  fitAll(): void {
    this.fitDevices(this.#devices.devices.keys(), true);
  }

  /** Moves the centre of the view to a point in map units. */
  centreOn(point: MapPoint): void {
    this.#camera.moveTo({ ...this.#camera.position, ...point });
  }

  zoom(factor: number): void {
    this.#camera.zoomAt(factor, undefined, true);
  }

  /** Moves the map by tenths of the viewport; y points upwards. */
  pan(dx: number, dy: number): void {
    this.#camera.panShare(dx / 10, dy / 10);
  }

  /** The position of a device in map units; y points upwards. Undefined before the device is laid out. */
  positionOf(device: string): MapPoint | undefined {
    return this.#layout.positions.get(device);
  }

  /** The devices of the cluster that a device belongs to. */
  devicesOfSite(device: string): readonly string[] {
    const index = this.#layout.positions.get(device)?.cluster;
    return index === undefined ? [] : (this.#devices.clusters.byIndex.get(index)?.deviceIds ?? []);
  }

  /** Whether the layout is up to date with the network and the pins. */
  get isLaidOut(): boolean {
    return this.#layout.isUpToDate;
  }

  /** The device next to the selected entity in the direction; without a selection, the device nearest to the centre. */
  deviceTowards(selected: EntityRef | undefined, direction: MapPoint): string | undefined {
    const { network } = this.#content ?? {};
    const placed = this.#devices.devices;
    const from = selected && network && devicesOf(network, selected).flatMap((id) => placed.get(id) ?? [])[0];
    if (!from || !network) return this.savedCamera()?.device;
    // From a link or host, the first key moves to its device.
    if (selected.kind !== "devices") return from.device.id;
    const neighbours = new Set(
      network.cablesOf(from.device.id).flatMap(({ from: a, to: b }) => [a.device, b.device]),
    );
    return nextDevice(from, placed.values(), (id) => neighbours.has(id), direction);
  }

  setCamera(camera: Camera): void {
    this.#requestedCamera = camera;
    if (this.#isPlaced) this.#placeCamera();
  }

  /** The camera relative to the device nearest to the centre; undefined before the camera is placed. */
  savedCamera(): Camera | undefined {
    return this.#isPlaced ? saveCamera(this.#camera.reported, this.#devices.devices.values()) : undefined;
  }

  /**
   * Exports the map as it is on the screen, in the colours of a scheme. These are drawn by an update of all entities, and
   * the map returns to its own colours with the next update. A picture that is not drawn yet is given up for the new one.
   */
  exportPng(options: PictureOptions): Promise<Blob> {
    if (!this.#isPlaced || !this.#renderer) return Promise.reject(new Error("the map is not drawn yet"));
    const { promise, resolve, reject } = Promise.withResolvers<Blob>();
    this.#picture?.cancel(new Error("another one was requested"));
    this.#picture = {
      palette: PALETTES[options.scheme],
      take: () => this.#compose(options).then(resolve, reject),
      cancel: reject,
    };
    this.#update.request();
    return promise;
  }

  /** Draws and copies the layers in one task, because a WebGL canvas can be read only in the task in which it was drawn. */
  async #compose(options: PictureOptions): Promise<Blob> {
    if (!this.#renderer?.canDraw) throw new Error("the map cannot be drawn at the moment");
    this.#draw(options.pixelRatio);
    const { background, graph, labels } = this.#layers;
    return composePng([background, graph, labels], options);
  }

  /** Exports the drawn devices of the network in the user's arrangement, with lost links. */
  async exportSvg(network: PageNetwork, facts: DrawingFacts): Promise<Blob> {
    const { devices, lost } = this.#devices;
    const shown = { network, devices, lost: lost.items.values(), groups: this.#groups };
    const drawing = createDrawing(shown, facts);
    return new Blob([await this.#layout.draw(drawing)], { type: "image/svg+xml" });
  }

  *#updateScene(): Generator<void, void> {
    const content = this.#content;
    const { positions, routes } = this.#layout;
    if (!content || (positions.size === 0 && content.network.devices.size > 0)) return;
    this.prepare();
    if (!this.#renderer) return;
    const { network, highlights, expanded, overlay, lost, causes } = content;
    const picture = this.#picture;
    const palette = picture?.palette ?? currentPalette();
    const speedOf = (bundle: Bundle) => this.ports.speedOfBundle(bundle);
    const portName = (device: string, port: string) => this.ports.get(device, port)?.name ?? port;
    const shown = { network, highlights, expanded, overlay, lost, causes };
    const input: SceneInput = { ...shown, positions, routes, palette, speedOf, portName };
    const changes = yield* this.#devices.update(input);
    yield* this.#clusters.update(input, this.#devices.clusters, this.#devices, changes);
    yield* this.#deviceLabels.update(this.#devices, changes, input);
    this.#groups = yield* groupShapes(content.groups, network, positions);
    this.#insetAreas = insetAreas(this.#clusters.cards, this.#devices.devices, this.#insetAreas);
    this.#drawnBounds = boundsOf(Array.from(this.#devices.devices.values(), ({ position }) => position));
    this.#input = input;
    const { dataset } = this.#layers.element;
    dataset.encoded = String(this.#encoded());
    dataset.updates = String(Number(dataset.updates ?? 0) + 1);
    dataset.groups = String(this.#groups.length);
    dataset.items = String(this.#devices.scene.nodes.size + this.#devices.scene.edges.size);
    this.#placeCamera();
    this.#handlers.onUpdated();
    this.#requestFrame();
    // A picture that was requested during this update is drawn by the next one.
    if (!picture || picture !== this.#picture) return;
    this.#picture = undefined;
    picture.take();
    this.#update.request();
  }

  #onUpdateFailed(error: unknown): void {
    const reason = errorMessage(error);
    this.#setFault("drawing", reason);
    if (!this.#picture) return;
    this.#picture.cancel(new Error(reason));
    this.#picture = undefined;
    // What was updated before the error has the colours of the picture.
    this.#update.request();
  }

  #encoded(): number {
    return [this.#devices.scene, this.#clusters.scene].reduce(
      (sum, { nodes, edges }) => sum + nodes.encoded + edges.encoded,
      0,
    );
  }

  /** Places the camera when the map has a size and devices: at the position of the address, or else on the whole network. */
  #placeCamera(): void {
    const space = measureUncovered(this.#layers.element);
    if (!space || this.#devices.devices.size === 0) return;
    this.#camera.resize(space);
    const all = boundsOf([...this.#devices.clusters.byIndex.values()].flatMap(cornersOf));
    this.#camera.setBounds(widened(all));
    const wanted = this.#requestedCamera && restoreCamera(this.#requestedCamera, this.#layout.positions);
    if (!wanted && this.#isPlaced && !this.#followsLayout) return;
    if (!this.#layout.isPartial) {
      // Without a position it stays requested, because its device may be in the network of a moment that is loaded later.
      if (wanted) this.#requestedCamera = undefined;
      this.#followsLayout = false;
    }
    this.#isPlaced = true;
    this.#camera.place(wanted ?? this.#camera.fitted(widened(all)));
    this.#requestFrame();
  }

  /** Measures the map, because a panel may have opened, and the browser reports the new size only with the next frame. */
  #measure(whole = false): void {
    const space = measureUncovered(this.#layers.element, whole);
    if (space && this.#camera.resize(space)) this.#requestFrame();
  }

  #resize(): void {
    const space = measureUncovered(this.#layers.element);
    if (!space) return;
    if (!this.#isPlaced) this.#placeCamera();
    if (this.#camera.resize(space)) this.#draw();
  }

  #onCameraMoved(): void {
    this.#requestedCamera = undefined;
    this.#followsLayout = false;
    this.#requestFrame();
    this.#handlers.onCameraMoved();
  }

  #setFault(part: "layout" | "drawing", reason: string | undefined): void {
    if (reason === undefined) this.#faults.delete(part);
    else this.#faults.set(part, reason);
    const [first] = this.#faults.values();
    this.#handlers.onFault(first);
  }

  #requestFrame(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => this.#draw());
  }

  get #showsClusters(): boolean {
    return (
      this.#clusters.cards.size > 1 &&
      this.#devices.devices.size > MAX_DEVICES_WITHOUT_CARDS &&
      this.#camera.projection().spacingPx < MIN_DEVICE_SPACING_PX
    );
  }

  #draw(pixelRatio?: number): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (!this.#input || !this.#renderer?.canDraw || !this.#isPlaced) return;
    const showsClusters = this.#showsClusters;
    const { instances, lineTexts } = drawFrame(this.#renderer, this.#layers, {
      projection: { ...this.#camera.projection(), ...(pixelRatio !== undefined && { pixelRatio }) },
      input: this.#input,
      devices: this.#devices,
      clusters: this.#clusters,
      showsClusters,
      labels: this.#deviceLabels.sorted,
      hovered: this.#interaction.hoveredNode,
      ports: this.ports,
      groups: this.#groups,
      pinned: this.#content?.pinned,
      choiceBox: this.#interaction.choiceBox,
    });
    const { dataset } = this.#layers.element;
    dataset.detail = showsClusters ? "clusters" : "devices";
    dataset.frames = String(Number(dataset.frames ?? 0) + 1);
    dataset.instances = String(instances);
    dataset.lineTexts = String(lineTexts);
    this.#setFault("drawing", undefined);
    this.#handlers.onDrawn(this.#overview());
  }

  /** Undefined while all drawn devices are in view. */
  #overview(): MapOverview | undefined {
    const { width, height, toMap } = this.#camera.projection();
    const [first, last] = [toMap({ x: 0, y: 0 }), toMap({ x: width, y: height })];
    const view = { left: first.x, right: last.x, bottom: last.y, top: first.y };
    if (containsBounds(view, this.#drawnBounds)) return undefined;
    const isEmpty = !hasDeviceInView(this.#devices, view);
    return { areas: this.#insetAreas, whole: widened(this.#drawnBounds), view, isEmpty };
  }

  /** Loads the ports of the devices in view if these are few. To be called when the camera has stopped. */
  loadPortsInView(): void {
    const { width, height, x, y, spacingPx } = this.#camera.projection();
    const isClose = spacingPx >= MIN_VISIBLE_SPACING_PX && !this.#showsClusters && this.#isPlaced;
    const inView: string[] = [];
    for (const { device, position } of isClose ? this.#devices.devices.values() : []) {
      const [px, py] = [x(position.x), y(position.y)];
      if (px >= 0 && px <= width && py >= 0 && py <= height) inView.push(device.id);
    }
    this.ports.want(inView.length <= MAX_DEVICES_IN_VIEW ? inView : [], this.#content?.at);
  }

  #onPortsLoaded(device: string): void {
    const cables = this.#content?.network.cablesOf(device) ?? [];
    this.#devices.touchBundles(cables.map(({ from, to }) => pairName(from.device, to.device)));
    this.#updateSoon();
  }
}

function boundsMiddle(points: readonly MapPoint[]): MapPoint {
  const { left, right, bottom, top } = boundsOf(points);
  return { x: (left + right) / 2, y: (bottom + top) / 2 };
}

/** The content that the map draws. */
interface MapContent {
  readonly network: PageNetwork;
  /** The network without what is only planned. */
  readonly observed: PageNetwork | undefined;
  readonly highlights: Highlights;
  /** The devices whose hosts are drawn. */
  readonly expanded: ReadonlySet<string>;
  /** The moment of the network; undefined is now. */
  readonly at?: string | undefined;
  readonly overlay?: LinkOverlay | undefined;
  /** The lost links, drawn where they were. */
  readonly lost: readonly LostCableMark[];
  /** The causes of faults, which are marked stronger than what follows from them. */
  readonly causes: FaultCauses;
  /** All lost links that are listed, also those that are not drawn. The layout uses them. */
  readonly listedLost: readonly LostCableMark[];
  /** The positions of pinned devices. */
  readonly pinned: PinnedPositions;
  /** Boxes behind devices. */
  readonly groups: readonly GroupBox[];
}

interface MapHandlers extends InteractionHandlers {
  onCameraMoved(): void;
  /** Called after an update, when devices have positions and the camera is placed. */
  onUpdated(): void;
  /** Called after a frame was drawn, with the place of the view unless all drawn devices are in view. */
  onDrawn(overview: MapOverview | undefined): void;
  /** Called with the reason why the map is not drawn or is out of date, and with undefined when that has ended. */
  onFault(reason: string | undefined): void;
}

/** The elements in which the map draws, from bottom to top; `element` contains the others. */
export interface MapLayers {
  readonly element: HTMLElement;
  readonly background: HTMLCanvasElement;
  readonly graph: HTMLCanvasElement;
  readonly labels: HTMLCanvasElement;
}
