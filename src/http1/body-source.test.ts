import { describe, expect, test } from "bun:test";
import { readBody } from "../../test/support/read-body.ts";
import { AsyncBodySource, isBodySource } from "./body-source.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));
const bytes = (text: string) => Buffer.from(text);

test("isBodySource distinguishes a source from bytes", () => {
  const source = new AsyncBodySource(
    async () => ({ done: true }),
    () => {},
  );
  expect([isBodySource(source), isBodySource(bytes("x"))]).toEqual([true, false]);
});

describe("asynchronous chunks", () => {
  test("are waited for until the end", async () => {
    const chunks = ["a", "", "b"].map(bytes).values();
    const source = new AsyncBodySource(
      async () => chunks.next(),
      () => {},
    );
    expect(String(await readBody(source))).toBe("ab");
    expect(source.next()).toBe("end");
  });

  test("one read is pending at a time", async () => {
    let reads = 0;
    const source = new AsyncBodySource(
      () => {
        reads++;
        return new Promise(() => {});
      },
      () => {},
    );
    for (let n = 0; n < 5; n++) expect(source.next()).toBe("wait");
    expect(reads).toBe(1);
  });

  test("`next` throws the error of a failed read, whatever value it is", async () => {
    const failing = (why: unknown) =>
      new AsyncBodySource(
        () => Promise.reject(why),
        () => {},
      );
    await expect(readBody(failing(new Error("gone")))).rejects.toThrow("gone");
    await expect(readBody(failing(undefined))).rejects.toThrow("failed");
  });

  test("close cancels once, no callback follows, and an error of cancel is ignored", async () => {
    let cancelled = 0;
    let woken = 0;
    let arrive = (_: { done: boolean }) => {};
    const source = new AsyncBodySource(
      () => new Promise((resolve) => (arrive = resolve)),
      () => {
        cancelled++;
        throw new Error("already gone");
      },
    );
    source.open(() => woken++);
    source.next();
    source.close();
    source.close();
    arrive({ done: true });
    await turn();
    expect({ cancelled, woken }).toEqual({ cancelled: 1, woken: 0 });
  });

  test("a web stream is cancelled while a read is pending", async () => {
    let cancelled = false;
    const stream = new ReadableStream<Uint8Array>({
      cancel() {
        cancelled = true;
      },
    });
    const reader = stream.getReader();
    const source = new AsyncBodySource(
      () => reader.read(),
      () => reader.cancel(),
      true,
    );
    expect(source.noTimeout).toBe(true);
    source.next();
    source.close();
    await turn();
    expect(cancelled).toBe(true);
  });
});
