import { describe, expect, test } from "bun:test";
import { nextDevice } from "./hit-test.ts";

const at = (id: string, x: number, y: number) => ({ device: { id }, position: { x, y } });
const spine = at("spine", 0, 100);
const devices = [
  spine,
  at("left", -200, 0),
  at("right", 150, 0),
  at("below", 10, -300),
  at("peer", 400, 100),
];
const cables = new Set(["left", "right"]);
const next = (x: number, y: number, from = spine) =>
  nextDevice(from, devices, (id) => cables.has(id), { x, y });

describe("nextDevice", () => {
  test("prefers a device that a cable leads to over one that lies straighter", () => {
    expect(next(0, -1)).toBe("right");
  });
  test("takes any device where no cable leads in the direction", () => {
    expect(next(-1, 0)).toBe("left");
    cables.clear();
    expect(next(1, 0)).toBe("right");
    expect(next(0, -1)).toBe("below");
  });
  test("has no result where there is no device", () => {
    expect(next(0, 1)).toBeUndefined();
  });
});
