import { describe, expect, test } from "bun:test";
import { findYamlFault, findYamlLines } from "./text-location.ts";

const host = (i: number) =>
  `  - mac: "02:00:00:00:00:${(i % 256).toString(16).padStart(2, "0")}"\n    vlan: ${i}\n`;
const hosts = (count: number) => Array.from({ length: count }, (_, i) => host(i)).join("");
/** Above the length that the slow parser reads as a whole. */
const MANY = 20_000;
const text = `# a network\ndevices:\n- id: of:1\n- id: of:2\nhosts:\n${hosts(MANY)}`;
const lines = text.split("\n").length;

describe("in a text that is too long for the parser with positions", () => {
  test("a fault at the end is found with its line", () => {
    const fault = findYamlFault(`${text}  - mac: [unclosed\n    vlan: 1\n`);
    expect(fault?.line).toBeWithin(lines, lines + 3);
    expect(fault?.message).toBeString();
  });

  test("a fault in the first list is found with its line", () => {
    expect(findYamlFault(text.replace("- id: of:2", "- {id: of:2"))?.line).toBeWithin(4, 6);
  });

  test("a value is found in any item of any list", () => {
    const paths = [
      ["hosts", MANY - 1, "vlan"],
      ["devices", 1, "id"],
      ["hosts", MANY - 1],
      ["hosts", 0, "vlan"],
    ];
    expect(findYamlLines(text, paths)).toEqual([5 + 2 * MANY, 4, 4 + 2 * MANY, 7]);
  });

  test("what cannot be narrowed has no line", () => {
    expect(findYamlFault(`hosts: [${"{mac: x}, ".repeat(100_000)}`)).toBeUndefined();
    expect(findYamlLines(text, [["links", 3]])).toEqual([undefined]);
  });
});
