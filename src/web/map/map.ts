/**
 * The map: a WebGL graph with a canvas below it for the cluster backgrounds and one above it for the labels. It draws
 * what `show` passes in and reports clicks and camera moves to its handlers. It does not know the state of the page.
 * At a low zoom, a large network is drawn as clusters instead of devices.
 */
import { maxOf, minOf } from "../../formats/layout/adjacency.ts";
import { SPACING } from "../layout/map-layout.ts";
import type { Network } from "../network.ts";
import type { LinkOverlay } from "../overlay.ts";
import { devicesOf } from "../path.ts";
import type { Camera, EntityRef } from "../state.ts";
import { drawClusterBackgrounds } from "./cluster-background.ts";
import { type ClusterSummary, clusterGraphContent } from "./cluster-graph.ts";
import { type Cluster, createClusters } from "./clusters.ts";
import { deviceGraphContent, hostIdOf, isHostNode } from "./device-graph.ts";
import { composePng } from "./export-png.ts";
import type { Highlights } from "./highlights.ts";
import { edgeAt, nodeAt } from "./hit-test.ts";
import { drawLabels, type Label } from "./label-draw.ts";
import { clusterLabels, deviceLabels } from "./label-select.ts";
import { createLayoutClient } from "./layout-client.ts";
import { currentPalette, onPaletteChange } from "./palette.ts";
import { type Projection, projectionOf } from "./projection.ts";
import { createRenderGraph, type RenderGraph, updateGraph } from "./render-graph.ts";
import { createRenderer, type Renderer } from "./renderer.ts";

export interface MapContent {
  readonly network: Network;
  readonly highlights: Highlights;
  /** The devices whose hosts are drawn. */
  readonly expanded: ReadonlySet<string>;
  /** The values of a metric on links. */
  readonly overlay?: LinkOverlay | undefined;
}

export interface MapHandlers {
  /** A click; undefined when there is no entity under the pointer. */
  onPick(ref: EntityRef | undefined): void;
  onDoubleClick(ref: EntityRef): void;
  onCameraMoved(camera: Camera): void;
  /** The content was drawn, for the first time or again. */
  onDrawn(): void;
}

/** The elements that the map draws in, from bottom to top; `element` contains the others. */
export interface MapLayers {
  readonly element: HTMLElement;
  readonly background: HTMLCanvasElement;
  readonly graph: HTMLElement;
  readonly labels: HTMLCanvasElement;
}

export interface NetworkMap {
  /** Creates the renderer before the network is loaded, so that the first drawing is faster. */
  prepare(): void;
  show(content: MapContent): void;
  /**
   * Moves the camera only if the entity is not clearly visible. `closeUp` requires the zoom at which hosts are legible.
   * Returns false if the entity has no position yet.
   */
  bringIntoView(ref: EntityRef, closeUp: boolean): boolean;
  /** Returns false if the devices have no position yet. */
  fitDevices(devices: Iterable<string>): boolean;
  fitAll(): void;
  zoom(factor: number): void;
  /** In tenths of the visible part. */
  pan(dx: number, dy: number): void;
  setCamera(camera: Camera): void;
  exportPng(): Promise<Blob>;
}

/** With fewer pixels between devices, clusters are drawn instead. */
const MIN_DEVICE_SPACING_PX = 8;
/** A network with at most this many devices is always drawn as devices. */
const MAX_DEVICES_WITHOUT_CLUSTERS = 200;
/** The spacing at which the camera stops when it moves to a single device. */
const CLOSE_UP_SPACING_PX = 96;
/** The smallest spacing at which an entity counts as clearly visible. */
const MIN_VISIBLE_SPACING_PX = 24;
/** The space around the fitted devices, as a factor of their extent. */
const FIT_MARGIN = 1.35;
/** The space between the outermost clusters and the edge of the map, in map units. */
const BOUNDS_MARGIN = 60;
const ANIMATION = { duration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 260 } as const;

interface Bounds {
  readonly x: [number, number];
  readonly y: [number, number];
}

