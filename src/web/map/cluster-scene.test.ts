import { expect, test } from "bun:test";
import fc from "fast-check";
import { cardBoxes, clusterLineStyle } from "./cluster-scene.ts";
import { PALETTES } from "./palette.ts";
import { STROKES } from "./style.ts";

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

test("cards never overlap, wherever the clusters are", () => {
  const coordinate = fc.integer({ min: -5000, max: 5000 });
  const size = fc.integer({ min: 0, max: 3000 });
  const cluster = fc.record({ left: coordinate, bottom: coordinate, width: size, height: size });
  fc.assert(
    fc.property(fc.array(cluster, { maxLength: 20 }), (boxes) => {
      const clusters = boxes.map(({ left, bottom, width, height }, index) => ({
        index,
        name: "",
        shortName: "",
        deviceIds: [],
        namePrefix: "",
        left,
        right: left + width,
        bottom,
        top: bottom + height,
      }));
      const steps = cardBoxes(clusters);
      let step = steps.next();
      while (!step.done) step = steps.next();
      const cards = [...step.value.values()];
      for (const [i, p] of cards.entries())
        for (const q of cards.slice(i + 1)) {
          const apartX = Math.abs(p.x - q.x) - (p.width + q.width) / 2;
          const apartY = Math.abs(p.y - q.y) - (p.height + q.height) / 2;
          expect(Math.max(apartX, apartY)).toBeGreaterThan(-1e-6);
        }
    }),
  );
});
