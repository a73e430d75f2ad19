import { describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { readBody } from "../../../test/support/read-body.ts";
import { until } from "../../../test/support/until.ts";
import { uncountedMemory } from "../../lib/memory-budget.ts";
import { Scheduler } from "../../lib/scheduler.ts";
import type { Paced } from "../../lib/steps.ts";
import type { ContentEncoding } from "../endpoints/negotiate.ts";
import { BodyProducer } from "./body-producer.ts";
import { createEncodedBody as encodeBody } from "./content-encoding.ts";

const createEncodedBody = (chunks: Paced<Uint8Array>, encoding: ContentEncoding) =>
  encodeBody(
    new BodyProducer({ scheduler: new Scheduler(), owner: "user:test", memory: uncountedMemory() }, chunks),
    encoding,
  );

function decode(
  bytes: Uint8Array,
  encoding: ContentEncoding,
): Uint8Array & { equals(other: Uint8Array): boolean } {
  switch (encoding) {
    case "gzip":
      return gunzipSync(bytes);
    case "br":
      return brotliDecompressSync(bytes);
    case "zstd":
      return Bun.zstdDecompressSync(bytes);
    case "identity":
      return Buffer.from(bytes);
  }
}

describe.each(["gzip", "br", "zstd", "identity"] as const)("a body in %s", (encoding) => {
  test("has the bytes of its source, whose pauses do not show", async () => {
    const chunks = Array.from({ length: 40 }, (_, i) => Buffer.alloc(50_000, `chunk ${i}`));
    const paced = chunks.flatMap((chunk) => [undefined, chunk, undefined]);
    const encoded = await readBody(createEncodedBody(paced, encoding));
    expect(decode(encoded, encoding).equals(Buffer.concat(chunks))).toBe(true);
  });

  test("an error of the source in the middle fails this body only", async () => {
    function* chunks() {
      yield Buffer.from("x".repeat(100_000));
      throw new Error("history is gone");
    }
    await expect(readBody(createEncodedBody(chunks(), encoding))).rejects.toThrow("history is gone");
  });

  test("a body that is closed early is not produced any further", async () => {
    let closed = false;
    function* chunks() {
      try {
        for (;;) yield crypto.getRandomValues(new Uint8Array(60_000));
      } finally {
        closed = true;
      }
    }
    const source = createEncodedBody(chunks(), encoding);
    await new Promise<void>((resolve) => {
      source.open(resolve);
      if (source.next() !== "wait") resolve();
    });
    source.close();
    await until(() => closed, { what: "the source to be closed", everyMs: 0 });
  });
});
