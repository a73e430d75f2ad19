/** Exports the map: as SVG with the user's arrangement of devices and boxes, and as PNG as it is on the screen. */
import type { Drawing } from "../../formats/svg.ts";
import type { Topology } from "../../model/entity.ts";
import type { PageNetwork } from "../data/page-network.ts";
import type { GroupShape } from "./backgrounds.ts";
import type { DeviceItem, LostItem } from "./device-scene.ts";

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

/** Composes the layers of the map, as they are on the screen, into one PNG. */
export async function composePng(layers: readonly HTMLCanvasElement[], background: string): Promise<Blob> {
  const width = Math.max(...layers.map((layer) => layer.width));
  const height = Math.max(...layers.map((layer) => layer.height));
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no 2D canvas");
  context.fillStyle = background;
  context.fillRect(0, 0, width, height);
  for (const layer of layers) if (layer.width > 0) context.drawImage(layer, 0, 0, width, height);
  return canvas.convertToBlob({ type: "image/png" });
}
