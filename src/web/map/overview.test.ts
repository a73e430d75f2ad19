import { expect, test } from "bun:test";
import { sampleNetwork } from "../../../test/support/page-network.ts";
import { finish, sceneInput } from "../../../test/support/scene-input.ts";
import { DEFAULT_STATE } from "../data/view-state.ts";
import { DeviceScene, type SceneInput } from "./device-scene.ts";
import { createHighlights } from "./highlights.ts";
import { hasDeviceInView, insetAreas } from "./overview.ts";
import type { Mark } from "./style.ts";

/** The devices `a` to `d` at x 0, 100, 200 and 300, of which `d` is down. */
function sceneOf(more: Partial<SceneInput> = {}, network = sampleNetwork()): DeviceScene {
  const scene = new DeviceScene();
  finish(scene.update(sceneInput(network, more)));
  return scene;
}

test("the inset shows what is down, cut off and only planned", () => {
  const network = sampleNetwork();
  network.setCutOff(new Set(["c"]));
  const marks = { devices: new Map<string, Mark>([["a", "missing"]]), cables: new Map(), word: "" };
  const highlights = createHighlights(network, DEFAULT_STATE, marks);
  const areas = insetAreas(new Map(), sceneOf({ highlights }, network).devices, []);
  expect(areas.map(({ tone }) => tone)).toEqual(["dimmed", "node", "warning", "down"]);
});

test("the list of areas is the same until one of them changes", () => {
  const { devices } = sceneOf();
  const areas = insetAreas(new Map(), devices, []);
  expect(insetAreas(new Map(), new Map(devices), areas)).toBe(areas);
  const network = sampleNetwork();
  network.setCutOff(new Set(["c"]));
  expect(insetAreas(new Map(), sceneOf({}, network).devices, areas)).not.toBe(areas);
  const moved = new Map(
    [...devices].map(([id, item]) => [id, { ...item, position: { ...item.position, y: 1 } }]),
  );
  expect(insetAreas(new Map(), moved, areas)).not.toBe(areas);
  expect(insetAreas(new Map(), new Map([...devices].slice(1)), areas)).not.toBe(areas);
});

test("a view is empty where no device is drawn", () => {
  const network = sampleNetwork();
  const highlights = createHighlights(network, { ...DEFAULT_STATE, around: "a", hops: 1 }, undefined);
  const [all, near] = [sceneOf(), sceneOf({ highlights }, network)];
  const view = (left: number, right: number) => ({ left, right, bottom: -10, top: 10 });
  expect(hasDeviceInView(all, view(190, 310))).toBe(true);
  expect(hasDeviceInView(near, view(190, 310))).toBe(false);
  expect(hasDeviceInView(near, view(90, 310))).toBe(true);
  expect(hasDeviceInView(all, view(110, 190))).toBe(false);
  expect(hasDeviceInView(all, { ...view(0, 310), bottom: 5 })).toBe(false);
});
