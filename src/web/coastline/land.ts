/**
 * The outlines of the land, from the TopoJSON of `world-atlas` (Natural Earth, 1:110 million). Only what that file has is
 * decoded. Antarctica is left out: it has no networks on maps like these, and its ring goes around the pole.
 */
import type { Point } from "../../layout/adjacency.ts";
import { projectLocation } from "../../layout/device-node.ts";

/** TopoJSON, with the fields that are used. Points of an arc are differences, in units of `scale`. */
export interface LandTopology {
  readonly transform: { readonly scale: readonly number[]; readonly translate: readonly number[] };
  readonly arcs: readonly (readonly (readonly number[])[])[];
  readonly objects: {
    readonly land: {
      /** Polygons of rings of arcs. The number of an arc that runs backwards is inverted. */
      readonly geometries: readonly { readonly arcs: readonly (readonly (readonly number[])[])[] }[];
    };
  };
}

/** A closed line in the units of locations: degrees of longitude and projected latitude, y downwards. */
export type Ring = readonly Point[];

const ANTARCTIC_LATITUDE = -60;
/** Longer lines are divided, because they are bent later. */
const MAX_STEP = 1;

export function decodeLand({ transform, arcs, objects }: LandTopology): Ring[] {
  const [scaleX = 1, scaleY = 1] = transform.scale;
  const [left = 0, bottom = 0] = transform.translate;
  const decoded = arcs.map((arc) => {
    let [x, y] = [0, 0];
    return arc.map(([dx = 0, dy = 0]) => {
      [x, y] = [x + dx, y + dy];
      return { x: left + x * scaleX, y: bottom + y * scaleY };
    });
  });
  const rings = objects.land.geometries.flatMap((geometry) => geometry.arcs.flat());
  return rings
    .map((ring) => ring.flatMap((arc) => (arc < 0 ? decoded[~arc]?.toReversed() : decoded[arc]) ?? []))
    .filter((ring) => ring.some(({ y }) => y > ANTARCTIC_LATITUDE))
    .map((ring) => divide(unwrap(ring).map(({ x, y }) => projectLocation(y, x))));
}

/** A ring that crosses the 180th meridian goes on beyond it, on the side of most of its points. */
function unwrap(ring: Ring): Ring {
  let [previous, sum] = [ring[0]?.x ?? 0, 0];
  const unwrapped = ring.map(({ x, y }) => {
    previous = x + Math.round((previous - x) / 360) * 360;
    sum += previous;
    return { x: previous, y };
  });
  const turns = Math.round(sum / ring.length / 360);
  return unwrapped.map(({ x, y }) => ({ x: x - turns * 360, y }));
}

function divide(ring: Ring): Ring {
  return ring.flatMap((point, i) => {
    const next = ring[i + 1];
    if (!next) return [point];
    const steps = Math.max(1, Math.ceil(Math.hypot(next.x - point.x, next.y - point.y) / MAX_STEP));
    return Array.from({ length: steps }, (_, step) => ({
      x: point.x + ((next.x - point.x) * step) / steps,
      y: point.y + ((next.y - point.y) * step) / steps,
    }));
  });
}
