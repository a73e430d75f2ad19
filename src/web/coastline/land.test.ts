/** The land of the package, decoded: cities are on it, oceans are not, and no line crosses the earth. */
import { expect, test } from "bun:test";
import topology from "world-atlas/land-110m.json";
import type { Point } from "../../layout/adjacency.ts";
import { projectLocation } from "../../layout/device-node.ts";
import { bendLand } from "./coastline.ts";
import { decodeLand, type Ring } from "./land.ts";

const land = decodeLand(topology);

/** Whether a point is in an odd number of rings. */
function isOnLand({ x, y }: Point, rings: readonly Ring[]): boolean {
  let isInside = false;
  for (const ring of rings) {
    for (const [i, b] of ring.entries()) {
      const a = ring.at(i - 1);
      if (a && a.y > y !== b.y > y && x < a.x + ((b.x - a.x) * (y - a.y)) / (b.y - a.y)) isInside = !isInside;
    }
  }
  return isInside;
}

test.each([
  ["London", 51.51, -0.13, true],
  ["Frankfurt", 50.11, 8.68, true],
  ["Denver", 39.74, -104.99, true],
  ["Nairobi", -1.29, 36.82, true],
  ["the east of Siberia", 67, 175, true],
  ["the Channel", 50.2, -1, false],
  ["the Atlantic", 40, -40, false],
  ["the Caspian Sea", 42, 51, false],
])("%s", (_, latitude, longitude, expected) => {
  expect(isOnLand(projectLocation(latitude, longitude), land)).toBe(expected);
});

test("no step is longer than a degree, at the 180th meridian too, and there is no Antarctica", () => {
  const points = land.flat();
  expect(points.length).toBeGreaterThan(5000);
  expect(points.length).toBeLessThan(12_000);
  for (const ring of land) {
    for (const [i, { x, y }] of ring.entries()) {
      const next = ring[i + 1] ?? ring[0] ?? { x, y };
      expect(Math.hypot(next.x - x, next.y - y)).toBeLessThan(1.001);
    }
  }
  expect(Math.max(...points.map(({ y }) => y))).toBeLessThan(-projectLocation(60, 0).y);
});

test("the bent land has the sites on it, y upwards, and counts those that are elsewhere", () => {
  const site = (latitude: number, longitude: number, x: number, y: number) => ({
    location: projectLocation(latitude, longitude),
    position: { x, y },
    reach: { x: 10, y: 10 },
  });
  const london = site(51.51, -0.13, 0, 0);
  const paris = site(48.86, 2.35, 700, 300);
  const frankfurt = site(50.11, 8.68, 1500, 200);
  const coastline = bendLand(land, [london, paris, frankfurt]);
  if ("fault" in coastline) throw new Error(coastline.fault);
  expect(coastline).toMatchObject({ sites: 3, misplaced: 0 });
  const { points, offsets } = coastline;
  const rings = [...offsets].slice(0, -1).map((start, ring) => {
    const flat = points.subarray(start, offsets[ring + 1]);
    return Array.from({ length: flat.length / 2 }, (_, i) => ({
      x: flat[i * 2] ?? 0,
      y: -(flat[i * 2 + 1] ?? 0),
    }));
  });
  expect(rings.map(({ length }) => length)).toEqual(land.map(({ length }) => length));
  for (const { position } of [london, paris, frankfurt]) expect(isOnLand(position, rings)).toBe(true);
  expect(isOnLand({ x: 200, y: 180 }, rings)).toBe(false);
  // A second site of London is elsewhere on the map; both share the place between them.
  const far = { ...london, position: { x: -600, y: 0 } };
  expect(bendLand(land, [far, london, paris, frankfurt])).toMatchObject({ sites: 4, misplaced: 2 });
  expect(bendLand(land, [london])).toEqual({ fault: expect.stringContaining("two sites") });
});
