/**
 * The map on the screen: the renderer, what is written over and laid under it, and the hands that move it. It shows
 * what it is told to show and tells what a person points at; what that means is for others to decide.
 */
import { h } from "../dom.ts";
import { SPACING } from "../layout/map-layout.ts";
import type { Network } from "../network.ts";
import type { Camera, EntityRef } from "../state.ts";
import { drawGround } from "./cluster-background.ts";
import { type Block, createBlocks } from "./clusters.ts";
import { composePicture } from "./export-png.ts";
import type { Focus } from "./highlights.ts";
import { lineAt, nodeAt } from "./hit-test.ts";
import { drawNames, type Name } from "./label-draw.ts";
import { namesFar, namesNear } from "./label-select.ts";
import { createLayouter } from "./layout-client.ts";
import { currentPalette, onPaletteChange } from "./palette.ts";
import { type Projection, projectionOf } from "./projection.ts";
import {
  type BlockSummary,
  createDrawing,
  type Drawing,
  farScene,
  hostOfNode,
  isHostNode,
  nearScene,
  reconcile,
} from "./render-graph.ts";
import { createRenderer, type Renderer } from "./renderer.ts";

export interface Shown {
  readonly network: Network;
  readonly focus: Focus;
  readonly expanded: ReadonlySet<string>;
}

export interface MapEvents {
  pick(ref: EntityRef | undefined): void;
  open(ref: EntityRef): void;
  moved(camera: Camera): void;
  /** The first picture is on the screen, or a new one. */
  drawn(): void;
}

export interface NetworkMap {
  readonly element: HTMLElement;
  /** Readies the renderer while the network is still on its way. */
  prepare(): void;
  show(shown: Shown): void;
  /** Moves only when the thing is not comfortably in sight. */
  goTo(ref: EntityRef, closely: boolean): boolean;
  /** False where the devices have no place yet. */
  frame(devices: Iterable<string>): boolean;
  fit(): void;
  zoom(factor: number): void;
  pan(dx: number, dy: number): void;
  setCamera(camera: Camera): void;
  png(): Promise<Blob>;
}

/** Devices closer than this many pixels are drawn as blocks. */
const COLLAPSE_BELOW = 8;
const FEWEST_TO_COLLAPSE = 200;
/** Going somewhere ends at this many pixels between devices. */
const CLOSEST_SPACING = 96;
const ANIMATION = { duration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 260 } as const;

