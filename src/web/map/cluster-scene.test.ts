import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { sampleNetwork } from "../../../test/support/page-network.ts";
import { runs } from "../../../test/support/property.ts";
import { finish, sceneInput } from "../../../test/support/scene-input.ts";
import { DEFAULT_STATE } from "../data/view-state.ts";
import { ClusterScene, cardBoxes, clusterLineStyle } from "./cluster-scene.ts";
import { DeviceScene } from "./device-scene.ts";
import { createHighlights } from "./highlights.ts";
import { PALETTES } from "./palette.ts";
import { type Mark, STROKES } from "./style.ts";

/** Somewhat less than the space of one device. */
const [MIN_WIDTH, MIN_HEIGHT] = [75, 54];

const palette = PALETTES.dark;
test.each([
  ["all active", { cables: 3, active: 3, down: 0 }, STROKES.solid, palette.line],
  ["one inactive", { cables: 3, active: 2, down: 1 }, STROKES.longDashed, palette.down],
  ["all inactive", { cables: 3, active: 0, down: 3 }, STROKES.dashed, palette.down],
  ["one only planned", { cables: 3, active: 2, down: 0 }, STROKES.solid, palette.line],
  ["all only planned", { cables: 3, active: 0, down: 0 }, STROKES.dashed, palette.missing],
])("the line between two clusters with %s", (_, total, stroke, color) => {
  expect(clusterLineStyle(total, palette)).toMatchObject({ stroke, color });
});

/** An area of a cluster. */
interface Area {
  readonly left: number;
  readonly bottom: number;
  readonly width: number;
  readonly height: number;
}

/** The cards of clusters with these areas, each of which has as many devices. */
function cardsOf(areas: readonly Area[], devices: number) {
  const clusters = areas.map(({ left, bottom, width, height }, index) => ({
    index,
    name: "",
    shortName: "",
    deviceIds: Array.from({ length: devices }, (_, i) => `${index} ${i}`),
    namePrefix: "",
    left,
    right: left + width,
    bottom,
    top: bottom + height,
  }));
  return [...finish(cardBoxes(clusters)).values()];
}

test("cards never overlap and can always be clicked, wherever the clusters are", () => {
  const coordinate = fc.integer({ min: -5000, max: 5000 });
  const size = fc.integer({ min: 0, max: 3000 });
  const area = fc.record({ left: coordinate, bottom: coordinate, width: size, height: size });
  // A user may move clusters onto each other.
  const samePlace = fc.tuple(area, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 3 }));
  const areas = fc
    .array(samePlace, { maxLength: 8 })
    .map((places) =>
      places.flatMap(([at, count, apart]) =>
        Array.from({ length: count }, (_, i) => ({ ...at, left: at.left + i * apart })),
      ),
    );
  fc.assert(
    fc.property(areas, fc.constantFrom(1, 100), (clusters, devices) => {
      const cards = cardsOf(clusters, devices);
      expect(cards).toHaveLength(clusters.length);
      for (const [i, p] of cards.entries()) {
        expect(p.width).toBeGreaterThan(MIN_WIDTH);
        expect(p.height).toBeGreaterThan(MIN_HEIGHT);
        for (const q of cards.slice(i + 1)) {
          const apartX = Math.abs(p.x - q.x) - (p.width + q.width) / 2;
          const apartY = Math.abs(p.y - q.y) - (p.height + q.height) / 2;
          expect(Math.max(apartX, apartY)).toBeGreaterThan(0);
        }
      }
    }),
    { numRuns: runs(400) },
  );
});

test("two clusters at one place have the space of one; those that overlap a little stay where they are", () => {
  const area = { left: 0, bottom: 0, width: 900, height: 600 };
  const [alone] = cardsOf([area], 1);
  const pair = cardsOf([area, area], 1);
  for (const { x, y, width, height } of pair) {
    expect(x).toBe(450);
    expect(width).toBe(alone?.width ?? 0);
    expect(height).toBeGreaterThan(300);
    expect(Math.abs(y - 300) + height / 2).toBeLessThan(365);
  }
  const apart = cardsOf([area, { ...area, left: 700 }], 1);
  expect(apart.map(({ x, y }) => [x, y])).toEqual([
    [450, 300],
    [1150, 300],
  ]);
});

describe("the card of a cluster", () => {
  /** The devices `a` to `d`, of which `d` is down, and those of them that are only planned. */
  function cardWith(planned: string[]) {
    const network = sampleNetwork();
    const marks = {
      devices: new Map(planned.map((id): [string, Mark] => [id, "missing"])),
      cables: new Map(),
      word: "not as planned",
    };
    const input = sceneInput(network, {
      highlights: createHighlights(network, DEFAULT_STATE, planned.length > 0 ? marks : undefined),
    });
    const [devices, clusters] = [new DeviceScene(), new ClusterScene()];
    const changes = finish(devices.update(input));
    finish(clusters.update(input, devices.clusters, devices, changes));
    const [card] = clusters.cards.values();
    return card && { count: card.count, faults: card.faults, tone: card.tone };
  }

  test("counts its devices and those that are down", () => {
    expect(cardWith([])).toEqual({ count: "4", faults: ["1 down"], tone: "down" });
  });
  test("counts devices that are only planned among those that are not as planned, and nowhere else", () => {
    expect(cardWith(["a"])).toEqual({ count: "3", faults: ["1 not as planned", "1 down"], tone: "down" });
    expect(cardWith(["a", "b", "c"])).toEqual({
      count: "1",
      faults: ["3 not as planned", "down"],
      tone: "down",
    });
  });
  test("is there when all its devices are only planned", () => {
    expect(cardWith(["a", "b", "c", "d"])).toEqual({
      count: "0",
      faults: ["4 not as planned"],
      tone: "node",
    });
  });
});
