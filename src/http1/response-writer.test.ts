import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../test/support/property.ts";
import type { BodySource } from "./body-source.ts";
import { ResponseWriter } from "./response-writer.ts";

/** Accepts as many bytes of each write as the script says, then everything; records them. */
class ScriptedSink {
  readonly received: Uint8Array[] = [];
  readonly #script: number[];

  constructor(script: readonly number[]) {
    this.#script = [...script];
  }

  get full(): boolean {
    return this.#last;
  }
  #last = false;

  write(bytes: Uint8Array, start = 0, length = bytes.length): number {
    const room = this.#script.shift();
    const accepted = room === undefined ? length : Math.min(room, length);
    this.received.push(bytes.slice(start, start + Math.max(0, accepted)));
    this.#last = accepted < length;
    return accepted;
  }

  get text(): string {
    return Buffer.concat(this.received).toString("latin1");
  }
}

/** Produces the given pieces, and counts reads while the sink is full: there must be none. */
class ScriptedSource implements BodySource {
  readonly noTimeout = false;
  readonly #pieces: (Uint8Array | "wait")[];
  readonly #sink: ScriptedSink;
  closeCount = 0;
  readsWhileFull = 0;
  onReadable = () => {};

  constructor(pieces: readonly (Uint8Array | "wait")[], sink: ScriptedSink) {
    this.#pieces = [...pieces];
    this.#sink = sink;
  }

  open(onReadable: () => void): void {
    this.onReadable = onReadable;
  }

  next(): Uint8Array | "wait" | "end" {
    if (this.#sink.full) this.readsWhileFull++;
    return this.#pieces.shift() ?? "end";
  }

  close(): void {
    this.closeCount++;
  }
}

const HEAD = Buffer.from("head\r\n\r\n");
const recordedCallbacks = () => {
  const events = {
    sent: 0,
    failures: [] as unknown[],
    callbacks: {
      onSent: () => {
        events.sent++;
      },
      onBodyError: (error: unknown) => {
        events.failures.push(error);
      },
    },
  };
  return events;
};

/** A decoder of chunked bodies (RFC 9112, 7.1), independent of the code under test. */
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

/** Drains the socket and feeds the body source until everything is sent. */
async function drive(writer: ResponseWriter, source: ScriptedSource, isSent: () => boolean): Promise<void> {
  for (let turns = 0; !isSent(); turns++) {
    if (turns > 10_000) throw new Error("it never ends");
    if (turns % 2 === 0) writer.flush();
    else source.onReadable();
    if (turns % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constant(new Uint8Array(0)) },
  { weight: 1, arbitrary: fc.constant("wait" as const) },
  // Around the sizes where buffers are no longer coalesced, a chunk is full, or the turn ends.
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 300_000, 1024 * 1024, 1024 * 1024 + 1)
      .map((size) => new Uint8Array(size).fill(size % 251)),
  },
);
const room = fc.oneof(fc.nat({ max: 60 }), fc.nat({ max: 700_000 }), fc.constant(-1), fc.constant(0));

test("every byte of a body source arrives, however little the socket accepts at a time", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 30 }),
      fc.array(room, { maxLength: 40 }),
      fc.boolean(),
      async (produced, script, chunked) => {
        const sink = new ScriptedSink(script);
        const events = recordedCallbacks();
        const writer = new ResponseWriter(sink, events.callbacks);
        const source = new ScriptedSource(produced, sink);
        const at = writer.send([HEAD], source, chunked);
        if (!at) await drive(writer, source, () => events.sent > 0);
        expect(events).toMatchObject({ sent: at ? 0 : 1, failures: [] });
        expect(writer.blocked).toBe(false);
        const pieces = produced.filter((piece) => piece !== "wait");
        const expected = Buffer.concat([HEAD, ...pieces]).toString("latin1");
        const text = sink.text;
        const got = chunked ? text.slice(0, HEAD.length) + dechunked(text.slice(HEAD.length)) : text;
        // Not with `expect`: it would print megabytes.
        expect(got === expected).toBe(true);
        expect(source).toMatchObject({ closeCount: 1, readsWhileFull: 0 });
        // A later flush does nothing, and the next response can be sent.
        writer.flush();
        source.onReadable();
        expect(writer.send([HEAD]) || writer.blocked).toBe(true);
        expect(events.sent).toBe(at ? 0 : 1);
      },
    ),
    { numRuns: runs(150) },
  );
});

test("parts keep their order when the socket is full", () => {
  const sink = new ScriptedSink([3, 0, 2, 5]);
  const events = recordedCallbacks();
  const writer = new ResponseWriter(sink, events.callbacks);
  expect(writer.send(["first ", "second ", "third"].map((text) => Buffer.from(text)))).toBe(false);
  expect(writer.blocked).toBe(true);
  for (let n = 0; n < 10 && events.sent === 0; n++) writer.flush();
  expect(sink.text).toBe("first second third");
  expect(events.sent).toBe(1);
});

test("a body source that fails is closed once and reported once", () => {
  const sink = new ScriptedSink([]);
  const events = recordedCallbacks();
  const writer = new ResponseWriter(sink, events.callbacks);
  let closeCount = 0;
  const source: BodySource = {
    noTimeout: false,
    open() {},
    next() {
      throw new Error("gone");
    },
    close() {
      closeCount++;
    },
  };
  expect(writer.send([HEAD], source, true)).toBe(false);
  writer.abort();
  expect(events).toMatchObject({ sent: 0, failures: [new Error("gone")] });
  expect(closeCount).toBe(1);
  // No last chunk: the client must not take the body for complete.
  expect(sink.text).toBe(HEAD.toString());
});

test("an aborted body source is closed once and never read again", () => {
  const sink = new ScriptedSink([2, 0]);
  const events = recordedCallbacks();
  const writer = new ResponseWriter(sink, events.callbacks);
  const source = new ScriptedSource([HEAD, "wait", HEAD], sink);
  writer.send([HEAD], source, true);
  writer.abort();
  writer.abort();
  writer.flush();
  source.onReadable();
  expect(source.closeCount).toBe(1);
  expect(sink.text).toBe("he");
  expect(events.sent).toBe(0);
});

test("a large body yields to other connections", async () => {
  const sink = new ScriptedSink([]);
  const events = recordedCallbacks();
  const writer = new ResponseWriter(sink, events.callbacks);
  const megabyte = new Uint8Array(1024 * 1024);
  expect(writer.send([HEAD], new ScriptedSource(Array(12).fill(megabyte), sink), false)).toBe(false);
  expect(sink.received.length).toBeLessThan(12);
  expect(writer.blocked).toBe(false);
  for (let n = 0; n < 10 && events.sent === 0; n++) await new Promise((resolve) => setImmediate(resolve));
  expect(events.sent).toBe(1);
});
