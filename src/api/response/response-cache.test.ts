import { describe, expect, test } from "bun:test";
import { ParseError, parseHead, type Request } from "../../http1/request.ts";
import { uncountedMemory } from "../../lib/memory-budget.ts";
import { Scheduler } from "../../lib/scheduler.ts";
import { resultOf } from "../../lib/steps.ts";
import { BodyRenderer } from "./body-renderer.ts";
import type { Representation } from "./representation.ts";
import { ResponseCache } from "./response-cache.ts";

const MIB = 1024 * 1024;
const SCOPE = { scheduler: new Scheduler(), owner: "user:test", memory: uncountedMemory() };
const renderer = new BodyRenderer({ logId: "log", signingKey: new Uint8Array(32), serviceVersion: "1.0" });

function createRequest(target: string, accept = "application/json"): Request {
  const request = parseHead(`GET ${target} HTTP/1.1\r\nHost: x\r\nAccept: ${accept}`);
  if (request instanceof ParseError) throw new Error(request.detail);
  return request;
}

/** A cache, and the version of the data behind all its responses. */
function createCache() {
  const data = { version: 1 };
  const cache = new ResponseCache();
  const counters = { ok: { count: 0 }, notModified: { count: 0 } };
  const store = (request: Request, bytes = 2, ifNoneMatch: string | null = null): string => {
    const representation: Representation = {
      info: {
        key: request.target,
        version: data.version,
        currentVersion: () => data.version,
        revision: data.version,
        contentType: "application/json",
      },
      render() {
        return { chunks: "x".repeat(bytes) };
      },
    };
    const response = resultOf(renderer.respond(representation, { acceptEncoding: null, ifNoneMatch }, SCOPE));
    cache.store(request, response, counters);
    return response.headers.ETag ?? "";
  };
  const read = (request: Request, revision = 1, ifNoneMatch: string | null = null) => {
    const parts = cache.get(request, revision)?.serialize(ifNoneMatch, revision)?.serialize(0);
    return parts && Buffer.concat(parts).toString();
  };
  return { cache, counters, data, store, read };
}

describe("a cached response", () => {
  test("is found by target, Accept and Accept-Encoding", () => {
    const { store, read, counters } = createCache();
    store(createRequest("/a"));
    expect(read(createRequest("/a"))).toEndWith("\r\n\r\nxx");
    expect(read(createRequest("/a", "text/csv"))).toBeUndefined();
    expect(read(createRequest("/b"))).toBeUndefined();
    expect(counters.ok.count).toBe(1);
  });

  test("is stale once the version of its data differs", () => {
    const { store, read, data } = createCache();
    store(createRequest("/a"));
    data.version++;
    expect(read(createRequest("/a"))).toBeUndefined();
    store(createRequest("/a"), 3);
    expect(read(createRequest("/a"))).toEndWith("\r\n\r\nxxx");
  });

  test("has the revision of the request, and is a 304 for its entity tag", () => {
    const { store, read, counters } = createCache();
    const etag = store(createRequest("/a"));
    expect(read(createRequest("/a"), 7)).toContain("Gazetteer-Revision: 7\r\n");
    expect(read(createRequest("/a"), 8, etag)).toStartWith("HTTP/1.1 304 ");
    expect(counters.notModified.count).toBe(1);
  });

  test("that was stored with a 304 has no body for a client without the entity tag", () => {
    const { store, read } = createCache();
    const etag = store(createRequest("/a"), 2, "*");
    expect(read(createRequest("/a"), 1, etag)).toStartWith("HTTP/1.1 304 ");
    expect(read(createRequest("/a"))).toBeUndefined();
  });
});

describe("the bounds of the cache", () => {
  test("only a target that was requested before at this version, and is not long, should be stored", () => {
    const { cache } = createCache();
    const request = createRequest("/a");
    expect([1, 1, 2, 2].map((version) => cache.shouldStore(request, version))).toEqual([
      false,
      true,
      false,
      true,
    ]);
    const long = createRequest(`/${"a".repeat(2000)}`);
    expect([cache.shouldStore(long, 1), cache.shouldStore(long, 1)]).toEqual([false, false]);
  });

  test("the next version of a response that clients were sent is stored at once", () => {
    const { cache, store, read } = createCache();
    store(createRequest("/a"));
    store(createRequest("/b"));
    read(createRequest("/a"));
    expect(cache.shouldStore(createRequest("/a"), 2)).toBe(true);
    expect(cache.shouldStore(createRequest("/b"), 2)).toBe(false);
  });

  test("a body of 8 MiB is not stored", () => {
    const { store, read } = createCache();
    store(createRequest("/b"), 7 * MIB);
    expect(read(createRequest("/b"))).toBeDefined();
    store(createRequest("/a"), 8 * MIB);
    expect(read(createRequest("/a"))).toBeUndefined();
  });

  test("at most 8 variants of a target are stored; the oldest is dropped and the others stay", () => {
    const { store, read } = createCache();
    for (let i = 0; i < 9; i++) store(createRequest("/a", `type/${i}`));
    expect(read(createRequest("/a", "type/0"))).toBeUndefined();
    for (let i = 1; i < 9; i++) expect(read(createRequest("/a", `type/${i}`))).toBeDefined();
  });

  test("past 32 MiB the least recently used target is evicted, and its bytes are released", () => {
    const { cache, store, read } = createCache();
    store(createRequest("/0"), MIB);
    store(createRequest("/1"), MIB);
    const held = cache.get(createRequest("/1"), 1);
    for (let i = 2; i < 34; i++) {
      read(createRequest("/0"));
      store(createRequest(`/${i}`), MIB);
    }
    expect(read(createRequest("/0"))).toBeDefined();
    expect(read(createRequest("/1"))).toBeUndefined();
    expect(held?.serialize(null, 1)).toBeUndefined();
  });
});
