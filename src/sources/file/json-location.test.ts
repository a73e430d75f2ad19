import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { jsonPosition, type Path } from "./json-location.ts";

describe("the place of a value", () => {
  const text = `{"a": [1, {"b": "x",\n"c": {"d": null}}],\n "e]\\"": true}`;
  const cases: [Path, string][] = [
    [["a"], '"a"'],
    [["a", 0], "1"],
    [["a", 1], '{"b"'],
    [["a", 1, "b"], '"b"'],
    [["a", 1, "c", "d"], '"d"'],
    [['e]"'], '"e]'],
    // What is not there is at the nearest thing that is.
    [["a", 1, "z"], '{"b"'],
    [["a", 9], '"a"'],
    [["z"], "{"],
  ];
  for (const [path, there] of cases) {
    test(path.join("."), () => {
      const { offset, fault } = jsonPosition(text, path);
      expect(fault).toBeUndefined();
      expect(text.slice(offset).startsWith(there)).toBe(true);
    });
  }
});

describe("the place where text stops being JSON", () => {
  const cases: [string, number, RegExp][] = [
    ["", 0, /ends too early/],
    ['{"a": 1', 7, /ends too early/],
    ['{"a": }', 6, /expected a value, not }/],
    ['{"a" 1}', 5, /expected : after the key "a"/],
    ["{a: 1}", 1, /unexpected "a"/],
    ["{1: 1}", 1, /expected a key in quotes/],
    ["[1 2]", 3, /expected , or ]/],
    ["[1,]", 3, /expected a value, not ]/],
    ["[01]", 1, /unexpected "0"/],
    ["[1.]", 1, /unexpected "1"/],
    ["'a'", 0, /unexpected "'"/],
    ["nulls", 0, /unexpected "n"/],
    ['["a\nb"]', 1, /unexpected/],
    ["[] []", 3, /nothing after/],
    ["// a\n[]", 0, /unexpected "\/"/],
    ["[".repeat(100_000), 65, /nested too deeply/],
  ];
  for (const [text, offset, fault] of cases) {
    test(JSON.stringify(text.slice(0, 20)), () => {
      const position = jsonPosition(text, []);
      expect(position.fault).toMatch(fault);
      expect(position.offset).toBe(offset);
    });
  }
});

test("agrees with JSON.parse on what is JSON", () => {
  const parses = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const damaged = fc
    .tuple(fc.json({ maxDepth: 4 }), fc.nat(), fc.string({ maxLength: 2 }))
    .map(([json, at, insert]) => {
      const cut = at % (json.length + 1);
      return json.slice(0, cut) + insert + json.slice(cut);
    });
  fc.assert(
    fc.property(fc.oneof(fc.json({ maxDepth: 4 }), damaged), (text) => {
      expect(jsonPosition(text, []).fault === undefined).toBe(parses(text));
    }),
    { numRuns: 500 },
  );
});
