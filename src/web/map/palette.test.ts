/** The contrasts of WCAG 2.2 AA in both schemes: 4.5:1 for text and states, 3:1 for lines and borders of controls. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PALETTES } from "./palette.ts";

const TEXT_CONTRAST = 4.5;
const LINE_CONTRAST = 3;

type LinearColour = readonly [red: number, green: number, blue: number];

/** The linear parts of `#rrggbb`, from 0 to 1. */
function linear(colour: string): LinearColour {
  const part = (at: number) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [part(1), part(3), part(5)];
}

/** The relative luminance by WCAG 2.2. */
const luminance = ([red, green, blue]: LinearColour): number => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

function contrastOf(a: LinearColour, b: LinearColour): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((p, q) => p - q);
  return (light + 0.05) / (dark + 0.05);
}
const contrast = (a: string, b: string): number => contrastOf(linear(a), linear(b));

/** The colour as people without green cones see it, by the matrix of Machado, Oliveira and Fernandes (2009). */
function deuteranopic([red, green, blue]: LinearColour): LinearColour {
  const clamp = (value: number) => Math.min(1, Math.max(0, value));
  return [
    clamp(0.367322 * red + 0.860646 * green - 0.227968 * blue),
    clamp(0.280085 * red + 0.672501 * green + 0.047413 * blue),
    clamp(-0.01182 * red + 0.04294 * green + 0.968881 * blue),
  ];
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
    const values = ["value1", "value2", "value3", "value4", "value5"];
    expect(tooClose(colours, ["line", ...values], ["background"], LINE_CONTRAST)).toEqual([]);
    expect(tooClose(colours, ["line"], grounds, LINE_CONTRAST)).toEqual([]);
  });

  test("the colours of values differ in lightness, also for people without green cones", () => {
    const { background, value1, value2, value3, value4, value5 } = palette;
    for (const seenAs of [(colour: LinearColour) => colour, deuteranopic]) {
      const contrasts = [value1, value2, value3, value4, value5].map((value) =>
        contrastOf(seenAs(linear(value)), seenAs(linear(background))),
      );
      // Each is at least a quarter further from the background than the one before.
      for (const [i, least] of contrasts.entries())
        expect(contrasts[i + 1] ?? 99).toBeGreaterThan(1.25 * least);
    }
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
