/** The contrasts of WCAG 2.2 AA in both schemes: 4.5:1 for text and states, 3:1 for lines and borders of controls. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PALETTES } from "./palette.ts";

const TEXT_CONTRAST = 4.5;
const LINE_CONTRAST = 3;

/** The relative luminance of `#rrggbb`, by WCAG 2.2. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((i) => Number.parseInt(colour.slice(i, i + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((p, q) => p - q);
  return (light + 0.05) / (dark + 0.05);
}

type Colours = Readonly<Record<string, string>>;

/** The pairs that are too close, as text. */
const tooClose = (
  colours: Colours,
  front: readonly string[],
  back: readonly string[],
  least: number,
): string[] =>
  front.flatMap((a) =>
    back.flatMap((b) => {
      const [colourA, colourB] = [colours[a], colours[b]];
      if (colourA === undefined || colourB === undefined) return [`${a} or ${b} does not exist`];
      const ratio = contrast(colourA, colourB);
      return ratio < least ? [`${a} on ${b}: ${ratio.toFixed(2)}`] : [];
    }),
  );

test("the formula is that of WCAG", () => {
  expect(contrast("#000000", "#ffffff")).toBe(21);
  expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
});

describe.each(Object.entries(PALETTES))("the map, %s", (_scheme, palette) => {
  const colours: Colours = { ...palette };
  const grounds = ["background", "clusterFill"];

  test("text and states", () => {
    const states = ["node", "host", "down", "warning", "accent", "added", "missing", "unplanned", "differs"];
    expect(tooClose(colours, ["text", "muted", "clusterText", ...states], grounds, TEXT_CONTRAST)).toEqual(
      [],
    );
    for (const state of ["node", "down", "warning", "added", "unplanned", "differs"])
      expect(tooClose(colours, [state], [`${state}Fill`], TEXT_CONTRAST)).toEqual([]);
  });

  test("lines", () => {
    expect(tooClose(colours, ["line"], grounds, LINE_CONTRAST)).toEqual([]);
  });
});

const CSS = readFileSync(join(import.meta.dir, "../style/base.css"), "utf8");
const VARIABLES = [...CSS.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)];
const SCHEMES = [2, 3].map((group) =>
  Object.fromEntries(VARIABLES.map((match) => [match[1] ?? "", match[group] ?? ""])),
);

describe.each([
  ["light", SCHEMES[0]],
  ["dark", SCHEMES[1]],
] as const)("the page, %s", (_scheme, colours = {}) => {
  test("text and states on every ground, and on the ground of what is selected", () => {
    const grounds = ["ground", "surface", "raised", "accent-soft"];
    const states = ["good", "bad", "doubt", "missing", "unplanned", "differs", "node"];
    expect(tooClose(colours, ["text", "muted", "accent", ...states], grounds, TEXT_CONTRAST)).toEqual([]);
    for (const state of ["bad", "doubt", "accent"])
      expect(tooClose(colours, [state], [`${state}-soft`], TEXT_CONTRAST)).toEqual([]);
  });

  test("lines, and borders of controls", () => {
    const grounds = ["ground", "surface", "raised"];
    expect(tooClose(colours, ["line", "edge-strong"], grounds, LINE_CONTRAST)).toEqual([]);
  });
});
