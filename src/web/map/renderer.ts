/** The WebGL renderer, set up for this map, and what a hand does on it, in plain words. */
import Sigma from "sigma";
import { SPACING } from "../layout/arrange.ts";
import type { Camera } from "../state.ts";
import { LineProgram } from "./line-program.ts";
import { DeviceProgram } from "./node-program.ts";
import { radiusFor } from "./projection.ts";
import type { Drawing } from "./scene.ts";

export type Renderer = Sigma;

export interface Hands {
  painted(): void;
  hover(node: string | undefined): void;
  clickNode(node: string): void;
  doubleClickNode(node: string): void;
  clickLine(line: string): void;
  clickNothing(): void;
  moved(camera: Camera): void;
}

export function createRenderer(stage: HTMLElement, drawing: Drawing, hands: Hands): Renderer {
  const renderer: Renderer = new Sigma(drawing, stage, {
    allowInvalidContainer: true,
    autoRescale: true,
    defaultNodeType: "device",
    defaultEdgeType: "line",
    nodeProgramClasses: { device: DeviceProgram },
    edgeProgramClasses: { line: LineProgram },
    renderLabels: false,
    // What hovering looks like is drawn with the names.
    defaultDrawNodeHover: () => {},
    enableEdgeEvents: true,
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
    const { x: to } = renderer.graphToViewport({ x: SPACING.x, y: 0 }, atRatio(ratio));
    return 1 / radiusFor(to - from);
  });
  renderer.on("afterRender", () => hands.painted());
  renderer.on("enterNode", ({ node }) => hands.hover(node));
  renderer.on("leaveNode", () => hands.hover(undefined));
  renderer.on("clickNode", ({ node }) => hands.clickNode(node));
  renderer.on("doubleClickNode", ({ node, preventSigmaDefault }) => {
    preventSigmaDefault();
    hands.doubleClickNode(node);
  });
  renderer.on("clickEdge", ({ edge }) => hands.clickLine(edge));
  renderer.on("clickStage", () => hands.clickNothing());
  renderer.getCamera().on("updated", ({ x, y, ratio }) => hands.moved({ x, y, ratio }));
  return renderer;
}

const atRatio = (ratio: number) => ({ cameraState: { x: 0.5, y: 0.5, angle: 0, ratio } });
