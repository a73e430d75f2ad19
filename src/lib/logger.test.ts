import { expect, test } from "bun:test";
import { createLogger } from "./logger.ts";

const HOSTILE = { name: 'a" b\n\u2028\u0085', count: 3, isNew: true, missing: undefined };

test("text has one line for each event; values cannot end it", () => {
  const lines: string[] = [];
  createLogger((line) => lines.push(line), "text", { reader: 2 }).warn("learned", HOSTILE);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^\S+Z warn learned name="a\\" b\\n\?\?" count=3 isNew=true reader=2\n$/);
});

test("JSON has the same fields with their types, in printable characters", () => {
  const lines: string[] = [];
  createLogger((line) => lines.push(line), "json", { reader: 2 }).audit("login", HOSTILE);
  expect(lines[0]).toEndWith("\n");
  expect(lines[0]?.slice(0, -1)).toMatch(/^[\x20-\x7e]*$/);
  const { time, ...fields } = JSON.parse(lines[0] ?? "");
  expect(new Date(time).toISOString()).toBe(time);
  expect(fields).toEqual({
    level: "audit",
    event: "login",
    name: 'a" b\n\u2028\u0085',
    count: 3,
    isNew: true,
    reader: 2,
  });
});
