/** How cables are drawn: as wide as their speed says, and in a shape for each state that is seen without colours. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { PALETTES } from "../../src/web/map/palette.ts";
import { needs } from "../support/needs.ts";
import type { Service } from "../support/service.ts";
import { type BrowserTab, eventually, openTab } from "./browser.ts";
import {
  BACKGROUND,
  isLit,
  openRows,
  type Patches,
  patchOf,
  type RowName,
  readRows,
  startRows,
} from "./cable-rows.ts";
import { difference, type Patch, parseColour } from "./patches.ts";

const hasChromium = needs("chromium");
let service: Service;
let tab: BrowserTab;
let rows: Patches;

beforeAll(async () => {
  if (!hasChromium) return;
  service = await startRows();
  tab = await openTab(service);
  await openRows(tab);
});
afterAll(async () => {
  await tab?.close();
  await service?.stop();
});

const LINE = parseColour(PALETTES.dark.line);

/** In pixels: how much of the colour of lines is in a column, on average. A pixel that is partly covered counts in part. */
function widthOf(patch: Patch): number {
  const coverage = (colour: ReturnType<Patch["at"]>) =>
    difference(colour, BACKGROUND) / difference(LINE, BACKGROUND);
  const sum = patch
    .columns()
    .flat()
    .reduce((total, colour) => total + coverage(colour), 0);
  return sum / patch.width;
}

test.skipIf(!hasChromium)("a cable is as wide as its speed says", async () => {
  const width = (row: RowName) => widthOf(patchOf(rows, row));
  // The ports are loaded after the first drawing.
  await eventually("the speeds of the ports", async () => {
    rows = await readRows(tab);
    expect(width("10G") - width("1G")).toBeGreaterThan(0.3);
    expect(width("100G") - width("10G")).toBeGreaterThan(0.3);
    // What a source states about the link comes before the speed of its ports.
    expect(Math.abs(width("stated") - width("100G"))).toBeLessThan(0.1);
  });
  expect(width("1G")).toBeGreaterThan(1);
  expect(width("100G")).toBeLessThan(3.5);
});

interface Shape {
  /** Stretches of the line at which there is nothing. */
  readonly gaps: number;
  /** Lines side by side. */
  readonly lines: number;
  /** In pixels, where it is highest. */
  readonly height: number;
}

/** Of a horizontal line, by what is drawn and not by its colour. */
function shapeOf(patch: Patch): Shape {
  const columns = patch.columns().map((column) => column.map(isLit));
  const isEmpty = columns.map((column) => !column.includes(true));
  const runs = (flags: readonly boolean[]) => flags.filter((flag, i) => flag && !flags[i - 1]).length;
  return {
    gaps: runs(isEmpty),
    lines: Math.max(...columns.map(runs)),
    height: Math.max(...columns.map((column) => column.lastIndexOf(true) - column.indexOf(true) + 1)),
  };
}

test.skipIf(!hasChromium)("each state of a cable has a shape of its own", () => {
  const shape = (row: RowName) => shapeOf(patchOf(rows, row));
  const active = shape("10G");
  expect(active).toMatchObject({ gaps: 0, lines: 1 });
  expect(active.height).toBeLessThan(5);
  const dashed = shape("inactive");
  const dotted = shape("unverified");
  expect(dashed.gaps).toBeGreaterThan(8);
  // Dots are closer to each other than dashes.
  expect(dotted.gaps).toBeGreaterThan(dashed.gaps * 1.5);
  expect(shape("conflict")).toMatchObject({ gaps: 0, lines: 2 });
  const arrow = shape("one-way");
  expect(arrow.gaps).toBe(0);
  expect(arrow.height).toBeGreaterThan(7);
});

test.skipIf(!hasChromium)("a device that is down is crossed", () => {
  /** Of the inner part of a device: the pixels that differ from the most frequent colour. */
  const signPixels = (patch: Patch) => {
    const inner = patch
      .columns()
      .slice(8, -8)
      .flatMap((column) => column.slice(8, -8));
    const [fill = inner[0]] = [...Map.groupBy(inner, String).values()]
      .toSorted((p, q) => q.length - p.length)
      .map(([colour]) => colour);
    return inner.filter((colour) => fill && difference(colour, fill) > 100).length;
  };
  expect(signPixels(patchOf(rows, "1G device"))).toBe(0);
  expect(signPixels(patchOf(rows, "down device"))).toBeGreaterThan(8);
  expect(tab.errors).toEqual([]);
});
