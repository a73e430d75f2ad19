/** Draws one frame of the map: the background, the graph, and the texts above it. */

import type { PinnedPositions } from "../layout/layout-client.ts";
import { drawClusterBackgrounds, drawGroupBoxes, type GroupShape } from "./backgrounds.ts";
import { drawCardTexts } from "./card-texts.ts";
import type { ClusterScene } from "./cluster-scene.ts";
import type { DeviceItem, DeviceScene, SceneInput } from "./device-scene.ts";
import type { Bounds, Projection } from "./geometry.ts";
import type { GlRenderer } from "./gl-renderer.ts";
import { drawLabels, type Label } from "./labels.ts";
import { drawLineLabels } from "./line-labels.ts";
import type { Palette } from "./palette.ts";
import type { PortCache } from "./port-cache.ts";

interface Frame {
  readonly projection: Projection;
  readonly input: SceneInput;
  readonly devices: DeviceScene;
  readonly clusters: ClusterScene;
  readonly showsClusters: boolean;
  readonly labels: readonly Label[];
  readonly hovered: string | undefined;
  readonly ports: PortCache;
  readonly groups: readonly GroupShape[];
  readonly pinned: PinnedPositions | undefined;
  /** The rectangle that the user draws around devices. */
  readonly choiceBox: Bounds | undefined;
}

interface FrameLayers {
  readonly background: HTMLCanvasElement;
  readonly labels: HTMLCanvasElement;
}

/** Returns the numbers of instances and of texts on lines that were drawn. */
export function drawFrame(renderer: GlRenderer, layers: FrameLayers, frame: Frame) {
  const { projection, input, devices, clusters, showsClusters } = frame;
  const { palette, overlay, network } = input;
  const background = contextOf(layers.background, projection, BACKGROUND_CONTEXT);
  background.clearRect(0, 0, projection.width, projection.height);
  // A cluster has a card while one of its devices is visible.
  const visible = showsClusters ? [] : [...clusters.cards.values()].map(({ cluster }) => cluster);
  drawClusterBackgrounds(background, visible, projection, palette);
  drawGroupBoxes(background, frame.groups, projection, palette);
  const instances = renderer.draw(showsClusters ? clusters.scene : devices.scene, projection);
  const context = contextOf(layers.labels, projection);
  if (showsClusters) {
    drawCardTexts(context, clusters.cards.values(), projection, palette);
    drawChoiceBox(context, frame.choiceBox, projection, palette);
    return { instances, lineTexts: 0 };
  }
  const occupied = drawLabels(context, frame.labels, projection, palette, {
    hoveredNodeId: frame.hovered,
    hostCount: (node) => network.hostCount(node),
  });
  drawPinMarks(context, frame.pinned?.keys() ?? [], devices.devices, projection, palette);
  drawChoiceBox(context, frame.choiceBox, projection, palette);
  const lineTexts = drawLineLabels(context, devices.bundles.values(), projection, palette, occupied, {
    overlay,
    port: (device, port) => frame.ports.get(device, port),
  });
  return { instances, lineTexts };
}

/** Makes the CPU draw the background: for its few large areas a software renderer of WebGL takes three times as long. */
const BACKGROUND_CONTEXT: CanvasRenderingContext2DSettings = { willReadFrequently: true };

/** The context of a canvas that has the size of the map. Its unit is a CSS pixel. */
function contextOf(
  canvas: HTMLCanvasElement,
  { width, height, pixelRatio }: Projection,
  settings?: CanvasRenderingContext2DSettings,
): CanvasRenderingContext2D {
  if (canvas.width !== Math.round(width * pixelRatio) || canvas.height !== Math.round(height * pixelRatio)) {
    canvas.width = Math.round(width * pixelRatio);
    canvas.height = Math.round(height * pixelRatio);
  }
  const context = canvas.getContext("2d", settings);
  if (!context) throw new Error("this browser has no 2D canvas");
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
  return context;
}

/** The smallest spacing at which pins are marked. With less, the marks would hide the devices. */
const MIN_SPACING_PX = 20;
const SIZE_PX = 5;

/** Draws a pin at the upper left of each pinned device. */
function drawPinMarks(
  context: CanvasRenderingContext2D,
  pinned: Iterable<string>,
  devices: ReadonlyMap<string, DeviceItem>,
  projection: Projection,
  palette: Palette,
): void {
  const { width, height, spacingPx, radiusPx } = projection;
  if (spacingPx < MIN_SPACING_PX) return;
  context.fillStyle = palette.accent;
  context.strokeStyle = palette.accent;
  context.lineWidth = 1.5;
  for (const id of pinned) {
    const position = devices.get(id)?.position;
    if (!position) continue;
    const x = projection.x(position.x) - radiusPx - SIZE_PX;
    const y = projection.y(position.y) - radiusPx - SIZE_PX;
    if (x < -SIZE_PX || y < -SIZE_PX || x > width + SIZE_PX || y > height + SIZE_PX) continue;
    context.beginPath();
    context.arc(x, y - SIZE_PX / 2, SIZE_PX / 1.6, 0, 2 * Math.PI);
    context.fill();
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x, y + SIZE_PX);
    context.stroke();
  }
}

function drawChoiceBox(
  context: CanvasRenderingContext2D,
  box: Bounds | undefined,
  projection: Projection,
  palette: Palette,
): void {
  if (!box) return;
  const [left, top] = [projection.x(box.left), projection.y(box.top)];
  context.strokeStyle = palette.accent;
  context.lineWidth = 1;
  context.setLineDash([4, 3]);
  context.strokeRect(left, top, projection.x(box.right) - left, projection.y(box.bottom) - top);
  context.setLineDash([]);
}
