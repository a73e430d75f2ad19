import { expect, test } from "bun:test";
import fc from "fast-check";
import { EventScanner } from "./change-stream.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test.each([
  ["data: a\n\ndata: b\n\n", 2],
  [": ping\n\n: data: x\n\n", 0],
  ["event: data\nid: data:\n\n", 0],
  ["data: a\r\n\r\n: ping\r\r data: no\rdata:yes", 2],
  ["datum: x\ndata\ndat: \n", 0],
])("%j has %d data lines, however it is cut", (text, expected) => {
  expect(new EventScanner().push(bytes(text))).toBe(expected);
  const cuts = fc.array(fc.nat(text.length), { maxLength: 6 });
  fc.assert(
    fc.property(cuts, (positions) => {
      const scanner = new EventScanner();
      const edges = [0, ...positions.sort((a, b) => a - b), text.length];
      const parts = edges.slice(1).map((end, i) => bytes(text.slice(edges[i], end)));
      expect(parts.reduce((sum, part) => sum + scanner.push(part), 0)).toBe(expected);
    }),
  );
});
