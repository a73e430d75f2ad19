import { describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { isBodySource } from "../../http1/body-source.ts";
import { serializeTimedHead } from "../../http1/serialized-response.ts";
import { MemoryBudget, uncountedMemory } from "../../lib/memory-budget.ts";
import { Scheduler } from "../../lib/scheduler.ts";
import { isSteps, resultOf, type Steps } from "../../lib/steps.ts";
import { BodyRenderer } from "./body-renderer.ts";
import { sizeOf } from "./chunks.ts";
import type { Content, Representation, RepresentationInfo } from "./representation.ts";

const SCOPE = { scheduler: new Scheduler(), owner: "user:test", memory: uncountedMemory() };

const createRenderer = (logId = "log", serviceVersion = "1.0") =>
  new BodyRenderer({ logId, serviceVersion, signingKey: new Uint8Array(32) });

const PAGE = Buffer.alloc(20_000, "x");

function createRepresentation(options: Partial<RepresentationInfo> = {}, content?: () => Content) {
  const rendered = { count: 0 };
  const representation: Representation = {
    info: {
      key: "key",
      version: 1,
      tagVersion: options.version ?? 1,
      revision: 1,
      contentType: "text/plain",
      ...options,
    },
    *render(): Steps<Content> {
      rendered.count++;
      yield;
      return content?.() ?? { chunks: [PAGE, undefined, PAGE], persistent: true, length: 2 * PAGE.length };
    },
  };
  return { representation, rendered };
}

/** The same representation of other data. */
const changed = (representation: Representation, info: Partial<RepresentationInfo>): Representation => ({
  info: {
    ...representation.info,
    ...info,
    ...(representation.info.tagVersion !== undefined && { tagVersion: info.version }),
  },
  render: () => representation.render(),
});

const respond = (
  renderer: BodyRenderer,
  representation: Representation,
  acceptEncoding: string | null,
  ifNoneMatch: string | null = null,
  memory = SCOPE.memory,
) => renderer.respond(representation, { acceptEncoding, ifNoneMatch }, { ...SCOPE, memory });

const render = async (...request: Parameters<typeof respond>) => {
  const response = respond(...request);
  return isSteps(response) ? SCOPE.scheduler.run(SCOPE.owner, response) : response;
};

/** The tag of the response without compression. */
const tagOf = (renderer: BodyRenderer, representation: Representation) =>
  resultOf(respond(renderer, representation, null)).headers.ETag ?? "";

test("the lines of the headers are those of their names and values", async () => {
  const { representation } = createRepresentation();
  const renderer = createRenderer();
  const head = (status: number, headers: Readonly<Record<string, string>>) =>
    serializeTimedHead(status, headers, 0);
  const full = await render(renderer, representation, null);
  const encoded = await render(renderer, representation, "gzip");
  const unmodified = await render(renderer, representation, null, full.headers.ETag);
  expect([full, encoded, unmodified].map(({ status }) => status)).toEqual([200, 200, 304]);
  for (const { status, headers } of [full, encoded, unmodified])
    expect(head(status, headers)).toBe(head(status, { ...headers }));
});

describe("a body", () => {
  test("is rendered once for each version and encoding", async () => {
    const renderer = createRenderer();
    const { representation, rendered } = createRepresentation();
    const identity = await render(renderer, representation, null);
    expect((await render(renderer, representation, null)).body).toBe(identity.body);
    expect(rendered.count).toBe(1);
    await render(renderer, representation, "zstd");
    expect(rendered.count).toBe(2);
    await render(renderer, changed(representation, { version: 2 }), null);
    expect(rendered.count).toBe(3);
  });

  test("in gzip is one member made of the compressed chunks", async () => {
    const { representation } = createRepresentation();
    const { body } = await render(createRenderer(), representation, "gzip");
    if (!(body instanceof Uint8Array)) throw new Error("not bytes");
    expect(gunzipSync(body)).toEqual(Buffer.concat([PAGE, PAGE]));
  });

  test("above 1 MiB is a source with its length, and is neither rendered whole nor cached", async () => {
    const renderer = createRenderer();
    const count = 1000;
    let produced = 0;
    function* chunks() {
      for (let i = 0; i < count; i++) {
        produced++;
        yield PAGE;
      }
    }
    const { representation, rendered } = createRepresentation({}, () => ({
      chunks: chunks(),
      length: count * PAGE.length,
    }));
    for (let i = 1; i <= 2; i++) {
      const { body, headers } = await render(renderer, representation, null);
      expect(body !== null && typeof body === "object" && isBodySource(body)).toBe(true);
      expect(headers["Content-Length"]).toBe(String(count * PAGE.length));
      expect(produced / i).toBe(Math.ceil((1024 * 1024) / PAGE.length));
    }
    expect(rendered.count).toBe(2);
  });

  const pagesOf = (bytes: number) => Array.from({ length: Math.ceil(bytes / PAGE.length) }, () => PAGE);
  const MiB = 1024 * 1024;

  test("of pages is joined once for all who wait for it", () => {
    const renderer = createRenderer();
    const chunks = pagesOf(8 * MiB - PAGE.length);
    const { representation } = createRepresentation({}, () => ({ chunks, persistent: true }));
    const readers = [1, 2].map(() => {
      const steps = respond(renderer, representation, null);
      if (!isSteps(steps)) throw new Error("it takes no steps");
      expect(steps.next().done).toBe(false);
      return steps;
    });
    const [first, second] = readers.map((steps) => resultOf(steps).body);
    expect(first instanceof Uint8Array && Buffer.concat(chunks).equals(first)).toBe(true);
    expect(second).toBe(first ?? null);
  });

  test("of pages counts for its readers only while no cache has it", async () => {
    const renderer = createRenderer();
    const content = () => ({ chunks: pagesOf(7 * MiB), persistent: true });
    const bodyOf = async (key: string) =>
      (await render(renderer, createRepresentation({ key }, content).representation, null)).shared;
    const first = await bodyOf("0");
    expect(first?.heldBytes).toBe(0);
    for (let i = 1; i <= 13; i++) await bodyOf(String(i));
    expect(first?.heldBytes).toBeGreaterThan(7 * MiB);
  });

  test("of pages is not joined while the user's readers hold many former versions, and nobody is refused", async () => {
    const renderer = createRenderer();
    const budget = new MemoryBudget({ responseBytes: 256 * MiB, responseBytesPerUser: 64 * MiB });
    const chunks = pagesOf(5 * MiB);
    const kinds: string[] = [];
    for (let version = 1; version <= 40; version++) {
      const memory = budget.account("ann");
      const info = { key: "hosts", version };
      const { representation } = createRepresentation(info, () => ({ chunks, persistent: true }));
      const { body, headers } = await render(renderer, representation, null, null, memory);
      kinds.push(body instanceof Uint8Array ? "joined" : "as they lie");
      if (!(body instanceof Uint8Array)) expect(headers["Content-Length"]).toBe(String(sizeOf(chunks)));
      // Nobody reads on: the responses stay.
      memory.open();
      expect(budget.admits("ann")).toBe(true);
    }
    expect(kinds.slice(0, 6)).toEqual(Array(6).fill("joined"));
    expect(kinds.slice(8)).toEqual(Array(32).fill("as they lie"));
  });

  test("of pages above 8 MiB is sent from where they are, 1 MiB at a time, and costs its client nothing", async () => {
    const memory = uncountedMemory();
    memory.open();
    let counted = 0;
    memory.add = (bytes) => {
      counted += bytes;
    };
    const chunks = [Buffer.from("["), ...pagesOf(25 * MiB), Buffer.from("]")];
    const { representation } = createRepresentation({}, () => ({ chunks, persistent: true }));
    const { body } = await render(createRenderer(), representation, null, null, memory);
    if (body === null || typeof body !== "object" || !isBodySource(body)) throw new Error("not a source");
    const sent: Uint8Array[] = [];
    const read = { turns: 0 };
    await new Promise<void>((resolve) => {
      const readOn = () => {
        for (let next = body.next(); next !== "wait"; next = body.next()) {
          if (next === "end") return resolve();
          sent.push(next);
        }
        read.turns++;
      };
      body.open(readOn);
      readOn();
    });
    expect(Buffer.concat(sent).equals(Buffer.concat(chunks))).toBe(true);
    expect(sent.filter((part) => part === PAGE).length).toBe(chunks.length - 2);
    expect(counted).toBe(0);
    expect(read.turns).toBeLessThanOrEqual(26);
  });
});

test("a condition that matches gets 304 without rendering", async () => {
  const renderer = createRenderer();
  const { representation, rendered } = createRepresentation();
  const { headers } = await render(createRenderer(), representation, "gzip");
  rendered.count = 0;
  expect((await render(renderer, representation, "gzip", `"other", W/${headers.ETag}`)).status).toBe(304);
  expect(rendered.count).toBe(0);
  expect((await render(renderer, representation, "gzip", '"other"')).status).toBe(200);
});

test("the entity tag depends on log, service version, key, version and encoding", async () => {
  const { representation } = createRepresentation();
  const etag = async (
    logId: string,
    serviceVersion: string,
    info: Partial<RepresentationInfo>,
    encoding = "gzip",
  ) =>
    (await render(createRenderer(logId, serviceVersion), changed(representation, info), encoding)).headers
      .ETag;
  const etags = await Promise.all([
    etag("log", "1.0", {}),
    etag("other", "1.0", {}),
    etag("log", "1.1", {}),
    etag("log", "1.0", { key: "other" }),
    etag("log", "1.0", { version: 2 }),
    etag("log", "1.0", {}, "identity"),
  ]);
  expect(new Set(etags).size).toBe(etags.length);
  expect(await etag("log", "1.0", {})).toBe(await etag("log", "1.0", {}));
});

describe("the entity tag of content", () => {
  const createContent = (text: { value: string }, headers?: Record<string, string>) =>
    createRepresentation({ tagVersion: undefined }, () => ({
      chunks: text.value,
      ...(headers && { headers }),
    }));

  test("changes with the bytes and not with the version", () => {
    const renderer = createRenderer();
    const text = { value: "a" };
    const { representation } = createContent(text);
    const etag = (version: number) => tagOf(renderer, changed(representation, { version }));
    const first = etag(1);
    expect(etag(2)).toBe(first);
    text.value = "b";
    expect(etag(2)).toBe(first); // the same version means the same bytes
    expect(etag(3)).not.toBe(first);
    text.value = "a";
    expect(etag(4)).toBe(first);
  });

  test("of unchanged data is remembered, so that a 304 renders nothing", async () => {
    const renderer = createRenderer();
    const { representation, rendered } = createRepresentation({ tagVersion: undefined });
    const etag = tagOf(renderer, representation);
    expect(rendered.count).toBe(1);
    expect((await render(renderer, representation, null, etag)).status).toBe(304);
    expect(rendered.count).toBe(1);
  });

  test("does not render a second time for the body", async () => {
    const { representation, rendered } = createRepresentation({ tagVersion: undefined });
    const { body } = await render(createRenderer(), representation, null);
    expect([body, rendered.count]).toEqual([Buffer.concat([PAGE, PAGE]), 1]);
  });

  test("new data with the same bytes reuses the encoded body", async () => {
    const renderer = createRenderer();
    const { representation } = createRepresentation({ tagVersion: undefined });
    const first = await render(renderer, representation, null);
    const second = await render(renderer, changed(representation, { version: 2 }), null);
    expect(second.body).toBe(first.body);
  });

  test("differs where only a header differs", () => {
    const etag = (Link: string) =>
      tagOf(createRenderer(), createContent({ value: "a" }, { Link }).representation);
    expect(etag("<a>")).not.toBe(etag("<b>"));
    expect(etag("<a>")).toBe(etag("<a>"));
  });

  test.each<[string, Content["chunks"]]>([
    ["a text", "x".repeat(70_000)],
    ["chunks", [PAGE, PAGE, PAGE, PAGE]],
  ])("above 64 kB (%s) is the version, and the body is complete", async (_, chunks) => {
    const renderer = createRenderer();
    const { representation } = createRepresentation({ tagVersion: undefined }, () => ({ chunks }));
    const etags = [1, 1, 2].map((version) => tagOf(renderer, changed(representation, { version })));
    expect(new Set(etags).size).toBe(2);
    const { body } = await render(renderer, changed(representation, { version: 3 }), null);
    if (typeof body !== "string" && !(body instanceof Uint8Array)) throw new Error("not buffered");
    expect(body.length).toBe(typeof chunks === "string" ? chunks.length : 4 * PAGE.length);
  });
});
