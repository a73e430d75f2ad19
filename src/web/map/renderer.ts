/** The WebGL renderer, set up for this map, and what a hand does on it, in plain words. */
import Sigma from "sigma";
import { SPACING } from "../layout/map-layout.ts";
import type { Camera } from "../state.ts";
import { LineProgram } from "./edge-program.ts";
import type { Pointer } from "./hit-test.ts";
import { DeviceProgram } from "./node-program.ts";
import { radiusFor } from "./projection.ts";
import type { Drawing } from "./render-graph.ts";

export type Renderer = Sigma;

export interface Hands {
  painted(): void;
  /** Undefined: the pointer left the map. */
  hover(at: Pointer | undefined): void;
  click(at: Pointer): void;
  /** Answers whether it meant something; otherwise it zooms in. */
  doubleClick(at: Pointer): boolean;
  moved(camera: Camera): void;
}

export function createRenderer(stage: HTMLElement, drawing: Drawing, hands: Hands): Renderer {
  const renderer: Renderer = new Sigma(drawing, stage, {
    allowInvalidContainer: true,
    defaultNodeType: "device",
    defaultEdgeType: "line",
    nodeProgramClasses: { device: DeviceProgram },
    edgeProgramClasses: { line: LineProgram },
    renderLabels: false,
    enableCameraRotation: false,
    zIndex: true,
    stagePadding: 24,
    minCameraRatio: 0.004,
    maxCameraRatio: 1.6,
    inertiaDuration: 120,
    zoomToSizeRatioFunction: () => 1,
  });
  renderer.setSetting("zoomToSizeRatioFunction", (ratio) => {
    const { x: from } = renderer.graphToViewport({ x: 0, y: 0 }, atRatio(ratio));
    const { x: to } = renderer.graphToViewport({ x: SPACING.width, y: 0 }, atRatio(ratio));
    return 1 / radiusFor(to - from);
  });
  renderer.on("afterRender", () => hands.painted());
  renderer.getCamera().on("updated", ({ x, y, ratio }) => hands.moved({ x, y, ratio }));
  watchHands(renderer, hands);
  return renderer;
}

const atRatio = (ratio: number) => ({ cameraState: { x: 0.5, y: 0.5, angle: 0, ratio } });

/** In place of the renderer's own listeners, which look for what is under the pointer in their costly way. */
function watchHands(renderer: Renderer, hands: Hands): void {
  const mouse = renderer.getMouseCaptor();
  mouse.removeAllListeners();
  mouse.on("mousemove", (event) => hands.hover(event));
  mouse.on("mouseleave", () => hands.hover(undefined));
  mouse.on("click", (event) => hands.click(event));
  mouse.on("doubleClick", (event) => {
    if (hands.doubleClick(event)) event.preventSigmaDefault();
  });
  const touch = renderer.getTouchCaptor();
  touch.removeAllListeners();
  touch.on("tap", ({ touches, previousTouches }) => {
    const at = touches[0] ?? previousTouches[0];
    if (at) hands.click(at);
  });
  touch.on("doubletap", ({ touches, previousTouches, preventSigmaDefault }) => {
    const at = touches[0] ?? previousTouches[0];
    if (at && hands.doubleClick(at)) preventSigmaDefault();
  });
}
