/**
 * Exports the map: as SVG with the user's arrangement of devices and boxes, and as PNG as it is on the screen, with a title,
 * the time, the counts and a legend.
 */
import type { Drawing } from "../../formats/svg.ts";
import type { Topology } from "../../model/entity.ts";
import type { PageNetwork } from "../data/page-network.ts";
import type { GroupShape } from "./backgrounds.ts";
import type { DeviceItem, LostItem } from "./device-scene.ts";
import type { Signs } from "./legend.tsx";
import { PALETTES, type Palette } from "./palette.ts";

/** The counts of the network and its revision, from the service. */
export interface DrawingFacts {
  readonly topology: Topology;
  readonly revision: number;
}

interface ArrangedMap {
  /** The network without entities that are only planned. */
  readonly network: PageNetwork;
  readonly devices: ReadonlyMap<string, DeviceItem>;
  readonly lost: Iterable<LostItem>;
  readonly groups: readonly GroupShape[];
}

/** The drawing of the devices on the map. In the map y points upwards, in a drawing downwards. */
export function createDrawing(map: ArrangedMap, { topology, revision }: DrawingFacts): Drawing {
  const { network, groups } = map;
  const items = [...map.devices.values()].filter(({ device }) => network.devices.has(device.id));
  const ids = new Set(items.map(({ device }) => device.id));
  return {
    topology,
    revision,
    devices: items.map(({ device }) => device),
    cables: [...network.cables.values()].filter(({ from, to }) => ids.has(from.device) && ids.has(to.device)),
    lost: [...map.lost].flatMap(({ lost: { a, b, problem } }) =>
      problem.link && ids.has(a) && ids.has(b)
        ? [{ from: problem.link.src, to: problem.link.dst, isLost: true as const }]
        : [],
    ),
    cutOff: network.cutOff.ids,
    hostCounts: new Map([...ids].map((id) => [id, network.hostCount(id)])),
    places: {
      positions: new Map(
        items.map(({ device, position: { x, y, cluster } }) => [device.id, { x, y: -y, cluster }]),
      ),
      groups: groups.map(({ title, left, right, top, bottom }) => ({
        title,
        left,
        right,
        top: -top,
        bottom: -bottom,
      })),
    },
  };
}

/** The description of a picture of the map: what its head and its legend say, and how it is drawn. */
export interface PictureOptions {
  readonly scheme: "light" | "dark";
  /** The number of pixels for each pixel of the page. */
  readonly pixelRatio: number;
  readonly title: string;
  /** The lines below the title: the counts, and the time of the network. */
  readonly lines: readonly string[];
  readonly signs: Signs;
}

const MARGIN_PX = 20;
const TITLE_PX = 20;
const TEXT_PX = 13;
const LINE_PX = 19;
const SIGN_PX = 22;
const SIGN_COLUMN_PX = 280;
const FONT = 'system-ui, "Segoe UI", sans-serif';

/** Composes a head, the layers of the map as they are drawn, and a legend into one PNG. */
export function composePng(layers: readonly HTMLCanvasElement[], options: PictureOptions): Promise<Blob> {
  const { pixelRatio, title, lines, signs } = options;
  const palette = PALETTES[options.scheme];
  const width = Math.max(...layers.map((layer) => layer.width)) / pixelRatio;
  const height = Math.max(...layers.map((layer) => layer.height)) / pixelRatio;
  const headHeight = MARGIN_PX * 2 + TITLE_PX + lines.length * LINE_PX;
  const columns = Math.max(1, Math.floor((width - MARGIN_PX) / SIGN_COLUMN_PX));
  const rows = Math.ceil(signs.length / columns);
  const wholeHeight = headHeight + height + rows * SIGN_PX + MARGIN_PX * 2;
  const canvas = new OffscreenCanvas(Math.round(width * pixelRatio), Math.round(wholeHeight * pixelRatio));
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no 2D canvas");
  context.scale(pixelRatio, pixelRatio);
  context.fillStyle = palette.background;
  context.fillRect(0, 0, width, wholeHeight);
  context.fillStyle = palette.text;
  context.font = `600 ${TITLE_PX}px ${FONT}`;
  context.fillText(title, MARGIN_PX, MARGIN_PX + TITLE_PX);
  context.font = `${TEXT_PX}px ${FONT}`;
  for (const [i, line] of lines.entries())
    context.fillText(line, MARGIN_PX, MARGIN_PX + TITLE_PX + (i + 1) * LINE_PX);
  for (const layer of layers) if (layer.width > 0) context.drawImage(layer, 0, headHeight, width, height);
  for (const [i, [name, path, kind]] of signs.entries()) {
    const x = MARGIN_PX + (i % columns) * SIGN_COLUMN_PX;
    const y = headHeight + height + MARGIN_PX + Math.floor(i / columns) * SIGN_PX;
    drawSign(context, { x, y }, path, kind, palette);
    context.fillStyle = palette.text;
    context.fillText(name, x + SIGN_PX + 8, y + SIGN_PX / 2 + TEXT_PX / 3);
  }
  return canvas.convertToBlob({ type: "image/png" });
}

/** The colours of the kinds of signs: of the outline and of the area. */
const SIGN_COLOURS: Readonly<Record<string, readonly [keyof Palette, keyof Palette]>> = {
  down: ["down", "downFill"],
  doubt: ["warning", "warningFill"],
  "cut-off": ["warning", "warningFill"],
  missing: ["missing", "background"],
  unplanned: ["unplanned", "unplannedFill"],
  differs: ["differs", "differsFill"],
  value1: ["value1", "value1"],
  value2: ["value2", "value2"],
  value3: ["value3", "value3"],
  value4: ["value4", "value4"],
  value5: ["value5", "value5"],
};
const SIGN_DASHES: Readonly<Record<string, readonly number[]>> = {
  dashed: [5, 3.5],
  "long-dashed": [9, 3],
  "dash-dotted": [8, 2, 2, 2],
  dotted: [0.1, 4.5],
};

/** Draws a sign of the legend, whose path is 24 units wide and high. */
function drawSign(
  context: OffscreenCanvasRenderingContext2D,
  at: { readonly x: number; readonly y: number },
  path: string,
  kind: string,
  palette: Palette,
): void {
  const words = kind.split(" ");
  const isNode = words.includes("node");
  const found = words.flatMap((word) => (SIGN_COLOURS[word] ? [SIGN_COLOURS[word]] : []))[0];
  const [outline, area] = found ?? (isNode ? (["node", "nodeFill"] as const) : (["line", "line"] as const));
  const shape = new Path2D(path);
  context.save();
  context.translate(at.x, at.y);
  context.scale(SIGN_PX / 24, SIGN_PX / 24);
  context.strokeStyle = palette[outline];
  context.fillStyle = palette[area];
  context.lineWidth = words.includes("thick") ? 3 : 1.6;
  if (words.includes("dotted")) context.lineCap = "round";
  context.setLineDash([
    ...(words.flatMap((word) => (SIGN_DASHES[word] ? [SIGN_DASHES[word]] : []))[0] ?? []),
  ]);
  if (isNode || words.includes("arrow")) context.fill(shape);
  context.stroke(shape);
  context.restore();
}
