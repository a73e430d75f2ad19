import { expect, test } from "bun:test";
import { readLines } from "./client.ts";

async function* inChunks(text: string, bytes: number): AsyncGenerator<Uint8Array> {
  const all = new TextEncoder().encode(text);
  for (let at = 0; at < all.length; at += bytes) yield all.subarray(at, at + bytes);
}

test("lines are parsed wherever a chunk ends, some at a time", async () => {
  const values = Array.from({ length: 450 }, (_, i) => ({ id: `ä${i}` }));
  const text = values.map((value) => `${JSON.stringify(value)}\n`).join("");
  for (const bytes of [61, 100_000]) {
    const batches = await Array.fromAsync(readLines<{ id: string }>(inChunks(text, bytes)));
    expect(batches.flat()).toEqual(values);
    expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(200);
  }
});

test("a line that is not JSON is an error of the protocol", async () => {
  const read = Array.fromAsync(readLines(inChunks('{"id":1}\n<html>\n', 100)));
  await expect(read).rejects.toMatchObject({ code: "protocol" });
});
