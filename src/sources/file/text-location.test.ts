import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../../test/support/property.ts";
import { type FieldPath, findJsonFault, findJsonLines } from "./text-location.ts";

const findJsonLine = (text: string, path: FieldPath) => findJsonLines(text, [path])[0];

describe("findJsonLines finds the line of a value", () => {
  const text = `{
    "a": [
      1,
      {
        "b": "x",
        "c": {
          "d": null
        }
      }
    ],
    "e]\\"": true
  }`;
  const cases: [FieldPath, number][] = [
    [["a"], 2],
    [["a", 0], 3],
    [["a", 1], 4],
    [["a", 1, "b"], 5],
    [["a", 1, "c", "d"], 7],
    [['e]"'], 11],
  ];
  for (const [path, line] of cases) {
    test(path.join("."), () => expect(findJsonLine(text, path)).toBe(line));
  }

  const missing: [FieldPath, number][] = [
    [["a", 1, "z"], 4],
    [["a", 1, "b", "z"], 5],
    [["a", 9], 2],
    [["z"], 1],
  ];
  for (const [path, line] of missing) {
    test(`${path.join(".")} is missing: the line of its nearest ancestor`, () => {
      expect(findJsonLine(text, path)).toBe(line);
    });
  }

  test("of several paths at once, also of one that continues another", () => {
    const paths = [...cases, ...missing];
    expect(
      findJsonLines(
        text,
        paths.map(([path]) => path),
      ),
    ).toEqual(paths.map(([, line]) => line));
  });

  test("of a repeated key the last one, which JSON.parse uses", () => {
    expect(findJsonLine('{"a": [1],\n"a": [\n2]}', ["a", 0])).toBe(3);
    expect(findJsonLine('{"a": [1],\n"a": []}', ["a", 0])).toBe(2);
  });

  test("behind values that are nested too deeply for the parser", () => {
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    expect(findJsonLine(`{"a": 1,\n"b": ${deep},\n"c": 2}`, ["b", 0])).toBe(2);
  });
});

describe("findJsonFault finds the line and the reason", () => {
  const cases: [string, number, RegExp][] = [
    ["", 1, /ends too early/],
    ['{"a": 1', 1, /ends too early/],
    ['{"a": [\n1,\n\n', 2, /ends too early/],
    ['{\n"a": }', 2, /expected a value, not }/],
    ['{"a"\n1}', 2, /expected : after the key "a"/],
    ["{\na: 1}", 2, /unexpected a/],
    ["{1: 1}", 1, /expected a key in quotes, not 1/],
    ['{"a": 1,\n}', 2, /expected a key in quotes, not }/],
    ["[1\n2]", 2, /expected , or ], not 2/],
    ['{"a": 1\n"b": 2}', 2, /expected , or }, not "b"/],
    ["[1,\n]", 2, /expected a value, not ]/],
    ["[\n01]", 2, /expected , or ], not 1/],
    ["[\n1.]", 2, /unexpected 1\./],
    ["\n'a'", 2, /unexpected 'a'/],
    ["nulls", 1, /unexpected nulls/],
    ['[\n"a\nb"]', 2, /a string without its closing quote/],
    ['["\\x"]', 1, /unexpected "\\x"/],
    ["[]\n[]", 2, /expected nothing after the value/],
    ["[] // a\n", 1, /comments are not allowed/],
    ["// a\n[]", 1, /comments are not allowed/],
    ["[".repeat(100_000), 1, /is nested too deeply/],
  ];
  for (const [text, line, message] of cases) {
    test(JSON.stringify(text.slice(0, 20)), () => {
      const fault = findJsonFault(text);
      expect(fault?.message).toMatch(message);
      expect(fault?.line).toBe(line);
    });
  }

  test("exactly in the texts that JSON.parse rejects", () => {
    const isJson = (text: string): boolean => {
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
        expect(findJsonFault(text) === undefined).toBe(isJson(text));
      }),
      { numRuns: runs(500) },
    );
  });
});
