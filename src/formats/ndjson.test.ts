import { expect, test } from "bun:test";
import fc from "fast-check";
import { hostileGraph } from "../../test/support/sample-network.ts";
import { renderNdjson, renderNdjsonLines } from "./ndjson.ts";

const text = (chunks: Iterable<string>) => [...chunks].join("");

test("one line a value, each ended by a line feed, nothing for nothing", () => {
  expect(text(renderNdjson([{ a: 1 }, { b: "x\ny" }]))).toBe('{"a":1}\n{"b":"x\\ny"}\n');
  expect(text(renderNdjson([]))).toBe("");
  expect(text(renderNdjsonLines(['{"id":"1"}', '{"id":"2"}']))).toBe('{"id":"1"}\n{"id":"2"}\n');
});

test("lines parse back to what went in", () => {
  const { devices } = hostileGraph();
  const lines = text(renderNdjson(devices)).trimEnd().split("\n");
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual([...devices]);
  fc.assert(
    fc.property(fc.array(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue())), (values) => {
      const out = text(renderNdjson(values)).split("\n");
      expect(out.pop()).toBe("");
      expect(out).toEqual(values.map((value) => JSON.stringify(value)));
    }),
  );
});

test("a long list comes in chunks, and is pulled only as it is read", () => {
  let pulled = 0;
  const endless = (function* () {
    for (;;) yield `{"n":${pulled++}}`;
  })();
  const first = renderNdjsonLines(endless)[Symbol.iterator]().next();
  expect(first.value?.length).toBeGreaterThan(60_000);
  expect(pulled).toBeLessThan(20_000);
});
