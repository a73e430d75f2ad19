import { expect, test } from "bun:test";
import { parseTypedMoment } from "./comparison.tsx";

const NOW = new Date(2026, 10, 16, 8, 30, 0);
const at = (text: string) => {
  const parsed = parseTypedMoment(text, NOW);
  return parsed.ok ? parsed.at : "fault";
};
const local = (...parts: [number, number, number, number?, number?, number?]) =>
  new Date(...parts).toISOString().replace(".000Z", "Z");

test.each([
  ["", undefined],
  [" Now ", undefined],
  ["17", "17"],
  ["8:05", local(2026, 10, 16, 8, 5)],
  ["08:05:30", local(2026, 10, 16, 8, 5, 30)],
  ["23:15", local(2026, 10, 15, 23, 15)],
  ["2026-11-01", local(2026, 10, 1)],
  ["2026-11-01 07:08", local(2026, 10, 1, 7, 8)],
  ["2026-11-01T07:08:09Z", "2026-11-01T07:08:09Z"],
  ["2026-11-01 07:08:09.5 +01:00", "2026-11-01T06:08:09.500Z"],
])("%p is the moment %p", (text, expected) => expect(at(text)).toBe(expected));

test.each(["yesterday", "25:00", "8:60", "2026-13-01", "2026-11-01 7:08", "-3", "1.5"])(
  "%p is no moment",
  (text) => expect(at(text)).toBe("fault"),
);
