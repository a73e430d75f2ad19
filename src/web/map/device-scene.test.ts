import { expect, test } from "bun:test";
import { sampleNetwork } from "../../../test/support/page-network.ts";
import { finish, sceneInput } from "../../../test/support/scene-input.ts";
import { DeviceScene } from "./device-scene.ts";
import { DeviceLabels } from "./labels.ts";

test("the label of a device that is down has the present number of devices that it cuts off", () => {
  const first = sceneInput(sampleNetwork());
  const [scene, labels] = [new DeviceScene(), new DeviceLabels()];
  /** The devices that are drawn again, and the text below the name of `d`, which is down. */
  const update = (cutOffCount: number) => {
    const causes = { devices: new Map([["d", cutOffCount]]), cables: new Set<string>() };
    const input = { ...first, causes };
    const changes = finish(scene.update(input));
    finish(labels.update(scene, changes, input));
    return [[...changes.devices], labels.sorted.find(({ nodeId }) => nodeId === "d")?.detail];
  };
  expect(update(3)).toEqual([["a", "b", "c", "d"], "cuts off 3"]);
  expect(update(5)).toEqual([["d"], "cuts off 5"]);
  expect(update(5)).toEqual([[], "cuts off 5"]);
  // It always cuts off itself.
  expect(update(1)).toEqual([["d"], ""]);
});
