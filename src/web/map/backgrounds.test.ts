import { describe, expect, test } from "bun:test";
import { titleAt } from "./backgrounds.ts";
import { createProjection } from "./geometry.ts";

const site = (index: number, left: number) => ({
  index,
  name: `site ${index}`,
  shortName: `${index}`,
  deviceIds: [`device ${index}`],
  namePrefix: "",
  left,
  right: left + 300,
  bottom: -100,
  top: 100,
});
const sites = [site(0, -400), site(1, 100)];
/** One pixel for each map unit. */
const projection = createProjection({ x: 0, y: 0, span: 800 }, 1000, 800);
const at = (x: number, y: number) => titleAt(sites, projection, { x, y })?.name;

describe("titleAt", () => {
  test("finds a site by its title, at the upper left within its rectangle", () => {
    expect(at(80, 265)).toBe("site 0");
    expect(at(580, 265)).toBe("site 1");
  });
  test("finds none between the sites, among their devices, or where a site is too narrow for a title", () => {
    expect(at(480, 265)).toBeUndefined();
    expect(at(80, 400)).toBeUndefined();
    const far = createProjection({ x: 0, y: 0, span: 8000 }, 1000, 800);
    expect(titleAt(sites, far, { x: 470, y: 385 })).toBeUndefined();
  });
});
