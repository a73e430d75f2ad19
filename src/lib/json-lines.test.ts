import { expect, test } from "bun:test";
import { jsonLine, jsonLines } from "./json-lines.ts";

test("each complete line yields a value, however the bytes are split", async () => {
  const values = [{ a: "é\n" }, [1, "日本"], null];
  const bytes = Buffer.from(`${values.map(jsonLine).join("")}{"never":`);
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const pieces = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.subarray(at, at + size));
        controller.close();
      },
    });
    expect(await Array.fromAsync(jsonLines(pieces))).toEqual(values);
  }
});
