import { expect, test } from "bun:test";
import { parseTimeArgument } from "./operands.ts";

const NOW = Date.parse("2026-11-15T03:00:00Z");
const date = (text: string) => new Date(text);

test.each([
  ["0", 0],
  ["1250", 1250],
  ["now", date("2026-11-15T03:00:00Z")],
  ["90s", date("2026-11-15T02:58:30Z")],
  ["5m", date("2026-11-15T02:55:00Z")],
  ["1.5h", date("2026-11-15T01:30:00Z")],
  ["3d", date("2026-11-12T03:00:00Z")],
  ["1w", date("2026-11-08T03:00:00Z")],
  ["2026-11-15T03:00:00+01:00", "2026-11-15T03:00:00+01:00"],
])("%s", (text, expected) => {
  expect(parseTimeArgument(text, NOW)).toEqual(expected);
});

test.each(["", "soon", "-5m", "5 m", "5x", "999999999w", "m", "devies"])("%p is refused", (text) => {
  expect(() => parseTimeArgument(text, NOW)).toThrow("is not a point in time");
});
