import { expect, test } from "bun:test";
import { DAMPING_INTERVAL_MS, MAX_CHANGES_PER_INTERVAL, PortDamping } from "./switch.ts";

test("up to ten changes in ten seconds are applied at once", () => {
  const damping = new PortDamping();
  for (let i = 0; i < 100; i++)
    expect(damping.record(i * (DAMPING_INTERVAL_MS / MAX_CHANGES_PER_INTERVAL))).toBe(true);
  expect(damping.isFlapping).toBe(false);
});

test("of each interval of a flapping port the first change is applied at once, and the last one at its end", () => {
  const damping = new PortDamping();
  const applied = Array.from({ length: 100 }, (_, i) => damping.record(i));
  expect(applied.filter(Boolean)).toHaveLength(MAX_CHANGES_PER_INTERVAL + 1);
  expect(damping.isFlapping).toBe(true);
  const start = MAX_CHANGES_PER_INTERVAL;
  expect(damping.tick(start + DAMPING_INTERVAL_MS - 1)).toBe(false);
  expect(damping.tick(start + DAMPING_INTERVAL_MS)).toBe(true);
  expect(damping.isFlapping).toBe(true);
  expect([
    damping.record(start + DAMPING_INTERVAL_MS + 1),
    damping.record(start + DAMPING_INTERVAL_MS + 2),
  ]).toEqual([true, false]);
});

test("a port is calm after an interval with few changes, and forgotten after another one without any", () => {
  const damping = new PortDamping();
  for (let i = 0; i < 50; i++) damping.record(0);
  damping.tick(DAMPING_INTERVAL_MS);
  for (let i = 0; i < MAX_CHANGES_PER_INTERVAL; i++) damping.record(DAMPING_INTERVAL_MS + 1);
  expect(damping.tick(2 * DAMPING_INTERVAL_MS)).toBe(true);
  expect(damping.isFlapping).toBe(false);
  expect(damping.isOver(2 * DAMPING_INTERVAL_MS)).toBe(false);
  expect(damping.isOver(3 * DAMPING_INTERVAL_MS)).toBe(true);
});
