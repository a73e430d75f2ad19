/** The sigma renderer with the settings and shaders of this map. Reports pointer and camera events to its handlers. */
import Sigma from "sigma";
import { SPACING } from "../layout/map-layout.ts";
import type { Camera } from "../state.ts";
import { MapEdgeProgram } from "./edge-program.ts";
import type { ViewportPoint } from "./hit-test.ts";
import { MapNodeProgram } from "./node-program.ts";
import { deviceRadiusPx } from "./projection.ts";
import type { RenderGraph } from "./render-graph.ts";

export type Renderer = Sigma;

export interface RendererHandlers {
  /** After each frame. */
  onRendered(): void;
  /** Undefined when the pointer leaves the map. */
  onHover(point: ViewportPoint | undefined): void;
  onClick(point: ViewportPoint): void;
  /** Returns whether there is a node at the point. If not, the renderer zooms in. */
  onDoubleClick(point: ViewportPoint): boolean;
  onCameraMoved(camera: Camera): void;
}

export function createRenderer(
  container: HTMLElement,
  graph: RenderGraph,
  handlers: RendererHandlers,
): Renderer {
  const renderer: Renderer = new Sigma(graph, container, {
    allowInvalidContainer: true,
    defaultNodeType: "device",
    defaultEdgeType: "cable",
    nodeProgramClasses: { device: MapNodeProgram },
    edgeProgramClasses: { cable: MapEdgeProgram },
    renderLabels: false,
    enableCameraRotation: false,
    zIndex: true,
    stagePadding: 24,
    minCameraRatio: 0.004,
    maxCameraRatio: 1.6,
    inertiaDuration: 120,
    zoomToSizeRatioFunction: () => 1,
  });
  // The size of a node is a factor of the radius of a device, which depends on the spacing in pixels.
  renderer.setSetting("zoomToSizeRatioFunction", (ratio) => {
    const { x: left } = renderer.graphToViewport({ x: 0, y: 0 }, cameraWithRatio(ratio));
    const { x: right } = renderer.graphToViewport({ x: SPACING.width, y: 0 }, cameraWithRatio(ratio));
    return 1 / deviceRadiusPx(right - left);
  });
  renderer.on("afterRender", () => handlers.onRendered());
  renderer.getCamera().on("updated", ({ x, y, ratio }) => handlers.onCameraMoved({ x, y, ratio }));
  listenToPointer(renderer, handlers);
  return renderer;
}

const cameraWithRatio = (ratio: number) => ({ cameraState: { x: 0.5, y: 0.5, angle: 0, ratio } });

/** Replaces the listeners of sigma, which render the whole graph again to find the node under the pointer. */
function listenToPointer(renderer: Renderer, handlers: RendererHandlers): void {
  const mouse = renderer.getMouseCaptor();
  mouse.removeAllListeners();
  mouse.on("mousemove", (event) => handlers.onHover(event));
  mouse.on("mouseleave", () => handlers.onHover(undefined));
  mouse.on("click", (event) => handlers.onClick(event));
  mouse.on("doubleClick", (event) => {
    if (handlers.onDoubleClick(event)) event.preventSigmaDefault();
  });
  const touch = renderer.getTouchCaptor();
  touch.removeAllListeners();
  touch.on("tap", ({ touches, previousTouches }) => {
    const point = touches[0] ?? previousTouches[0];
    if (point) handlers.onClick(point);
  });
  touch.on("doubletap", ({ touches, previousTouches, preventSigmaDefault }) => {
    const point = touches[0] ?? previousTouches[0];
    if (point && handlers.onDoubleClick(point)) preventSigmaDefault();
  });
}
