import { expect, test } from "bun:test";
import { DescriptorMonitor } from "./descriptor-monitor.ts";

function monitorOf(limit: number, reserves = 1) {
  const changes: string[] = [];
  /** `taken`: how many descriptors above the lowest free one are not free. */
  const state = { lowest: 10 as number | undefined, taken: 0 };
  const monitor = new DescriptorMonitor({
    limit,
    reserves,
    onChange: (change) => changes.push(change),
    lowestFree: () => state.lowest,
    areFree: (count) => count <= limit - (state.lowest ?? limit) - state.taken,
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

test("one free descriptor with a low number is not the end of an incident", () => {
  const { monitor, changes, state } = monitorOf(160);
  state.lowest = undefined;
  monitor.check();
  state.lowest = 10;
  state.taken = 149;
  expect(monitor.check()).toBe("low");
  state.taken = 118;
  expect(monitor.check()).toBe("enough");
  expect(changes).toEqual(["exhausted", "enough"]);
});

test("the limit of this process is known, and its next descriptor", () => {
  const changes: string[] = [];
  const monitor = new DescriptorMonitor({ onChange: (change) => changes.push(change) });
  expect(monitor.check()).toBe("enough");
  expect(monitor.isReserved(3)).toBe(false);
  expect(changes).toEqual([]);
});

test("a server that keeps two reserves leaves one to the others", () => {
  const { monitor, changes, state } = monitorOf(160, 2);
  expect([monitor.isReserved(127), monitor.isReserved(128)]).toEqual([false, true]);
  expect(monitor.isSocketReserved({ fd: 127 })).toBe(false);
  expect(monitor.isSocketReserved({ fd: 128 })).toBe(true);
  expect(monitor.isSocketReserved({})).toBe(false);
  state.lowest = 113;
  monitor.check();
  expect(changes).toEqual(["low"]);
  state.lowest = 112;
  monitor.check();
  expect(changes).toEqual(["low", "enough"]);
});
