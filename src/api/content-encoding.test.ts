import { describe, expect, test } from "bun:test";
import { readBody } from "../../test/support/read-body.ts";
import { until } from "../../test/support/until.ts";
import { createEncodedBody } from "./content-encoding.ts";

describe.each(["gzip", "br", "zstd", "identity"] as const)("a body in %s", (encoding) => {
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