export function createMap(workerUrl: string, events: MapEvents): NetworkMap {
  const ground = h("canvas", { class: "map-layer", "aria-hidden": "true" });
  const stage = h("div", { class: "map-layer map-stage", "aria-hidden": "true" });
  const words = h("canvas", { class: "map-layer map-names", "aria-hidden": "true" });
  const element = h("div", { class: "map" }, ground, stage, words);
  const layouter = createLayouter(workerUrl, () => {
    bounds = undefined;
    draw();
  });
  let renderer: Renderer | undefined;
  let shown: Shown | undefined;
  let wantedCamera: Camera | undefined;
  let bounds: { x: [number, number]; y: [number, number] } | undefined;
  let blocks: Block[] = [];
  let [near, far]: [Drawing, Drawing] = [createDrawing(), createDrawing()];
  let names: readonly Name[] = [];
  let summaries: ReadonlyMap<string, BlockSummary> = new Map();
  let collapsed = false;
  let hovered: string | undefined;

  const pixelsPerUnit = () => projectionOf(start()).spacing;
  const shouldCollapse = () =>
    blocks.length > 1 &&
    (shown?.network.devices.size ?? 0) > FEWEST_TO_COLLAPSE &&
    pixelsPerUnit() < COLLAPSE_BELOW;

  const start = (): Renderer => {
    renderer ??= createRenderer(stage, near, {
      painted: paint,
      hover(at) {
        const node = at && nodeAt(names, projectionOf(start()), at);
        if (node === hovered) return;
        hovered = node;
        stage.classList.toggle("pointing", node !== undefined);
        paint();
      },
      click(at) {
        const projection = projectionOf(start());
        const node = nodeAt(names, projection, at);
        if (node !== undefined) return collapsed ? openBlock(node) : events.pick(refOf(node));
        const line = collapsed ? undefined : lineAt(near, projection, at);
        const link = shown?.network.cables.get(line ?? "")?.links[0];
        events.pick(link && { kind: "links", id: link.id });
      },
      doubleClick(at) {
        const node = nodeAt(names, projectionOf(start()), at);
        if (node !== undefined && !collapsed) events.open(refOf(node));
        return node !== undefined;
      },
      moved(camera) {
        if (shouldCollapse() !== collapsed) draw();
        events.moved(camera);
      },
    });
    return renderer;
  };

  const openBlock = (node: string) => {
    const summary = summaries.get(node);
    if (summary) frameDevices(summary.block.members);
  };

  function draw(): void {
    if (!shown) return;
    const { network, focus, expanded } = shown;
    const { spots } = layouter;
    if (spots.size === 0 && network.devices.size > 0) return;
    const sigma = start();
    blocks = createBlocks(network, spots);
    if (!bounds && blocks.length > 0) {
      bounds = boundsOf(blocks);
      sigma.setCustomBBox(bounds);
      sigma.refresh();
      sigma.getCamera().setState(wantedCamera ?? { x: 0.5, y: 0.5, ratio: 1 });
    }
    const palette = currentPalette();
    const input = { network, spots, focus, palette, expanded };
    collapsed = shouldCollapse();
    if (collapsed) {
      const fitted = (projectionOf(sigma).spacing * sigma.getCamera().ratio) / SPACING.width;
      const scene = farScene(input, blocks, fitted);
      far = reconcile(far, scene);
      summaries = scene.summaries;
      names = namesFar(summaries, far, palette);
    } else {
      near = reconcile(near, nearScene(input));
      names = namesNear(input, near, blocks);
    }
    const drawing = collapsed ? far : near;
    if (sigma.getGraph() !== drawing) sigma.setGraph(drawing);
    element.dataset.detail = collapsed ? "blocks" : "devices";
    paint();
    events.drawn();
  }

  function paint(): void {
    if (!renderer) return;
    const projection = projectionOf(renderer);
    const palette = currentPalette();
    const plates =
      !collapsed && shown
        ? blocks.filter((block) => block.members.some(shown?.focus.isShown ?? (() => true)))
        : [];
    drawGround(contextOf(ground, projection), plates, projection, palette);
    drawNames(contextOf(words, projection), names, projection, palette, hovered);
  }

  function frameDevices(devices: Iterable<string>): boolean {
    const spots = [...devices].flatMap((id) => layouter.spots.get(id) ?? []);
    if (spots.length === 0 || !bounds) return false;
    const sigma = start();
    const at = spots.map((spot) => sigma.viewportToFramedGraph(sigma.graphToViewport(spot)));
    const [left, right] = [Math.min(...at.map((p) => p.x)), Math.max(...at.map((p) => p.x))];
    const [low, high] = [Math.min(...at.map((p) => p.y)), Math.max(...at.map((p) => p.y))];
    const view = sigma.viewRectangle();
    const camera = sigma.getCamera();
    const across = (right - left) / (Math.abs(view.x2 - view.x1) / camera.ratio);
    const upright = (high - low) / (view.height / camera.ratio);
    const closest = (projectionOf(sigma).spacing * camera.ratio) / CLOSEST_SPACING;
    const ratio = Math.max(Math.max(across, upright) * 1.35, closest);
    const target = { x: (left + right) / 2, y: (low + high) / 2, ratio, angle: 0 };
    void sigma.getCamera().animate(target, ANIMATION);
    return true;
  }

  onPaletteChange(() => draw());
  new ResizeObserver(() => {
    renderer?.resize();
    renderer?.refresh();
    if (shown && renderer) draw();
  }).observe(element);

  return {
    element,
    prepare: () => void start(),
    show(next) {
      shown = next;
      layouter.settle(next.network);
      draw();
    },
    goTo(ref, closely) {
      const spots = placesOf(ref, shown?.network).flatMap((id) => layouter.spots.get(id) ?? []);
      if (!renderer || !bounds || spots.length === 0) return false;
      const { width, height, x, y, spacing } = projectionOf(renderer);
      const inSight = spots.every((spot) => {
        const [px, py] = [x(spot.x), y(spot.y)];
        return px > width * 0.08 && px < width * 0.92 && py > height * 0.1 && py < height * 0.9;
      });
      if (inSight && spacing >= (closely ? CLOSEST_SPACING * 0.8 : 24)) return true;
      return frameDevices(placesOf(ref, shown?.network));
    },
    frame: frameDevices,
    fit: () => void start().getCamera().animate({ x: 0.5, y: 0.5, ratio: 1, angle: 0 }, ANIMATION),
    zoom(factor) {
      const camera = start().getCamera();
      void camera.animate({ ratio: camera.getBoundedRatio(camera.ratio * factor) }, ANIMATION);
    },
    pan(dx, dy) {
      const camera = start().getCamera();
      camera.setState({ x: camera.x + dx * camera.ratio * 0.1, y: camera.y + dy * camera.ratio * 0.1 });
    },
    setCamera(camera) {
      wantedCamera = camera;
      renderer?.getCamera().setState(camera);
    },
    async png() {
      // A WebGL canvas is readable only in the turn in which it was drawn.
      start().refresh();
      const drawn = Object.values(start().getCanvases());
      return composePicture([ground, ...drawn, words], currentPalette().ground);
    },
  };
}

const refOf = (node: string): EntityRef =>
  isHostNode(node) ? { kind: "hosts", id: hostOfNode(node) } : { kind: "devices", id: node };

function placesOf({ kind, id }: EntityRef, network: Network | undefined): string[] {
  if (kind === "devices") return [id];
  if (kind === "hosts") return network?.hosts.get(id)?.locations.map((place) => place.elementId) ?? [];
  const link = network?.links.get(id);
  return link ? [link.src.device, link.dst.device] : [];
}

function boundsOf(blocks: readonly Block[]): { x: [number, number]; y: [number, number] } {
  const least = (values: number[]) => values.reduce((p, q) => Math.min(p, q));
  const most = (values: number[]) => values.reduce((p, q) => Math.max(p, q));
  return {
    x: [least(blocks.map((block) => block.left)) - 60, most(blocks.map((block) => block.right)) + 60],
    y: [least(blocks.map((block) => block.bottom)) - 60, most(blocks.map((block) => block.top)) + 60],
  };
}

function contextOf(canvas: HTMLCanvasElement, { width, height }: Projection): CanvasRenderingContext2D {
  const density = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * density) || canvas.height !== Math.round(height * density)) {
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
  }
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no 2D canvas");
  context.setTransform(density, 0, 0, density, 0, 0);
  return context;
}
