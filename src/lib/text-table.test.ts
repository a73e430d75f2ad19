import { expect, test } from "bun:test";
import fc from "fast-check";
import { compareTexts } from "./sorted.ts";
import { TextTable } from "./text-table.ts";

/** Few texts that occur again and again, of every length of an encoded character, and with unpaired surrogates. */
const text = fc.oneof(
  fc.integer({ min: 0, max: 300 }).map((n) => `text ${n}`),
  fc
    .array(
      fc.constantFrom("a", "\u0000", "\u007f", "é", "\u07ff", "\u0800", "\ud800", "\udfff", "\uffff", "🌍"),
      {
        maxLength: 4,
      },
    )
    .map((parts) => parts.join("")),
);
const step = fc.record({ op: fc.constantFrom("add", "add", "delete", "find"), text, value: fc.nat() });

test("any sequence of changes agrees with a plain map, and a text keeps its number", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 2000, size: "max" }), (steps) => {
      const table = new TextTable();
      const model = new Map<string, { number: number; value: number }>();
      for (const { op, text, value } of steps) {
        const known = model.get(text);
        expect(table.find(text)).toBe(known?.number ?? -1);
        if (op === "add") {
          const number = table.add(text);
          expect(known?.number ?? number).toBe(number);
          expect(table.value(number)).toBe(known?.value ?? 0);
          table.setValue(number, value);
          model.set(text, { number, value });
        } else if (op === "delete" && known) {
          table.delete(known.number);
          model.delete(text);
          expect(table.has(known.number)).toBe(false);
        }
        expect(table.size).toBe(model.size);
      }
      for (const [text, { number, value }] of model) {
        expect(table.text(number)).toBe(text);
        expect(table.value(number)).toBe(value);
        expect(table.has(number)).toBe(true);
      }
      const numbers = Array.from(model.values(), ({ number }) => number);
      expect([...table.numbers()].sort((a, b) => a - b)).toEqual(numbers.sort((a, b) => a - b));
    }),
  );
});

test("compares texts as strings", () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const table = new TextTable();
      expect(Math.sign(table.compare(table.add(a), table.add(b)))).toBe(compareTexts(a, b));
    }),
  );
});

test("texts that come and go take no more memory", () => {
  const table = new TextTable();
  const highest = () => Math.max(...table.numbers());
  for (let n = 0; n < 10_000; n++) table.add(`first ${n}`);
  const before = highest();
  for (let round = 0; round < 5; round++) {
    for (const number of [...table.numbers()]) table.delete(number);
    expect(table.size).toBe(0);
    for (let n = 0; n < 10_000; n++) table.add(`round ${round} ${n}`);
  }
  expect(table.size).toBe(10_000);
  expect(highest()).toBeLessThan(2 * before);
});

test("a text may be very long", () => {
  const table = new TextTable();
  const long = "é".repeat(100_000);
  const number = table.add(long);
  table.add("short");
  expect(table.text(number) === long).toBe(true);
  expect(table.find(long)).toBe(number);
});
