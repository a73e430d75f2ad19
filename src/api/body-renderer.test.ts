import { describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { isBodySource } from "../http1/body-source.ts";
import { BodyRenderer, conditionalResponse } from "./body-renderer.ts";
import type { Content, Representation } from "./representation.ts";

const createRenderer = (logId = "log", serviceVersion = "1.0") =>
  new BodyRenderer({ logId, serviceVersion, signingKey: new Uint8Array(32) });

const PAGE = Buffer.alloc(20_000, "x");

function createRepresentation(options: Partial<Representation> = {}) {
  const rendered = { count: 0 };
  const representation: Representation = {
    key: "key",
    version: 1,
    tagIsVersion: true,
    revision: 1,
    contentType: "text/plain",
    render() {
      rendered.count++;
      return { chunks: [PAGE, PAGE], persistent: true, length: 2 * PAGE.length };
    },
    ...options,
  };
  return { representation, rendered };
}

describe("a body", () => {
  test("is rendered once for each version and encoding", () => {
    const renderer = createRenderer();
    const { representation, rendered } = createRepresentation();
    const identity = renderer.prepare(representation, null).renderBody();
    expect(renderer.prepare(representation, null).renderBody().body).toBe(identity.body);
    expect(rendered.count).toBe(1);
    renderer.prepare(representation, "zstd").renderBody();
    expect(rendered.count).toBe(2);
    renderer.prepare({ ...representation, version: 2 }, null).renderBody();
    expect(rendered.count).toBe(3);
  });

  test("in gzip is one member made of the compressed chunks", () => {
    const renderer = createRenderer();
    const { representation } = createRepresentation();
    const { body } = renderer.prepare(representation, "gzip").renderBody();
    if (!(body instanceof Uint8Array)) throw new Error("not bytes");
    expect(gunzipSync(body)).toEqual(Buffer.concat([PAGE, PAGE]));
  });

  test("above 24 MiB is a source with its length, and is not cached", () => {
    const renderer = createRenderer();
    const count = Math.ceil((25 * 1024 * 1024) / PAGE.length);
    const { representation, rendered } = createRepresentation({
      render() {
        rendered.count++;
        return { chunks: Array(count).fill(PAGE), length: count * PAGE.length };
      },
    });
    for (let i = 0; i < 2; i++) {
      const { body, headers } = renderer.prepare(representation, null).renderBody();
      expect(typeof body === "object" && isBodySource(body)).toBe(true);
      expect(headers["Content-Length"]).toBe(String(count * PAGE.length));
    }
    expect(rendered.count).toBe(2);
  });
});

test("a condition that matches gets 304 without rendering", () => {
  const renderer = createRenderer();
  const { representation, rendered } = createRepresentation();
  const prepared = renderer.prepare(representation, "gzip");
  expect(conditionalResponse(prepared, `"other", W/${prepared.etag}`).status).toBe(304);
  expect(rendered.count).toBe(0);
  expect(conditionalResponse(prepared, '"other"').status).toBe(200);
});

test("the entity tag depends on log, service version, key, version and encoding", () => {
  const { representation } = createRepresentation();
  const etag = (logId: string, serviceVersion: string, options: Partial<Representation>, encoding = "gzip") =>
    createRenderer(logId, serviceVersion).prepare({ ...representation, ...options }, encoding).etag;
  const etags = [
    etag("log", "1.0", {}),
    etag("other", "1.0", {}),
    etag("log", "1.1", {}),
    etag("log", "1.0", { key: "other" }),
    etag("log", "1.0", { version: 2 }),
    etag("log", "1.0", {}, "identity"),
  ];
  expect(new Set(etags).size).toBe(etags.length);
  expect(etag("log", "1.0", {})).toBe(etag("log", "1.0", {}));
});

describe("the entity tag of content", () => {
  const createContent = (text: { value: string }, options: Partial<Representation> = {}) =>
    createRepresentation({ tagIsVersion: false, render: () => ({ chunks: text.value }), ...options });

  test("changes with the bytes and not with the version", () => {
    const renderer = createRenderer();
    const text = { value: "a" };
    const { representation } = createContent(text);
    const etag = (version: number) => renderer.prepare({ ...representation, version }, null).etag;
    const first = etag(1);
    expect(etag(2)).toBe(first);
    text.value = "b";
    expect(etag(2)).toBe(first); // the same version means the same bytes
    expect(etag(3)).not.toBe(first);
    text.value = "a";
    expect(etag(4)).toBe(first);
  });

  test("of unchanged data is remembered, so that a 304 renders nothing", () => {
    const renderer = createRenderer();
    const { representation, rendered } = createRepresentation({ tagIsVersion: false });
    const { etag } = renderer.prepare(representation, null);
    expect(rendered.count).toBe(1);
    expect(conditionalResponse(renderer.prepare(representation, null), etag).status).toBe(304);
    expect(rendered.count).toBe(1);
  });

  test("does not render a second time for the body", () => {
    const { representation, rendered } = createRepresentation({ tagIsVersion: false });
    const { body } = createRenderer().prepare(representation, null).renderBody();
    expect([body, rendered.count]).toEqual([Buffer.concat([PAGE, PAGE]), 1]);
  });

  test("new data with the same bytes reuses the encoded body", () => {
    const renderer = createRenderer();
    const { representation } = createRepresentation({ tagIsVersion: false });
    const first = renderer.prepare(representation, null).renderBody();
    expect(renderer.prepare({ ...representation, version: 2 }, null).renderBody().body).toBe(first.body);
  });

  test("differs where only a header differs", () => {
    const etag = (Link: string) =>
      createRenderer().prepare(
        createContent({ value: "" }, { render: () => ({ chunks: "a", headers: { Link } }) }).representation,
        null,
      ).etag;
    expect(etag("<a>")).not.toBe(etag("<b>"));
    expect(etag("<a>")).toBe(etag("<a>"));
  });

  test.each<[string, Content["chunks"]]>([
    ["a text", "x".repeat(70_000)],
    ["chunks", [PAGE, PAGE, PAGE, PAGE]],
  ])("above 64 kB (%s) is the version, and the body is complete", async (_, chunks) => {
    const renderer = createRenderer();
    const { representation } = createRepresentation({ tagIsVersion: false, render: () => ({ chunks }) });
    const etags = [1, 1, 2].map((version) => renderer.prepare({ ...representation, version }, null).etag);
    expect(new Set(etags).size).toBe(2);
    const { body } = renderer.prepare({ ...representation, version: 3 }, null).renderBody();
    if (typeof body !== "string" && !(body instanceof Uint8Array)) throw new Error("not buffered");
    expect(body.length).toBe(typeof chunks === "string" ? chunks.length : 4 * PAGE.length);
  });
});
