/** What the layout uses of a device: its layer, its location and its site, from its annotations, and its hosts. */
import type { Device } from "../model/entity.ts";
import type { Point } from "./adjacency.ts";
import type { ClusterNode } from "./cluster-assignment.ts";
import { namedLayer } from "./layer-names.ts";

export function deviceNode(
  { id, annotations }: Pick<Device, "id" | "annotations">,
  hosts: number,
): ClusterNode {
  const layer = layerOf(annotations.layer);
  const onEarth = earthLocation(annotations);
  const location = onEarth ?? plainLocation(annotations);
  return {
    id,
    ...(hosts > 0 && { leaves: hosts }),
    ...(layer !== undefined && { layer }),
    ...(location && { location }),
    ...(onEarth && { isOnEarth: true }),
    ...(annotations.site && { site: annotations.site }),
  };
}

/** The `layer` annotation is a name or a number. */
function layerOf(annotation: string | undefined): number | undefined {
  const text = annotation?.trim() ?? "";
  return /^\d{1,3}$/.test(text) ? Number(text) : namedLayer(text);
}

/** The place that latitude and longitude state, in the units of the layout. */
function earthLocation(annotations: Readonly<Record<string, string>>): Point | undefined {
  const [latitude, longitude] = [parseNumber(annotations.latitude), parseNumber(annotations.longitude)];
  const isValid =
    latitude !== undefined &&
    longitude !== undefined &&
    Math.abs(latitude) < 89 &&
    Math.abs(longitude) <= 180;
  return isValid ? projectLocation(latitude, longitude) : undefined;
}

/** The Mercator projection, which gives countries the shape that people know; y downwards. */
function projectLocation(latitude: number, longitude: number): Point {
  const mercatorY = Math.log(Math.tan(Math.PI / 4 + (latitude * Math.PI) / 360)) * (180 / Math.PI);
  return { x: longitude, y: -mercatorY };
}

function plainLocation(annotations: Readonly<Record<string, string>>): Point | undefined {
  const [x, y] = [parseNumber(annotations.x), parseNumber(annotations.y)];
  return x !== undefined && y !== undefined ? { x, y } : undefined;
}

function parseNumber(text: string | undefined): number | undefined {
  const value = Number(text?.trim() || Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}
