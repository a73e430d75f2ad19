import { expect, test } from "bun:test";
import fc from "fast-check";
import { InstanceBuffer } from "./instance-buffer.ts";

const STRIDE = 2;
const wordsOf = (value: number, count: number) =>
  Uint32Array.from({ length: count * STRIDE }, (_, i) => value * 100 + i);

test("any order of writes and deletions leaves the instances of the remaining items, without holes", () => {
  const key = fc.constantFrom("a", "b", "c", "d", "e");
  const write = fc.record({ key, value: fc.nat(9), count: fc.integer({ min: 1, max: 4 }) });
  const step = fc.oneof(write, fc.record({ key }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const buffer = new InstanceBuffer(STRIDE);
      const expected = new Map<string, Uint32Array>();
      const onGpu = new Uint32Array(1000);
      for (const one of steps) {
        if ("value" in one) {
          const words = wordsOf(one.value, one.count);
          const isSame = expected.get(one.key)?.join() === words.join();
          expect(buffer.set(one.key, words)).toBe(!isSame);
          expected.set(one.key, words);
        } else expect(buffer.delete(one.key)).toBe(expected.delete(one.key));
        buffer.flush((words, first, length) => onGpu.set(words.subarray(first, first + length), first));
        const instances = (words: Uint32Array) =>
          Array.from({ length: words.length / STRIDE }, (_, i) =>
            words.subarray(i * STRIDE, (i + 1) * STRIDE).join(),
          );
        const drawn = instances(onGpu.subarray(0, buffer.count * STRIDE)).sort();
        expect(drawn).toEqual([...expected.values()].flatMap(instances).sort());
      }
    }),
  );
});
