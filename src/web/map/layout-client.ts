/**
 * Requests positions from the layout worker when the network has devices without one. At most one request is in flight;
 * the next one uses the newest network. A change of links alone moves no device.
 */
import { namedLayer } from "../../formats/layout/layer-names.ts";
import type { Device } from "../../model/entity.ts";
import type { LayoutRequest, LayoutResponse, MapNode } from "../layout/messages.ts";
import type { Network } from "../network.ts";
import type { MapPosition } from "./clusters.ts";

export interface LayoutClient {
  /** By device id. Also contains devices that were removed. */
  readonly positions: ReadonlyMap<string, MapPosition>;
  /** By pair of devices that a link joins: x and y of the corners of the line, flat. Straight lines have none. */
  readonly routes: ReadonlyMap<string, Float64Array>;
  /** Requests a layout if a device of the network has no position. */
  update(network: Network): void;
}

export function createLayoutClient(workerUrl: string, onLayout: () => void): LayoutClient {
  const worker = new Worker(workerUrl, { type: "module" });
  const positions = new Map<string, MapPosition>();
  let sequence = 0;
  let nodesInFlight: readonly MapNode[] | undefined;
  let pending: Network | undefined;

  const send = (network: Network) => {
    const nodes = [...network.devices.values()].map(toMapNode);
    nodesInFlight = nodes;
    const request: LayoutRequest = { sequence: ++sequence, nodes, edges: edgesOf(network, nodes) };
    worker.postMessage(request);
  };
  worker.addEventListener("message", ({ data }: MessageEvent<LayoutResponse>) => {
    if (data.sequence !== sequence || !nodesInFlight) return;
    for (const [i, { id }] of nodesInFlight.entries()) {
      const [x, y] = [data.positions[i * 2] ?? 0, data.positions[i * 2 + 1] ?? 0];
      positions.set(id, { x, y: -y, cluster: data.clusterOf[i] ?? 0 });
    }
    nodesInFlight = undefined;
    onLayout();
    const next = pending;
    pending = undefined;
    if (next) update(next);
  });
  const update = (network: Network) => {
    if (nodesInFlight) {
      pending = network;
      return;
    }
    for (const id of network.devices.keys()) {
      if (positions.has(id)) continue;
      send(network);
      return;
    }
  };
  return { positions, routes: new Map(), update };
}

function toMapNode({ id, annotations }: Device): MapNode {
  const layer = namedLayer(annotations.layer);
  const location = locationOf(annotations);
  return {
    id,
    ...(layer !== undefined && { layer }),
    ...(location && { location }),
    ...(annotations.site && { site: annotations.site }),
  };
}

/** Latitude and longitude in the Mercator projection, which gives countries the shape that people know; else x and y. */
function locationOf(annotations: Readonly<Record<string, string>>): MapNode["location"] {
  const [latitude, longitude] = [parseNumber(annotations.latitude), parseNumber(annotations.longitude)];
  if (
    latitude !== undefined &&
    longitude !== undefined &&
    Math.abs(latitude) < 89 &&
    Math.abs(longitude) <= 180
  ) {
    const mercatorY = Math.log(Math.tan(Math.PI / 4 + (latitude * Math.PI) / 360)) * (180 / Math.PI);
    return { x: longitude, y: -mercatorY };
  }
  const [x, y] = [parseNumber(annotations.x), parseNumber(annotations.y)];
  return x !== undefined && y !== undefined ? { x, y } : undefined;
}

function parseNumber(text: string | undefined): number | undefined {
  const value = Number(text?.trim() || Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

/** Each pair of connected devices once, as two indexes into `nodes`. */
function edgesOf(network: Network, nodes: readonly MapNode[]): Uint32Array {
  const indexById = new Map(nodes.map((node, i) => [node.id, i]));
  const seen = new Set<number>();
  const edges: number[] = [];
  for (const { from, to } of network.cables.values()) {
    const [i, j] = [indexById.get(from.device), indexById.get(to.device)];
    if (i === undefined || j === undefined || i === j) continue;
    const key = Math.min(i, j) * nodes.length + Math.max(i, j);
    if (seen.has(key)) continue;
    seen.add(key);
    edges.push(Math.min(i, j), Math.max(i, j));
  }
  return Uint32Array.from(edges);
}
