import { expect, test } from "bun:test";
import fc from "fast-check";
import type { BodySource } from "./body-source.ts";
import { ResponseWriter } from "./response-writer.ts";

/** Takes as much of each write as the script says, then everything; remembers what it took. */
class Narrow {
  readonly took: Uint8Array[] = [];
  readonly #script: number[];

  constructor(script: readonly number[]) {
    this.#script = [...script];
  }

  get full(): boolean {
    return this.#last;
  }
  #last = false;

  write(bytes: Uint8Array): number {
    const room = this.#script.shift();
    const taken = room === undefined ? bytes.length : Math.min(room, bytes.length);
    this.took.push(bytes.slice(0, Math.max(0, taken)));
    this.#last = taken < bytes.length;
    return taken;
  }

  get text(): string {
    return Buffer.concat(this.took).toString("latin1");
  }
}

/** Says what it is told to, and holds whoever asks while the sink is full to account. */
class Scripted implements BodySource {
  readonly noTimeout = false;
  readonly #says: (Uint8Array | "wait")[];
  readonly #sink: Narrow;
  closed = 0;
  askedWhileFull = 0;
  more = () => {};

  constructor(says: readonly (Uint8Array | "wait")[], sink: Narrow) {
    this.#says = [...says];
    this.#sink = sink;
  }

  open(more: () => void): void {
    this.more = more;
  }

  next(): Uint8Array | "wait" | "end" {
    if (this.#sink.full) this.askedWhileFull++;
    return this.#says.shift() ?? "end";
  }

  close(): void {
    this.closed++;
  }
}

const HEAD = Buffer.from("head\r\n\r\n");
const hooks = () => {
  const heard = {
    sent: 0,
    failures: [] as unknown[],
    hooks: {
      sent: () => {
        heard.sent++;
      },
      failed: (error: unknown) => {
        heard.failures.push(error);
      },
    },
  };
  return heard;
};

/** RFC 9112, 7.1, by somebody else's hand than the code's. */
function dechunked(text: string): string {
  let body = "";
  for (let at = 0; ; ) {
    const line = /^([0-9a-f]+)\r\n/.exec(text.slice(at, at + 20));
    if (!line?.[1]) throw new Error(`no size at ${at}: ${JSON.stringify(text.slice(at, at + 20))}`);
    const size = Number.parseInt(line[1], 16);
    at += line[0].length;
    body += text.slice(at, at + size);
    at += size;
    if (text.slice(at, at + 2) !== "\r\n") throw new Error(`no end of a chunk at ${at}`);
    at += 2;
    if (size > 0) continue;
    if (at !== text.length) throw new Error(`more after the last chunk: ${JSON.stringify(text.slice(at))}`);
    return body;
  }
}

/** Plays the socket and the source of the feed until all is sent. */
async function play(outbox: ResponseWriter, feed: Scripted, isSent: () => boolean): Promise<void> {
  for (let turns = 0; !isSent(); turns++) {
    if (turns > 10_000) throw new Error("it never ends");
    if (turns % 2 === 0) outbox.flush();
    else feed.more();
    if (turns % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constant(new Uint8Array(0)) },
  { weight: 1, arbitrary: fc.constant("wait" as const) },
  // About the sizes at which bytes are no longer copied together, a chunk is full, others get their turn.
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 300_000, 1024 * 1024, 1024 * 1024 + 1)
      .map((size) => new Uint8Array(size).fill(size % 251)),
  },
);
const room = fc.oneof(fc.nat({ max: 60 }), fc.nat({ max: 700_000 }), fc.constant(-1), fc.constant(0));

test("whatever a feed gives arrives, however little the socket takes at a time", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 30 }),
      fc.array(room, { maxLength: 40 }),
      fc.boolean(),
      async (says, script, chunked) => {
        const sink = new Narrow(script);
        const heard = hooks();
        const outbox = new ResponseWriter(sink, heard.hooks);
        const feed = new Scripted(says, sink);
        const at = outbox.send([HEAD], feed, chunked);
        if (!at) await play(outbox, feed, () => heard.sent > 0);
        expect(heard).toMatchObject({ sent: at ? 0 : 1, failures: [] });
        expect(outbox.blocked).toBe(false);
        const pieces = says.filter((one) => one !== "wait");
        const expected = Buffer.concat([HEAD, ...pieces]).toString("latin1");
        const text = sink.text;
        const got = chunked ? text.slice(0, HEAD.length) + dechunked(text.slice(HEAD.length)) : text;
        // Not by `expect`: what it prints of megabytes helps nobody.
        expect(got === expected).toBe(true);
        expect(feed).toMatchObject({ closed: 1, askedWhileFull: 0 });
        // Nothing wakes it again, and it can send the next.
        outbox.flush();
        feed.more();
        expect(outbox.send([HEAD]) || outbox.blocked).toBe(true);
        expect(heard.sent).toBe(at ? 0 : 1);
      },
    ),
    { numRuns: 150 },
  );
});

test("parts that are ready keep their order when the socket is full", () => {
  const sink = new Narrow([3, 0, 2, 5]);
  const heard = hooks();
  const outbox = new ResponseWriter(sink, heard.hooks);
  expect(outbox.send(["first ", "second ", "third"].map((text) => Buffer.from(text)))).toBe(false);
  expect(outbox.blocked).toBe(true);
  for (let n = 0; n < 10 && heard.sent === 0; n++) outbox.flush();
  expect(sink.text).toBe("first second third");
  expect(heard.sent).toBe(1);
});

test("a feed that fails is closed once and told, and nothing more is said of it", () => {
  const sink = new Narrow([]);
  const heard = hooks();
  const outbox = new ResponseWriter(sink, heard.hooks);
  let closed = 0;
  const feed: BodySource = {
    noTimeout: false,
    open() {},
    next() {
      throw new Error("gone");
    },
    close() {
      closed++;
    },
  };
  expect(outbox.send([HEAD], feed, true)).toBe(false);
  outbox.abandon();
  expect(heard).toMatchObject({ sent: 0, failures: [new Error("gone")] });
  expect(closed).toBe(1);
  // No last chunk: whoever reads must not take it for whole.
  expect(sink.text).toBe(HEAD.toString());
});

test("what is abandoned is closed once and never asked again", () => {
  const sink = new Narrow([2, 0]);
  const heard = hooks();
  const outbox = new ResponseWriter(sink, heard.hooks);
  const feed = new Scripted([HEAD, "wait", HEAD], sink);
  outbox.send([HEAD], feed, true);
  outbox.abandon();
  outbox.abandon();
  outbox.flush();
  feed.more();
  expect(feed.closed).toBe(1);
  expect(sink.text).toBe("he");
  expect(heard.sent).toBe(0);
});

test("one that has much to give lets others have their turn", async () => {
  const sink = new Narrow([]);
  const heard = hooks();
  const outbox = new ResponseWriter(sink, heard.hooks);
  const megabyte = new Uint8Array(1024 * 1024);
  expect(outbox.send([HEAD], new Scripted(Array(12).fill(megabyte), sink), false)).toBe(false);
  expect(sink.took.length).toBeLessThan(12);
  expect(outbox.blocked).toBe(false);
  for (let n = 0; n < 10 && heard.sent === 0; n++) await new Promise((resolve) => setImmediate(resolve));
  expect(heard.sent).toBe(1);
});