export function createMap(layers: MapLayers, workerUrl: string, handlers: MapHandlers): NetworkMap {
  const { element } = layers;
  const layout = createLayoutClient(workerUrl, () => {
    bounds = undefined;
    draw();
  });
  let renderer: Renderer | undefined;
  let content: MapContent | undefined;
  let requestedCamera: Camera | undefined;
  let bounds: Bounds | undefined;
  let clusters: Cluster[] = [];
  let [deviceGraph, clusterGraph]: [RenderGraph, RenderGraph] = [createRenderGraph(), createRenderGraph()];
  let labels: readonly Label[] = [];
  let summaries: ReadonlyMap<string, ClusterSummary> = new Map();
  let showsClusters = false;
  let hovered: string | undefined;

  const shouldShowClusters = () =>
    clusters.length > 1 &&
    (content?.network.devices.size ?? 0) > MAX_DEVICES_WITHOUT_CLUSTERS &&
    projectionOf(getRenderer()).spacingPx < MIN_DEVICE_SPACING_PX;

  const getRenderer = (): Renderer => {
    renderer ??= createRenderer(layers.graph, deviceGraph, {
      onRendered: drawCanvases,
      onHover(point) {
        const node = point && nodeAt(labels, projectionOf(getRenderer()), point);
        if (node === hovered) return;
        hovered = node;
        layers.graph.classList.toggle("pointing", node !== undefined);
        drawCanvases();
      },
      onClick(point) {
        const projection = projectionOf(getRenderer());
        const node = nodeAt(labels, projection, point);
        if (node !== undefined) return showsClusters ? fitCluster(node) : handlers.onPick(refOf(node));
        const edge = showsClusters ? undefined : edgeAt(deviceGraph, projection, point);
        const link = content?.network.cables.get(edge ?? "")?.links[0];
        handlers.onPick(link && { kind: "links", id: link.id });
      },
      onDoubleClick(point) {
        const node = nodeAt(labels, projectionOf(getRenderer()), point);
        if (node !== undefined && !showsClusters) handlers.onDoubleClick(refOf(node));
        return node !== undefined;
      },
      onCameraMoved(camera) {
        if (shouldShowClusters() !== showsClusters) draw();
        handlers.onCameraMoved(camera);
      },
    });
    return renderer;
  };

  const fitCluster = (node: string) => {
    const summary = summaries.get(node);
    if (summary) fitDevices(summary.cluster.deviceIds);
  };

  function draw(): void {
    if (!content) return;
    const { network, highlights, expanded } = content;
    const { positions } = layout;
    if (positions.size === 0 && network.devices.size > 0) return;
    const sigma = getRenderer();
    clusters = createClusters(network, positions);
    if (!bounds && clusters.length > 0) {
      bounds = boundsOf(clusters);
      sigma.setCustomBBox(bounds);
      sigma.refresh();
      sigma.getCamera().setState(requestedCamera ?? { x: 0.5, y: 0.5, ratio: 1 });
    }
    const palette = currentPalette();
    const input = { network, positions, highlights, palette, expanded };
    showsClusters = shouldShowClusters();
    if (showsClusters) {
      // At the zoom that shows the whole network, so that the sizes do not depend on the camera.
      const pixelsPerUnit = (projectionOf(sigma).spacingPx * sigma.getCamera().ratio) / SPACING.width;
      const graphContent = clusterGraphContent(input, clusters, pixelsPerUnit);
      clusterGraph = updateGraph(clusterGraph, graphContent);
      summaries = graphContent.summaries;
      labels = clusterLabels(summaries, clusterGraph, palette, highlights.markWord);
    } else {
      deviceGraph = updateGraph(deviceGraph, deviceGraphContent(input));
      labels = deviceLabels(input, deviceGraph, clusters);
    }
    const graph = showsClusters ? clusterGraph : deviceGraph;
    if (sigma.getGraph() !== graph) sigma.setGraph(graph);
    element.dataset.detail = showsClusters ? "clusters" : "devices";
    drawCanvases();
    handlers.onDrawn();
  }

  /** Draws the canvases below and above the graph. */
  function drawCanvases(): void {
    if (!renderer) return;
    const projection = projectionOf(renderer);
    const palette = currentPalette();
    const visibleClusters =
      !showsClusters && content
        ? clusters.filter(({ deviceIds }) => deviceIds.some(content?.highlights.isVisible ?? (() => true)))
        : [];
    drawClusterBackgrounds(contextOf(layers.background, projection), visibleClusters, projection, palette);
    drawLabels(contextOf(layers.labels, projection), labels, projection, palette, hovered);
  }

  function fitDevices(devices: Iterable<string>): boolean {
    const positions = [...devices].flatMap((id) => layout.positions.get(id) ?? []);
    if (positions.length === 0 || !bounds) return false;
    const sigma = getRenderer();
    const points = positions.map((position) => sigma.viewportToFramedGraph(sigma.graphToViewport(position)));
    const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
    const [left, right, bottom, top] = [minOf(xs), maxOf(xs), minOf(ys), maxOf(ys)];
    const view = sigma.viewRectangle();
    const camera = sigma.getCamera();
    const ratioX = (right - left) / (Math.abs(view.x2 - view.x1) / camera.ratio);
    const ratioY = (top - bottom) / (view.height / camera.ratio);
    const minRatio = (projectionOf(sigma).spacingPx * camera.ratio) / CLOSE_UP_SPACING_PX;
    const ratio = Math.max(Math.max(ratioX, ratioY) * FIT_MARGIN, minRatio);
    const target = { x: (left + right) / 2, y: (bottom + top) / 2, ratio, angle: 0 };
    void sigma.getCamera().animate(target, ANIMATION);
    return true;
  }

  onPaletteChange(() => draw());
  new ResizeObserver(() => {
    renderer?.resize();
    renderer?.refresh();
    if (content && renderer) draw();
  }).observe(element);

  return {
    prepare: () => void getRenderer(),
    show(next) {
      content = next;
      layout.update(next.network);
      draw();
    },
    bringIntoView(ref, closeUp) {
      const devices = content ? devicesOf(content.network, ref) : [];
      const positions = devices.flatMap((id) => layout.positions.get(id) ?? []);
      if (!renderer || !bounds || positions.length === 0) return false;
      const { width, height, x, y, spacingPx } = projectionOf(renderer);
      const isVisible = positions.every((position) => {
        const [px, py] = [x(position.x), y(position.y)];
        return px > width * 0.08 && px < width * 0.92 && py > height * 0.1 && py < height * 0.9;
      });
      const minSpacingPx = closeUp ? CLOSE_UP_SPACING_PX * 0.8 : MIN_VISIBLE_SPACING_PX;
      if (isVisible && spacingPx >= minSpacingPx) return true;
      return fitDevices(devices);
    },
    fitDevices,
    fitAll: () => void getRenderer().getCamera().animate({ x: 0.5, y: 0.5, ratio: 1, angle: 0 }, ANIMATION),
    zoom(factor) {
      const camera = getRenderer().getCamera();
      void camera.animate({ ratio: camera.getBoundedRatio(camera.ratio * factor) }, ANIMATION);
    },
    pan(dx, dy) {
      const camera = getRenderer().getCamera();
      camera.setState({ x: camera.x + dx * camera.ratio * 0.1, y: camera.y + dy * camera.ratio * 0.1 });
    },
    setCamera(camera) {
      requestedCamera = camera;
      renderer?.getCamera().setState(camera);
    },
    async exportPng() {
      // A WebGL canvas can be read only in the same task in which it was drawn.
      getRenderer().refresh();
      const graphCanvases = Object.values(getRenderer().getCanvases());
      return composePng([layers.background, ...graphCanvases, layers.labels], currentPalette().background);
    },
  };
}

const refOf = (node: string): EntityRef =>
  isHostNode(node) ? { kind: "hosts", id: hostIdOf(node) } : { kind: "devices", id: node };

function boundsOf(clusters: readonly Cluster[]): Bounds {
  const left = minOf(clusters.map((cluster) => cluster.left));
  const right = maxOf(clusters.map((cluster) => cluster.right));
  const bottom = minOf(clusters.map((cluster) => cluster.bottom));
  const top = maxOf(clusters.map((cluster) => cluster.top));
  return {
    x: [left - BOUNDS_MARGIN, right + BOUNDS_MARGIN],
    y: [bottom - BOUNDS_MARGIN, top + BOUNDS_MARGIN],
  };
}

/** The context of a canvas that has the size of the map. Its unit is a CSS pixel. */
function contextOf(canvas: HTMLCanvasElement, { width, height }: Projection): CanvasRenderingContext2D {
  const pixelRatio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * pixelRatio) || canvas.height !== Math.round(height * pixelRatio)) {
    canvas.width = Math.round(width * pixelRatio);
    canvas.height = Math.round(height * pixelRatio);
  }
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no 2D canvas");
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
  return context;
}
