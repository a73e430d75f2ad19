/** What is fitted is not below the tools that lie over the map, and is in the middle where none is in its way. */
import { describe, expect, test } from "bun:test";
import { type Fit, type PixelArea, UncoveredSpace } from "./uncovered-space.ts";

const PHONE = { width: 390, height: 560 };
/** A column of tools at the lower right, and a line of text at the lower left. */
const TOOLS: PixelArea = { left: 332, top: 250, right: 378, bottom: 548 };
const SUMMARY: PixelArea = { left: 14, top: 530, right: 200, bottom: 550 };

function shown({ area, scale }: Fit, { width, height }: { width: number; height: number }): PixelArea {
  const [x, y] = [(area.left + area.right) / 2, (area.top + area.bottom) / 2];
  const [dx, dy] = [(width * scale) / 2, (height * scale) / 2];
  return { left: x - dx, right: x + dx, top: y - dy, bottom: y + dy };
}

const overlap = (p: PixelArea, q: PixelArea): boolean =>
  p.left < q.right && q.left < p.right && p.top < q.bottom && q.top < p.bottom;

describe("what is fitted", () => {
  test.each([
    ["wide", { width: 1000, height: 300 }],
    ["high", { width: 300, height: 1500 }],
    ["square", { width: 800, height: 800 }],
  ])("%s: is inside the map and below nothing", (_, size) => {
    const area = shown(new UncoveredSpace(PHONE, [TOOLS, SUMMARY]).fit(size, 2), size);
    for (const cover of [TOOLS, SUMMARY]) expect(overlap(area, cover)).toBe(false);
    expect(Math.min(area.left, area.top)).toBeGreaterThanOrEqual(0);
    expect(area.right).toBeLessThanOrEqual(PHONE.width);
    expect(area.bottom).toBeLessThanOrEqual(PHONE.height);
  });

  test("has the part in which it is largest: above the tools or beside them", () => {
    const space = new UncoveredSpace(PHONE, [TOOLS]);
    expect(space.fit({ width: 1000, height: 100 }, 2).area.right).toBe(PHONE.width);
    expect(space.fit({ width: 600, height: 1000 }, 2).area).toMatchObject({ right: TOOLS.left, bottom: 560 });
  });

  test("is in the middle of the map where nothing is in its way", () => {
    const whole = { left: 0, top: 0, right: 390, bottom: 560 };
    expect(new UncoveredSpace(PHONE, [TOOLS]).fit({ width: 100, height: 100 }, 1)).toEqual({
      area: whole,
      scale: 1,
    });
    expect(new UncoveredSpace(PHONE, []).fit({ width: 1000, height: 1000 }, 1).area).toEqual(whole);
  });

  test("has the whole map when too little of it is free", () => {
    const cover = { left: 20, top: 20, right: 370, bottom: 540 };
    expect(new UncoveredSpace(PHONE, [cover]).fit({ width: 900, height: 900 }, 1).area).toMatchObject({
      right: 390,
    });
  });
});
