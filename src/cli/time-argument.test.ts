import { expect, test } from "bun:test";
import { momentGiven } from "./time-argument.ts";

const NOW = Date.parse("2026-11-15T03:00:00Z");
const at = (text: string) => new Date(text);

test.each([
  ["0", 0],
  ["1250", 1250],
  ["now", at("2026-11-15T03:00:00Z")],
  ["90s", at("2026-11-15T02:58:30Z")],
  ["5m", at("2026-11-15T02:55:00Z")],
  ["1.5h", at("2026-11-15T01:30:00Z")],
  ["3d", at("2026-11-12T03:00:00Z")],
  ["1w", at("2026-11-08T03:00:00Z")],
  ["2026-11-15T03:00:00+01:00", "2026-11-15T03:00:00+01:00"],
])("%s", (text, moment) => {
  expect(momentGiven(text, NOW)).toEqual(moment);
});

test.each(["", "soon", "-5m", "5 m", "5x", "999999999w", "m", "devies"])("%p is refused", (text) => {
  expect(() => momentGiven(text, NOW)).toThrow("is no moment");
});
