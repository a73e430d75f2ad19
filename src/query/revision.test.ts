import { expect, test } from "bun:test";
import { parseTime } from "./revision.ts";

test.each([
  ["2026-11-15T03:00:00Z", Date.UTC(2026, 10, 15, 3)],
  ["2026-11-15t03:00:00z", Date.UTC(2026, 10, 15, 3)],
  ["2026-11-15 03:00Z", Date.UTC(2026, 10, 15, 3)],
  ["2026-11-15T03:00:00.250+01:00", Date.UTC(2026, 10, 15, 2, 0, 0, 250)],
])("%s is a time", (text, time) => {
  expect(parseTime("at", text)).toBe(time);
});

test.each(["2026-11-15", "yesterday", "2026-13-15T03:00:00Z", "2026-11-15T03:00:00", ""])(
  "%s is a fault of the parameter",
  (text) => {
    expect(parseTime("from", text)).toMatchObject({ code: "bad-parameter", parameter: "from" });
  },
);

test("a + that was decoded as a space is explained", () => {
  expect(parseTime("at", "2026-11-15T03:00:00 01:00")).toMatchObject({
    detail: expect.stringContaining("%2B"),
  });
});
