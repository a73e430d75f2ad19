import { expect, test } from "bun:test";
import { parse } from "yaml";
import { renderYaml } from "./yaml-text.ts";

test("objects, lists and texts that look like other types", () => {
  const value = {
    devices: [{ id: "of:1", port: "10", available: true, annotations: {}, vlan: "None", on: "yes" }],
  };
  expect(parse(renderYaml(value))).toEqual(value);
  expect(renderYaml(value)).toStartWith('devices:\n  - id: of:1\n    port: "10"\n');
});

test("control characters and direction marks are escaped, and parse to the same text", () => {
  const value = {
    "k\u202e": "\u001b[2J",
    mfr: "a\nb",
    hw: "x\u009by",
    sw: "\u202egnp",
    long: "word ".repeat(100),
  };
  const text = renderYaml(value);
  expect(text.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  expect(text.trimEnd().split("\n")).toHaveLength(5);
  expect(parse(text)).toEqual(value);
});

test("text that YAML 1.1 takes for a boolean or a number is quoted", () => {
  expect(renderYaml({ a: "yes", mac: "10:20:30:40:50:11" })).toBe('a: "yes"\nmac: "10:20:30:40:50:11"\n');
});

test("the same object twice is written twice", () => {
  const shared = { a: 1 };
  expect(renderYaml([shared, shared])).toBe("- a: 1\n- a: 1\n");
});
