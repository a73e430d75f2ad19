import { expect, test } from "bun:test";
import { JsonArrayItems } from "./json-array-items.ts";

const ITEMS = [{ a: 1 }, { b: '}"],[{\\' }, { c: [{ d: [] }], e: "\\" }, {}];
const DOCUMENT = `{"status":"success", "data":{"kind":"x","result" : [ ${ITEMS.map((item) => JSON.stringify(item)).join(" ,\n")} ]},"result":[{"no":1}]}`;

function cut(pieces: Iterable<string>): { items: unknown[]; cutter: JsonArrayItems } {
  const cutter = new JsonArrayItems("result");
  const items: unknown[] = [];
  for (const piece of pieces) for (const item of cutter.push(piece)) items.push(JSON.parse(item));
  return { items, cutter };
}

test("items are the same however the document is cut", () => {
  for (let size = 1; size <= DOCUMENT.length; size++) {
    const pieces = DOCUMENT.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
    const { items, cutter } = cut(pieces);
    expect([size, items]).toEqual([size, ITEMS]);
    expect([cutter.isComplete, cutter.isMalformed]).toEqual([true, false]);
    expect(cutter.head).toBe('{"status":"success", "data":{"kind":"x",');
  }
});

test("an empty array is complete, and a document that ends too early is not", () => {
  expect(cut(['{"result":[]}']).cutter.isComplete).toBe(true);
  for (const text of ["", "{}", '{"result":[', '{"result":[{"a":1}', '{"result":[{"a":"]'])
    expect([text, cut([text]).cutter.isComplete]).toEqual([text, false]);
});

test("items that are no objects, and texts without end, are malformed", () => {
  for (const text of ['{"result":[1]}', '{"result":["a"]}', '{"result":[null]}'])
    expect(cut([text]).cutter.isMalformed).toBe(true);
  const endless = "x".repeat(100_000);
  expect(cut([endless]).cutter.isMalformed).toBe(true);
  const { cutter } = cut(['{"result":[{"a":"', endless, endless]);
  expect(cutter.isMalformed).toBe(true);
});
