import { expect, test } from "bun:test";
import fc from "fast-check";
import { hostileGraph } from "../../test/support/sample-network.ts";
import { joinIntoChunks } from "./chunks.ts";
import { renderNdjson } from "./formats.ts";

const render = (values: Iterable<object>) =>
  [...renderNdjson([...values].map((value) => JSON.stringify(value)))].join("");

test("one line a value, each ended by a line feed; no values give an empty text", () => {
  expect(render([{ a: 1 }, { b: "x\ny" }])).toBe('{"a":1}\n{"b":"x\\ny"}\n');
  expect(render([])).toBe("");
  expect([...renderNdjson(['{"id":"1"}', '{"id":"2"}'])].join("")).toBe('{"id":"1"}\n{"id":"2"}\n');
});

test("parsing the lines returns the values", () => {
  const { devices } = hostileGraph();
  const lines = render(devices).trimEnd().split("\n");
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual([...devices]);
  fc.assert(
    fc.property(fc.array(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue())), (values) => {
      const rendered = render(values).split("\n");
      expect(rendered.pop()).toBe("");
      expect(rendered).toEqual(values.map((value) => JSON.stringify(value)));
    }),
  );
});

test("a long list is rendered in chunks and pulled only as it is read", () => {
  let pulled = 0;
  const endless = (function* () {
    for (;;) yield `{"n":${pulled++}}`;
  })();
  const first = joinIntoChunks(renderNdjson(endless))[Symbol.iterator]().next();
  expect(first.value?.length).toBeGreaterThan(60_000);
  expect(pulled).toBeLessThan(20_000);
});
