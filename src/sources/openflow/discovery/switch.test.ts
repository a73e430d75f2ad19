import { expect, test } from "bun:test";
import { INTERVAL_MS, MAX_CHANGES, PortDamping } from "./switch.ts";

test("up to ten changes in ten seconds are applied at once", () => {
  const damping = new PortDamping();
  for (let i = 0; i < 100; i++) expect(damping.record(i * (INTERVAL_MS / MAX_CHANGES))).toBe(true);
  expect(damping.isFlapping).toBe(false);
});

test("of each interval of a flapping port the first change is applied at once, and the last one at its end", () => {
  const damping = new PortDamping();
  const applied = Array.from({ length: 100 }, (_, i) => damping.record(i));
  expect(applied.filter(Boolean)).toHaveLength(MAX_CHANGES + 1);
  expect(damping.isFlapping).toBe(true);
  const start = MAX_CHANGES;
  expect(damping.tick(start + INTERVAL_MS - 1)).toBe(false);
  expect(damping.tick(start + INTERVAL_MS)).toBe(true);
  expect(damping.isFlapping).toBe(true);
  expect([damping.record(start + INTERVAL_MS + 1), damping.record(start + INTERVAL_MS + 2)]).toEqual([
    true,
    false,
  ]);
});

test("a port is calm after an interval with few changes, and forgotten after another one without any", () => {
  const damping = new PortDamping();
  for (let i = 0; i < 50; i++) damping.record(0);
  damping.tick(INTERVAL_MS);
  for (let i = 0; i < MAX_CHANGES; i++) damping.record(INTERVAL_MS + 1);
  expect(damping.tick(2 * INTERVAL_MS)).toBe(true);
  expect(damping.isFlapping).toBe(false);
  expect(damping.isOver(2 * INTERVAL_MS)).toBe(false);
  expect(damping.isOver(3 * INTERVAL_MS)).toBe(true);
});
