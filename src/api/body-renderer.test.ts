import { describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { isBodySource } from "../http1/body-source.ts";
import { BodyRenderer, conditionalResponse, type Representation } from "./body-renderer.ts";

const PAGE = Buffer.alloc(20_000, "x");

function createRepresentation(options: Partial<Representation> = {}) {
  const rendered = { count: 0 };
  const representation: Representation = {
    key: "key",
    version: 1,
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
    const renderer = new BodyRenderer("log", "1.0");
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
    const renderer = new BodyRenderer("log", "1.0");
    const { representation } = createRepresentation();
    const { body } = renderer.prepare(representation, "gzip").renderBody();
    if (!(body instanceof Uint8Array)) throw new Error("not bytes");
    expect(gunzipSync(body)).toEqual(Buffer.concat([PAGE, PAGE]));
  });

  test("above 24 MiB is a source with its length, and is not cached", () => {
    const renderer = new BodyRenderer("log", "1.0");
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
  const renderer = new BodyRenderer("log", "1.0");
  const { representation, rendered } = createRepresentation();
  const prepared = renderer.prepare(representation, "gzip");
  expect(conditionalResponse(prepared, `"other", W/${prepared.etag}`).status).toBe(304);
  expect(rendered.count).toBe(0);
  expect(conditionalResponse(prepared, '"other"').status).toBe(200);
});

test("the entity tag depends on log, service version, key, version and encoding", () => {
  const { representation } = createRepresentation();
  const etag = (logId: string, serviceVersion: string, options: Partial<Representation>, encoding = "gzip") =>
    new BodyRenderer(logId, serviceVersion).prepare({ ...representation, ...options }, encoding).etag;
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
