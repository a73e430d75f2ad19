import { expect, test } from "bun:test";
import { signsOf } from "./legend.tsx";

test("the legend of a picture has the scale of the values on links", () => {
  const overlay = { name: "Load", unit: "%", max: 50, values: new Map<string, number>() };
  const titles = signsOf(undefined, overlay).map(([title]) => title);
  expect(titles.slice(-5)).toEqual([
    "Load from 0%",
    "Load from 10%",
    "Load from 20%",
    "Load from 30%",
    "Load from 40%",
  ]);
  expect(signsOf(undefined, undefined).some(([title]) => title.startsWith("Load"))).toBe(false);
});
