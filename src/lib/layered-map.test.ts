import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../test/support/property.ts";
import { LayeredMap } from "./layered-map.ts";
import { runToEnd } from "./steps.ts";

const key = fc.integer({ min: 0, max: 400 }).map((n) => `k${n}`);
const changes = fc.array(fc.tuple(key, fc.option(fc.nat(), { nil: undefined })), { maxLength: 120 });

test("each version equals a plain map, and never changes", () => {
  fc.assert(
    fc.property(fc.array(changes, { maxLength: 12 }), (rounds) => {
      let map = new LayeredMap<string, number>();
      const model = new Map<string, number>();
      const versions: { map: LayeredMap<string, number>; model: Map<string, number> }[] = [];
      for (const round of rounds) {
        map = runToEnd(map.with(round));
        for (const [name, value] of round) {
          if (value === undefined) model.delete(name);
          else model.set(name, value);
        }
        versions.push({ map, model: new Map(model) });
      }
      for (const version of versions) {
        expect(version.map.size).toBe(version.model.size);
        expect([...version.map.values()].sort()).toEqual([...version.model.values()].sort());
        for (let n = 0; n <= 400; n++) {
          expect(version.map.get(`k${n}`)).toBe(version.model.get(`k${n}`));
          expect(version.map.has(`k${n}`)).toBe(version.model.has(`k${n}`));
        }
      }
    }),
    { numRuns: runs(30) },
  );
});
