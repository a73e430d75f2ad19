import { expect, test } from "bun:test";
import fc from "fast-check";
import { InstanceBuffer } from "./instance-layer.ts";

const STRIDE = 2;
const EVERYWHERE = { left: -1e9, right: 1e9, bottom: -1e9, top: 1e9 };
const wordsOf = (value: number, count: number) =>
  Uint32Array.from({ length: count * STRIDE }, (_, i) => value * 100 + i);

test("any order of writes and deletions leaves the instances of the remaining items, without holes", () => {
  const key = fc.constantFrom("a", "b", "c", "d", "e");
  const write = fc.record({ key, value: fc.nat(9), count: fc.integer({ min: 1, max: 4 }) });
  const step = fc.oneof(write, fc.record({ key }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const buffer = new InstanceBuffer(STRIDE, 1);
      const expected = new Map<string, Uint32Array>();
      for (const one of steps) {
        if ("value" in one) {
          const words = wordsOf(one.value, one.count);
          const isSame = expected.get(one.key)?.join() === words.join();
          expect(buffer.set(one.key, words)).toBe(!isSame);
          expected.set(one.key, words);
        } else expect(buffer.delete(one.key)).toBe(expected.delete(one.key));
        const instances = (words: Uint32Array) =>
          Array.from({ length: words.length / STRIDE }, (_, i) =>
            words.subarray(i * STRIDE, (i + 1) * STRIDE).join(),
          );
        const drawn = instances(buffer.inView(EVERYWHERE)).sort();
        expect(drawn).toEqual([...expected.values()].flatMap(instances).sort());
      }
    }),
  );
});

test("only what may be in view is drawn: nodes by their point, segments by both ends", () => {
  const view = { left: 0, right: 10, bottom: 0, top: 10 };
  const wordsAt = (...floats: number[]) => new Uint32Array(Float32Array.from(floats).buffer);
  const floatsOf = (words: Uint32Array) => [...new Float32Array(words.slice().buffer)];

  const nodes = new InstanceBuffer(3, 1);
  for (const [i, x] of [-1, 1, 2, 11, 3].entries()) nodes.set(`${i}`, wordsAt(x, 5, i));
  expect(floatsOf(nodes.inView(view))).toEqual([1, 5, 1, 2, 5, 2, 3, 5, 4]);
  expect(nodes.inView({ left: 20, right: 30, bottom: 0, top: 10 })).toHaveLength(0);

  const segments = new InstanceBuffer(4, 2);
  const through = [-5, 5, 15, 5] as const;
  segments.set("line", wordsAt(-5, 5, -1, 5, ...through, 15, 5, 15, 30));
  segments.set("above", wordsAt(-5, 11, 15, 12));
  expect(floatsOf(segments.inView(view))).toEqual([...through]);
});
