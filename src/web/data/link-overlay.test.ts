import { expect, test } from "bun:test";
import { cableOf } from "../../model/cable.ts";
import type { Link } from "../../model/entity.ts";
import { linkId } from "../../model/ids.ts";
import { lengthOf, linePoints, pointAt } from "../map/geometry.ts";
import { widthOfSpeed } from "../map/style.ts";
import type { LinkOverlay } from "./link-overlay.ts";
import { overlaySteps, overlayText, overlayValue } from "./link-overlay.ts";

const link = (port: string): Link => {
  const [src, dst] = [
    { device: "a", port },
    { device: "b", port },
  ];
  return {
    id: linkId(src, dst),
    src,
    dst,
    type: "DIRECT",
    state: "ACTIVE",
    bidirectional: false,
    verified: true,
    firstSeen: "2026-11-16T00:00:00Z",
    lastChanged: "2026-11-16T00:00:00Z",
    sources: ["s"],
    revision: 1,
  };
};

test("the value of a bundle is the largest of its links, and none is not zero", () => {
  const [first, second] = [link("1"), link("2")];
  const bundle = { a: "a", b: "b", cables: [cableOf(first, undefined), cableOf(second, undefined)] };
  const overlay = (values: [string, number][]): LinkOverlay => ({
    name: "Load",
    unit: "%",
    max: 100,
    values: new Map(values),
  });
  expect(overlayValue(undefined, bundle)).toBeUndefined();
  expect(overlayValue(overlay([]), bundle)).toBeUndefined();
  expect(overlayValue(overlay([[first.id, Number.NaN]]), bundle)).toBeUndefined();
  expect(
    overlayValue(
      overlay([
        [first.id, 12],
        [second.id, 80.4],
      ]),
      bundle,
    ),
  ).toBe(80.4);
  expect(overlayText(overlay([]), 80.4)).toBe("80%");
  expect(overlaySteps(overlay([])).map(({ from }) => from)).toEqual(["0%", "20%", "40%", "60%", "80%"]);
});

test("a faster link is wider, and an unknown speed has the least width", () => {
  const widths = [0, 1000, 10_000, 100_000, 400_000].map(widthOfSpeed);
  expect(widths).toEqual(widths.toSorted((p, q) => p - q));
  expect(new Set(widths).size).toBe(5);
});

test("a line follows its route, and is straight without one", () => {
  const [a, b] = [
    { x: 0, y: 0 },
    { x: 10, y: 10 },
  ];
  expect([...linePoints(a, b, undefined)]).toEqual([0, 0, 10, 10]);
  const route = linePoints(a, b, Float64Array.of(0, 0, 10, 0, 10, 10));
  expect(lengthOf(route)).toBe(20);
  expect(pointAt(route, 15)).toEqual({ x: 10, y: 5, dx: 0, dy: 1 });
});
