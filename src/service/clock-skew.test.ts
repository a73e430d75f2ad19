import { expect, test } from "bun:test";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { createLogger } from "../lib/logger.ts";
import { reportClockSkew } from "./storage.ts";

test("a clock that is set back is reported once, and again when it is set back again", async () => {
  const lines: string[] = [];
  const machine = new ManualClock();
  let stored = 0;
  const clock = reportClockSkew(
    machine,
    () => stored,
    createLogger((line) => lines.push(line)),
  );
  const store = () => {
    stored = Math.max(stored, clock.now());
    return stored;
  };
  const start = store();
  await machine.advance(-500);
  expect([store(), lines.length]).toEqual([start, 0]);
  await machine.advance(-3_600_000);
  expect([store(), store(), lines.length]).toEqual([start, start, 1]);
  expect(lines[0]).toContain("the clock is behind the time of the last revision");
  expect(lines[0]).toContain("seconds=3601");
  await machine.advance(3_700_000);
  expect(store()).toBeGreaterThan(start);
  await machine.advance(-10_000);
  store();
  expect(lines).toHaveLength(2);
});
