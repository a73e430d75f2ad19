/**
 * The sites of the layout whose place on the earth is known, and the control points that hold the coastline at them. Sites
 * within a degree share a control point: they are moved apart by more than the coastline is exact.
 */
import type { Point } from "../../layout/adjacency.ts";
import type { ClusterNode } from "../../layout/cluster-assignment.ts";
import type { LayoutPosition } from "../layout/incremental-layout.ts";
import type { ControlPoint } from "./rubber-sheet.ts";

/** A cluster. Its position is the centre of its devices. */
export interface LocatedSite extends ControlPoint {
  /** Half the width and height of its devices. */
  readonly reach: Point;
}

const MIN_DISTANCE = 1;
/** The effort for the sheet grows with the third power. Of more sites, those that are farther apart share one as well. */
const MAX_CONTROLS = 300;

interface Members {
  left: number;
  right: number;
  top: number;
  bottom: number;
  /** The sums of the locations, and their number. */
  x: number;
  y: number;
  located: number;
}

/**
 * Positions are those of the layout, without pins: a device that the user moves does not bend the earth. They include those
 * of removed devices, so that the coast does not move when a device leaves and returns.
 */
export function locatedSites(
  nodes: Iterable<ClusterNode>,
  positions: ReadonlyMap<string, LayoutPosition>,
): LocatedSite[] {
  const clusters = new Map<number, Members>();
  for (const { x, y, cluster } of positions.values()) {
    const members = clusters.get(cluster);
    if (members) {
      members.left = Math.min(members.left, x);
      members.right = Math.max(members.right, x);
      members.top = Math.min(members.top, y);
      members.bottom = Math.max(members.bottom, y);
    } else clusters.set(cluster, { left: x, right: x, top: y, bottom: y, x: 0, y: 0, located: 0 });
  }
  for (const { id, location, isOnEarth } of nodes) {
    const members = clusters.get(positions.get(id)?.cluster ?? -1);
    if (!members || !location || !isOnEarth) continue;
    members.x += location.x;
    members.y += location.y;
    members.located++;
  }
  return [...clusters.values()]
    .filter(({ located }) => located > 0)
    .map(({ left, right, top, bottom, x, y, located }) => ({
      location: { x: x / located, y: y / located },
      position: { x: (left + right) / 2, y: (top + bottom) / 2 },
      reach: { x: (right - left) / 2, y: (bottom - top) / 2 },
    }))
    .sort((a, b) => a.location.x - b.location.x || a.location.y - b.location.y);
}

export function controlPoints(sites: readonly LocatedSite[]): ControlPoint[] {
  for (let distance = MIN_DISTANCE; ; distance *= 1.5) {
    const groups = groupByDistance(sites, distance);
    if (groups.length <= MAX_CONTROLS)
      return groups.map((group) => ({
        location: meanOf(group.map(({ location }) => location)),
        position: meanOf(group.map(({ position }) => position)),
      }));
  }
}

/** Each site joins the first group whose first site is nearer than the distance. */
function groupByDistance(sites: readonly LocatedSite[], distance: number): LocatedSite[][] {
  const groups: LocatedSite[][] = [];
  for (const site of sites) {
    const group = groups.find(([first]) => first && isNear(first.location, site.location, distance));
    if (group) group.push(site);
    else groups.push([site]);
    if (groups.length > MAX_CONTROLS) break;
  }
  return groups;
}

const isNear = (a: Point, b: Point, distance: number): boolean => Math.hypot(a.x - b.x, a.y - b.y) < distance;

const meanOf = (points: readonly Point[]): Point => ({
  x: points.reduce((sum, { x }) => sum + x, 0) / points.length,
  y: points.reduce((sum, { y }) => sum + y, 0) / points.length,
});
