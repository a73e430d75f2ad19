import { expect, test } from "bun:test";
import { DescriptorMonitor } from "./descriptor-monitor.ts";

function monitorOf(limit: number) {
  const changes: string[] = [];
  const state = { lowest: 10 as number | undefined };
  const monitor = new DescriptorMonitor({
    limit,
    onChange: (change) => changes.push(change),
    lowestFree: () => state.lowest,
  });
  return { monitor, changes, state };
}

test("each incident is reported once, and its end once", () => {
  const { monitor, changes, state } = monitorOf(160);
  expect(monitor.check()).toBe("enough");
  expect([monitor.isReserved(143), monitor.isReserved(144), monitor.isReserved(159)]).toEqual([
    false,
    true,
    true,
  ]);
  state.lowest = undefined;
  expect(monitor.check()).toBe("exhausted");
  state.lowest = 150;
  expect(monitor.check()).toBe("low");
  expect(changes).toEqual(["low"]);
  state.lowest = 130;
  monitor.check();
  expect(changes).toEqual(["low"]);
  state.lowest = 100;
  expect(monitor.check()).toBe("enough");
  state.lowest = undefined;
  monitor.check();
  monitor.check();
  expect(changes).toEqual(["low", "enough", "exhausted"]);
});

test("the limit of this process is known, and its next descriptor", () => {
  const changes: string[] = [];
  const monitor = new DescriptorMonitor({ onChange: (change) => changes.push(change) });
  expect(monitor.check()).toBe("enough");
  expect(monitor.isReserved(3)).toBe(false);
  expect(changes).toEqual([]);
});
