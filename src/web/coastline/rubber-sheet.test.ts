/** The sheet meets the sites of the simulated network, is not folded, and depends on the sites alone. */
import { describe, expect, test } from "bun:test";
import { demoLayoutGraph } from "../../../test/support/layout-graphs.ts";
import { projectLocation } from "../../layout/device-node.ts";
import { layoutMap } from "../layout/map-layout.ts";
import { controlPoints, type LocatedSite, locatedSites } from "./located-sites.ts";
import { type ControlPoint, createRubberSheet, foldedShare, type RubberSheet } from "./rubber-sheet.ts";

/** The sites of the simulated network where the layout of the map has them. */
function demoSites(devices: number): LocatedSite[] {
  const graph = demoLayoutGraph(devices, { sites: true });
  const nodes = graph.nodes.map(({ location, ...node }) => ({
    ...node,
    ...(location && { location: projectLocation(-location.y, location.x), isOnEarth: true }),
  }));
  const { positions, clusterOf } = layoutMap({ ...graph, nodes });
  const byId = nodes.map(({ id }, i) => {
    const [x = 0, y = 0] = [positions[i * 2], positions[i * 2 + 1]];
    return [id, { x, y, cluster: clusterOf[i] ?? 0 }] as const;
  });
  return locatedSites(nodes, new Map(byId));
}

function sheetOf(controls: readonly ControlPoint[]): RubberSheet {
  const sheet = createRubberSheet(controls);
  if (!sheet) throw new Error("no sheet");
  return sheet;
}

const control = (longitude: number, latitude: number, x: number, y: number): ControlPoint => ({
  location: projectLocation(latitude, longitude),
  position: { x, y },
});

describe.each([50, 1000])("the simulated network of %d devices", (devices) => {
  const controls = controlPoints(demoSites(devices));
  const sheet = sheetOf(controls);

  test("every site is where the map has it", () => {
    expect(controls.length).toBeGreaterThan(5);
    for (const { location, position } of controls) {
      const { x, y } = sheet.at(location);
      expect(Math.hypot(x - position.x, y - position.y)).toBeLessThan(1e-6);
    }
  });

  test("east is right along a parallel, and south is down along a meridian", () => {
    const xs = Array.from({ length: 120 }, (_, i) => sheet.at(projectLocation(43, i / 2 - 20)).x);
    expect(xs).toEqual(xs.toSorted((a, b) => a - b));
    const ys = Array.from({ length: 60 }, (_, i) => sheet.at(projectLocation(65 - i / 2, 5)).y);
    expect(ys).toEqual(ys.toSorted((a, b) => a - b));
  });

  test("the same sites give the same sheet", () => {
    const again = sheetOf(controlPoints(demoSites(devices)));
    for (const longitude of [-100, -5, 0, 30, 170]) {
      const location = projectLocation(longitude / 3, longitude);
      expect(again.at(location)).toEqual(sheet.at(location));
    }
  });
});

test("where the layout has changed the order of sites, the sheet is smoothed until it is not folded", () => {
  const controls = controlPoints(demoSites(2000));
  const sheet = sheetOf(controls);
  expect(foldedShare(sheet, controls)).toBeLessThanOrEqual(0.01);
  // Not more than needed: the distances are small for most.
  const distances = controls
    .map(({ location, position }) => {
      const { x, y } = sheet.at(location);
      return Math.hypot(x - position.x, y - position.y);
    })
    .sort((a, b) => a - b);
  const width = Math.max(...controls.map(({ position }) => position.x));
  expect(distances[Math.floor(distances.length / 2)]).toBeLessThan(width / 20);
});

test("two sites give one scale for both axes where they have no other", () => {
  const sheet = sheetOf([control(0, 0, 0, 0), control(10, 0, 1000, 0)]);
  expect(sheet.at({ x: 5, y: 0 }).x).toBeCloseTo(500, 6);
  expect(sheet.at({ x: 0, y: 5 })).toEqual({ x: expect.closeTo(0, 6), y: expect.closeTo(500, 6) });
});

test("there is no sheet for one place, or against the compass", () => {
  expect(createRubberSheet([])).toBeUndefined();
  expect(createRubberSheet([control(5, 50, 0, 0)])).toBeUndefined();
  expect(createRubberSheet([control(5, 50, 0, 0), control(5, 50, 90, 0)])).toBeUndefined();
  expect(createRubberSheet([control(5, 50, 100, 0), control(9, 50, 0, 0)])).toBeUndefined();
});

test("a site is the middle of the devices that it has or had, at the mean of the locations that it has", () => {
  const at = (x: number, y: number) => ({ x, y, cluster: 3 });
  const positions = new Map([
    ["a", at(0, 0)],
    ["b", at(100, 40)],
    ["removed", at(200, 0)],
    ["elsewhere", { x: 0, y: 900, cluster: 4 }],
  ]);
  const nodes = [
    { id: "a", location: { x: 5, y: -50 }, isOnEarth: true },
    { id: "b", location: { x: 6, y: -52 }, isOnEarth: true },
    // By x and y, which are no place on the earth.
    { id: "elsewhere", location: { x: 7, y: 7 } },
  ];
  expect(locatedSites(nodes, positions)).toEqual([
    { location: { x: 5.5, y: -51 }, position: { x: 100, y: 20 }, reach: { x: 100, y: 20 } },
  ]);
});

test("sites within a degree share a control point, and there are never more than 300", () => {
  const site = (longitude: number, latitude: number): LocatedSite => ({
    ...control(longitude, latitude, longitude * 100, 0),
    reach: { x: 0, y: 0 },
  });
  expect(controlPoints([site(0, 0), site(0.5, 0.5), site(3, 0)])).toEqual([
    { location: expect.objectContaining({ x: 0.25 }), position: { x: 25, y: 0 } },
    control(3, 0, 300, 0),
  ]);
  const many = Array.from({ length: 5000 }, (_, i) =>
    site((i % 100) * 3 - 150, Math.floor(i / 100) * 2 - 50),
  );
  const count = controlPoints(many).length;
  expect(count).toBeGreaterThan(100);
  expect(count).toBeLessThanOrEqual(300);
});
