import { describe, expect, test } from "bun:test";
import { until } from "../../test/support/until.ts";
import { encodedFeed } from "../api/content-encoding.ts";
import { AsyncBodySource, type BodySource, IterableBodySource, isBodySource } from "./body-source.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));
const bytes = (text: string) => Buffer.from(text);

/** Everything the feed gives, taken as an outbox takes it. */
function drain(feed: BodySource): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  return new Promise((resolve, reject) => {
    const take = () => {
      try {
        for (let piece = feed.next(); piece !== "wait"; piece = feed.next()) {
          if (piece === "end") return resolve(Buffer.concat(parts));
          parts.push(piece);
        }
      } catch (error) {
        reject(error);
      }
    };
    feed.open(take);
    take();
  });
}

test("pieces are given one by one, and made no earlier", () => {
  const made: number[] = [];
  let closed = 0;
  function* pieces() {
    try {
      for (let n = 0; n < 3; n++) {
        made.push(n);
        yield bytes(String(n));
      }
    } finally {
      closed++;
    }
  }
  const feed = new IterableBodySource(pieces());
  expect(isBodySource(feed)).toBe(true);
  expect(isBodySource(bytes("x"))).toBe(false);
  expect(String(feed.next())).toBe("0");
  expect(made).toEqual([0]);
  feed.close();
  expect(closed).toBe(1);
  expect(feed.next()).toBe("end");
});

describe("chunks that come in their own time", () => {
  test("are waited for, and end", async () => {
    const chunks = ["a", "", "b"].map(bytes).values();
    const feed = new AsyncBodySource(
      async () => chunks.next(),
      () => {},
    );
    expect(String(await drain(feed))).toBe("ab");
    expect(feed.next()).toBe("end");
  });

  test("one is asked for at a time", async () => {
    let asked = 0;
    const feed = new AsyncBodySource(
      () => {
        asked++;
        return new Promise(() => {});
      },
      () => {},
    );
    for (let n = 0; n < 5; n++) expect(feed.next()).toBe("wait");
    expect(asked).toBe(1);
  });

  test("a failure is thrown at whoever asks for more, whatever was thrown", async () => {
    const failing = (why: unknown) =>
      new AsyncBodySource(
        () => Promise.reject(why),
        () => {},
      );
    await expect(drain(failing(new Error("gone")))).rejects.toThrow("gone");
    await expect(drain(failing(undefined))).rejects.toThrow("failed");
  });

  test("closing cancels once, wakes nobody afterwards, and nobody hears of a cancel that fails", async () => {
    let cancelled = 0;
    let woken = 0;
    let arrive = (_: { done: boolean }) => {};
    const feed = new AsyncBodySource(
      () => new Promise((resolve) => (arrive = resolve)),
      () => {
        cancelled++;
        throw new Error("already gone");
      },
    );
    feed.open(() => woken++);
    feed.next();
    feed.close();
    feed.close();
    arrive({ done: true });
    await turn();
    expect({ cancelled, woken }).toEqual({ cancelled: 1, woken: 0 });
  });

  test("a reader of a web stream lets go of it while it waits", async () => {
    let cancelled = false;
    const stream = new ReadableStream<Uint8Array>({
      cancel() {
        cancelled = true;
      },
    });
    const reader = stream.getReader();
    const feed = new AsyncBodySource(
      () => reader.read(),
      () => reader.cancel(),
      true,
    );
    expect(feed.noTimeout).toBe(true);
    feed.next();
    feed.close();
    await turn();
    expect(cancelled).toBe(true);
  });
});

describe.each(["gzip", "br", "zstd", "identity"] as const)("a body in %s", (coding) => {
  test("whose source fails in the middle fails, and nothing else does", async () => {
    function* pieces() {
      yield bytes("x".repeat(100_000));
      throw new Error("history is gone");
    }
    await expect(drain(encodedFeed(pieces(), coding))).rejects.toThrow("history is gone");
  });

  test("that nobody takes to its end stops being made", async () => {
    let closed = false;
    function* pieces() {
      try {
        for (;;) yield crypto.getRandomValues(new Uint8Array(60_000));
      } finally {
        closed = true;
      }
    }
    const feed = encodedFeed(pieces(), coding);
    await new Promise<void>((resolve) => {
      feed.open(resolve);
      if (feed.next() !== "wait") resolve();
    });
    feed.close();
    await until(() => closed, { what: "the source to be let go", everyMs: 0 });
  });
});
