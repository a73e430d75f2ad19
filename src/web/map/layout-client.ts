/**
 * The page's side of the layout worker: asks for places when devices come that have none, one question at a time,
 * and answers always with the newest network. Links alone never move anything.
 */
import { namedLayer } from "../../formats/layout/layer-names.ts";
import type { Device } from "../../model/entity.ts";
import type { LayoutAnswer, LayoutRequest, MapNode } from "../layout/messages.ts";
import type { Network } from "../network.ts";
import type { Spot } from "./clusters.ts";

export interface Layouter {
  readonly spots: ReadonlyMap<string, Spot>;
  /** Looks whether somebody stands nowhere yet, and has that put right. */
  settle(network: Network): void;
}

export function createLayouter(workerUrl: string, onSettled: () => void): Layouter {
  const worker = new Worker(workerUrl, { type: "module" });
  const spots = new Map<string, Spot>();
  let sequence = 0;
  let busy: readonly MapNode[] | undefined;
  let waiting: Network | undefined;

  const ask = (network: Network) => {
    const nodes = [...network.devices.values()].map(mapNode);
    busy = nodes;
    const request: LayoutRequest = { sequence: ++sequence, nodes, edges: pairs(network, nodes) };
    worker.postMessage(request);
  };
  worker.addEventListener("message", ({ data }: MessageEvent<LayoutAnswer>) => {
    if (data.sequence !== sequence || !busy) return;
    for (const [i, { id }] of busy.entries()) {
      const [x, y] = [data.positions[i * 2] ?? 0, data.positions[i * 2 + 1] ?? 0];
      spots.set(id, { x, y: -y, block: data.blockOf[i] ?? 0 });
    }
    busy = undefined;
    onSettled();
    const next = waiting;
    waiting = undefined;
    if (next) settle(next);
  });
  const settle = (network: Network) => {
    if (busy) {
      waiting = network;
      return;
    }
    for (const id of network.devices.keys()) {
      if (spots.has(id)) continue;
      ask(network);
      return;
    }
  };
  return { spots, settle };
}

function mapNode({ id, annotations }: Device): MapNode {
  const layer = namedLayer(annotations.layer);
  const place = placeOf(annotations);
  return {
    id,
    ...(layer !== undefined && { layer }),
    ...(place && { place }),
    ...(annotations.site && { group: annotations.site }),
  };
}

/** Degrees as Mercator does, so that the map has the shape people know; drawings' x and y as they are. */
function placeOf(annotations: Readonly<Record<string, string>>): MapNode["place"] {
  const [latitude, longitude] = [number(annotations.latitude), number(annotations.longitude)];
  if (
    latitude !== undefined &&
    longitude !== undefined &&
    Math.abs(latitude) < 89 &&
    Math.abs(longitude) <= 180
  ) {
    const north = Math.log(Math.tan(Math.PI / 4 + (latitude * Math.PI) / 360)) * (180 / Math.PI);
    return { x: longitude, y: -north };
  }
  const [x, y] = [number(annotations.x), number(annotations.y)];
  return x !== undefined && y !== undefined ? { x, y } : undefined;
}

function number(text: string | undefined): number | undefined {
  const value = Number(text?.trim() || Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

function pairs(network: Network, nodes: readonly MapNode[]): Uint32Array {
  const index = new Map(nodes.map((node, i) => [node.id, i]));
  const seen = new Set<number>();
  const flat: number[] = [];
  for (const { from, to } of network.cables.values()) {
    const [i, j] = [index.get(from.device), index.get(to.device)];
    if (i === undefined || j === undefined || i === j) continue;
    const key = Math.min(i, j) * nodes.length + Math.max(i, j);
    if (seen.has(key)) continue;
    seen.add(key);
    flat.push(Math.min(i, j), Math.max(i, j));
  }
  return Uint32Array.from(flat);
}
