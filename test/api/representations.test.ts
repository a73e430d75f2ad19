/** Part 5 of the interface: negotiation of format and content encoding, and conditional requests. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync, inflateRawSync, zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { slowRequest } from "../http1/raw-request.ts";
import { temporaryFolder } from "../support/folder.ts";
import { runs } from "../support/property.ts";
import { API, AUTHORIZATION, type Harness, openHarness, PROPERTY_TIMEOUT_MS } from "./harness.ts";
import { anyNetwork, anyStep, deviceId, SAMPLE } from "./network.ts";
import { anyListQuery, queryPath } from "./reference-query.ts";

let h: Harness;
beforeAll(async () => {
  h = await openHarness();
  await h.replace(SAMPLE);
});
afterAll(() => h.stop());

const JSON_TYPE = "application/json";
const CSV = "text/csv; charset=utf-8; header=present";
const SVG = "image/svg+xml";
const BROWSER =
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7";
const JAVA = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2";
const CHROME_IMG = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8";
const FIREFOX_IMG = "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5";

const contentTypeOrStatus = async (path: string, headers: Record<string, string>) => {
  const response = await h.fetch(path, { headers });
  const type = response.headers.get("content-type");
  await response.body?.cancel();
  return response.status === 200 ? type : response.status;
};

test.each<[path: string, accept: string, expected: string | number]>([
  ["devices", "*/*", JSON_TYPE],
  ["devices", "", JSON_TYPE],
  ["devices", BROWSER, JSON_TYPE],
  ["topology", BROWSER, JSON_TYPE],
  ["devices", JAVA, JSON_TYPE],
  ["topology", JAVA, JSON_TYPE],
  ["devices", CHROME_IMG, JSON_TYPE],
  ["topology", CHROME_IMG, SVG],
  ["topology", FIREFOX_IMG, SVG],
  ["topology", "image/*", SVG],
  ["devices", "application/json", JSON_TYPE],
  ["devices", "application/json; charset=utf-8", JSON_TYPE],
  ["devices", "APPLICATION/JSON", JSON_TYPE],
  ["devices", "text/csv", CSV],
  ["devices", "text/*", CSV],
  ["devices", "text/csv;q=0.5, application/json;q=0.4", CSV],
  ["devices", "text/csv;q=0.5, application/json", JSON_TYPE],
  ["devices", "application/json;q=0, */*", "application/x-ndjson"],
  ["devices", "application/*", JSON_TYPE],
  ["devices", "application/x-ndjson", "application/x-ndjson"],
  ["devices", "nonsense, text/csv", CSV],
  ["devices", "text/csv;q=2, application/json;q=0.1", JSON_TYPE],
  ["devices", "text/event-stream", "text/event-stream"],
  ["devices", "text/event-stream, */*;q=0.1", "text/event-stream"],
  ["topology", "text/*", "text/vnd.graphviz; charset=utf-8"],
  ["topology", "text/vnd.graphviz", "text/vnd.graphviz; charset=utf-8"],
  ["topology", "application/graphml+xml", "application/graphml+xml"],
  ["topology", "application/netjson+json", "application/netjson+json"],
  ["topology", "application/yang-data+json", "application/yang-data+json"],
  ["devices", "application/xml", 406],
  ["devices", "image/svg+xml", 406],
  ["devices", "*/*;q=0", 406],
  ["topology", "text/csv", 406],
  [`devices/${deviceId(1)}`, BROWSER, JSON_TYPE],
  [`devices/${deviceId(1)}`, "text/csv", 406],
  ["topology/clusters", "image/svg+xml", 406],
  ["devices/ports", "text/csv", CSV],
  ["devices?format=csv", "application/json", CSV],
  ["topology?format=svg", "application/json", SVG],
  ["devices?format=json", "text/csv", JSON_TYPE],
  ["devices?format=prometheus", "text/html", JSON_TYPE],
  ["devices?format=csv", "image/png", CSV],
])("%s with Accept: %s is %s", async (path, accept, expected) => {
  expect(await contentTypeOrStatus(path, { accept })).toBe(expected);
});

const CHANGES = "application/vnd.gazetteer.changes+json";
const DIFFERENCES = "application/vnd.gazetteer.differences+json";
const TIMELINE = "application/vnd.gazetteer.timeline+json";
/** What a generated Java client sends: every media type of the operation. */
const GENERATED = `application/json, application/x-ndjson, text/csv, text/event-stream, ${CHANGES}, ${DIFFERENCES}`;

test.each<[path: string, accept: string, expected: string | number]>([
  ["devices?since=0", "*/*", CHANGES],
  ["devices?since=0", JSON_TYPE, CHANGES],
  ["devices?since=0", "application/*", CHANGES],
  ["devices?since=0", CHANGES, CHANGES],
  ["devices?since=0", BROWSER, CHANGES],
  ["devices?since=0", GENERATED, CHANGES],
  ["devices/ports?since=0", JSON_TYPE, CHANGES],
  ["topology?since=0", CHROME_IMG, CHANGES],
  ["devices?since=0&format=json", "text/csv", CHANGES],
  ["devices?since=0", "text/event-stream", "text/event-stream"],
  ["devices?since=0", `${CHANGES};q=0.5, text/event-stream`, "text/event-stream"],
  ["devices?since=0", `${CHANGES};q=0, */*`, 406],
  ["devices?since=0", "text/csv", 406],
  ["devices?diff=0..1", JSON_TYPE, DIFFERENCES],
  ["topology?diff=0..1", DIFFERENCES, DIFFERENCES],
  ["topology?diff=0..1", "text/event-stream", 406],
  ["topology?timeline=2", JSON_TYPE, TIMELINE],
  ["topology?timeline=2", TIMELINE, TIMELINE],
  ["devices", GENERATED, JSON_TYPE],
  ["devices", `${CHANGES}, application/json;q=0.1`, JSON_TYPE],
  ["devices", `${CHANGES};q=0`, 406],
  ["devices", TIMELINE, 406],
])("%s with Accept: %s is %s, a document by its parameter", async (path, accept, expected) => {
  expect(await contentTypeOrStatus(path, { accept })).toBe(expected);
});

test.each([
  ["devices", CHANGES, "since"],
  ["hosts?diff=0..1", CHANGES, "since"],
  ["links", DIFFERENCES, "diff"],
  ["topology", TIMELINE, "timeline"],
])("%s with Accept: %s is a 400 that names %s", async (path, accept, parameter) => {
  const response = await h.fetch(path, { headers: { accept } });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    type: "/docs/errors#bad-parameter",
    detail: expect.stringMatching(new RegExp(`"${parameter}" is missing.*${parameter}=`)),
  });
});

test("a 406 lists the formats there are", async () => {
  const response = await h.fetch("topology", { headers: { accept: "application/xml" } });
  const body = await response.json();
  expect(body.type).toBe("/docs/errors#not-acceptable");
  for (const format of ["application/json (format=json)", "image/svg+xml (format=svg)", "text/event-stream"])
    expect(body.detail).toContain(format);
});

test("without Accept the format is JSON", async () => {
  const response = await fetch(`${h.url}${API}/devices`, { headers: { authorization: AUTHORIZATION } });
  expect(response.headers.get("content-type")).toBe(JSON_TYPE);
});

test("Vary names the negotiated headers", async () => {
  for (const path of ["devices", "topology", `devices/${deviceId(1)}`, "devices?format=csv"])
    expect((await h.fetch(path)).headers.get("vary")).toBe("Accept, Accept-Encoding");
});

test.each([
  ["gzip", "gzip"],
  ["gzip, deflate, br, zstd", "gzip"],
  ["br", "br"],
  ["zstd", "zstd"],
  ["br;q=1.0, gzip;q=0.8, *;q=0.1", "br"],
  ["gzip;q=0.5, zstd;q=0.9", "zstd"],
  ["deflate", null],
  ["identity", null],
  ["gzip;q=0", null],
  ["gzip;q=0, *", "zstd"],
  ["*", "gzip"],
  ["identity;q=0.9, gzip;q=0.2", null],
  ["X-GZIP", "gzip"],
  ["nonsense;q=x", null],
])("Accept-Encoding: %s gives %s", async (acceptEncoding, encoding) => {
  const response = await h.fetch("devices", { headers: { "accept-encoding": acceptEncoding }, ...RAW });
  expect(response.headers.get("content-encoding")).toBe(encoding);
});

/** Keeps fetch from decoding the body. */
const RAW = { decompress: false };
const DECODE: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: (bytes) => gunzipSync(bytes),
  br: (bytes) => brotliDecompressSync(bytes),
  zstd: (bytes) => zstdDecompressSync(bytes),
};

async function readBytes(from: Harness, path: string, encoding: string): Promise<Buffer> {
  const response = await from.fetch(path, { headers: { "accept-encoding": encoding }, ...RAW });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-encoding")).toBe(encoding === "identity" ? null : encoding);
  return Buffer.from(await response.arrayBuffer());
}

async function checkEncodings(from: Harness, path: string): Promise<void> {
  const plain = await readBytes(from, path, "identity");
  for (const [encoding, decode] of Object.entries(DECODE)) {
    const encoded = await readBytes(from, path, encoding);
    expect(decode(encoded).equals(plain)).toBe(true);
    if (encoding === "gzip") expect(isOneMember(encoded)).toBe(true);
  }
}

/** In a single gzip member, the deflate data ends eight bytes before the end of the body. */
function isOneMember(gzip: Buffer): boolean {
  const { engine } = inflateRawSync(gzip.subarray(10), { info: true }) as unknown as {
    engine: { bytesWritten: number };
  };
  return gzip.length - 10 - engine.bytesWritten === 8;
}

test(
  "every encoding decodes to the plain body, before and after changes",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        anyNetwork,
        fc.array(anyStep, { minLength: 2, maxLength: 4 }),
        anyListQuery,
        async (first, steps, query) => {
          await using random = await openHarness();
          for (const step of [first, ...steps]) {
            await random.apply(step.changes, step.source);
            for (const path of ["devices", "hosts", "links?format=csv", queryPath(query)])
              await checkEncodings(random, path);
          }
        },
      ),
      { numRuns: runs(12) },
    );
  },
  PROPERTY_TIMEOUT_MS,
);

describe("a list larger than the cache of bodies holds", () => {
  let large: Harness;
  beforeAll(async () => {
    large = await openHarness();
    const devices = Array.from({ length: 2_401 }, (_, i) => {
      // Does not compress well, so that the encoded body is streamed too.
      const noise = Buffer.from(Bun.SHA512.hash(String(i), "hex").repeat(60)).toString("base64");
      return { id: deviceId(i), mfr: noise.slice(0, 12_000), annotations: { name: `n${i}` } };
    });
    await large.replace({ devices });
  }, PROPERTY_TIMEOUT_MS);
  afterAll(() => large.stop());

  test(
    "decodes in every encoding, whole and filtered, and with the gunzip of the system",
    async () => {
      for (const path of ["devices", "devices?q=of:", "devices?format=ndjson"])
        await checkEncodings(large, path);
      const gunzip = Bun.which("gunzip");
      if (!gunzip) throw new Error("gunzip is not installed");
      const encoded = await readBytes(large, "devices", "gzip");
      const child = Bun.spawn([gunzip, "-c"], { stdin: encoded, stdout: "pipe" });
      const plain = Buffer.from(await new Response(child.stdout).arrayBuffer());
      expect(await child.exited).toBe(0);
      expect(plain.equals(await readBytes(large, "devices", "identity"))).toBe(true);
      expect(plain.length).toBeGreaterThan(24 * 1024 * 1024);
    },
    PROPERTY_TIMEOUT_MS,
  );

  test.each(["devices", "devices?q=of:", "devices?source=first", "devices?format=ndjson"])(
    "%s: changes while it is sent do not show in it",
    async (path) => {
      const expected = await (await large.fetch(path)).bytes();
      const slow = slowRequest(large.port, `${API}/${path}`, AUTHORIZATION);
      await slow.started;
      await large.apply([
        { op: "set", kind: "devices", claim: { id: deviceId(2_400), mfr: `changed by ${path}` } },
        { op: "remove", kind: "devices", id: deviceId(2_300) },
      ]);
      expect((await slow.finish()).equals(expected)).toBe(true);
      await large.apply([{ op: "set", kind: "devices", claim: { id: deviceId(2_300) } }]);
    },
    PROPERTY_TIMEOUT_MS,
  );
});

describe("conditional requests", () => {
  const PATHS = [
    "devices",
    "links?state=ACTIVE",
    "hosts?format=csv",
    "topology",
    "topology?format=svg",
    `devices/${deviceId(1)}`,
    "topology/clusters",
    "devices?limit=2",
    "devices?at=1",
    "devices?since=0",
    "devices?diff=0..",
    "topology?timeline=3",
  ];
  const get = (path: string, etag?: string, more: Record<string, string> = {}) =>
    h.fetch(path, { headers: { ...more, ...(etag !== undefined && { "if-none-match": etag }) } });

  test.each(PATHS)("%s: a strong tag, and a 304 with the same headers", async (path) => {
    const first = await get(path);
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\x21\x23-\x7e]+"$/);
    for (const condition of [etag, `W/${etag}`, `"x", ${etag}`, `"x",W/${etag},"y"`, "*"]) {
      for (const method of ["GET", "HEAD"]) {
        const second = await h.fetch(path, { method, headers: { "if-none-match": condition } });
        expect(second.status).toBe(304);
        expect(await second.text()).toBe("");
        for (const name of ["etag", "cache-control", "vary", "gazetteer-revision"])
          expect(second.headers.get(name)).toBe(first.headers.get(name));
        expect(second.headers.get("content-encoding")).toBeNull();
      }
    }
    expect((await get(path, '"x", "y"')).status).toBe(200);
    expect((await get(path, "")).status).toBe(200);
  });

  test("each representation and encoding has its own tag", async () => {
    const tags = new Set<string | null>();
    const variants = [
      ["devices", {}],
      ["devices", { "accept-encoding": "gzip" }],
      ["devices", { "accept-encoding": "br" }],
      ["devices", { accept: "text/csv" }],
      ["devices?fields=id", {}],
      ["devices?type=SWITCH", {}],
      ["links", {}],
      [`devices/${deviceId(1)}`, {}],
      [`devices/${deviceId(2)}`, {}],
      [`devices/${deviceId(1)}/ports`, {}],
    ] as const;
    for (const [path, headers] of variants)
      tags.add((await h.fetch(path, { headers, ...RAW })).headers.get("etag"));
    expect(tags.size).toBe(variants.length);
  });

  test("the tag changes only with the entities in the body; Gazetteer-Revision is always current", async () => {
    await using own = await openHarness();
    await own.replace(SAMPLE);
    const tags = async () =>
      Promise.all(
        ["devices", "hosts", "links", "topology"].map(async (path) =>
          (await own.fetch(path)).headers.get("etag"),
        ),
      );
    const before = await tags();
    await own.apply([
      {
        op: "set",
        kind: "hosts",
        claim: {
          mac: "00:00:00:00:00:01",
          suspended: true,
          locations: [{ elementId: deviceId(1), port: 3 }],
        },
      },
    ]);
    const after = await tags();
    expect(after.map((tag, i) => tag === before[i])).toEqual([true, false, true, true]);
    const response = await own.fetch("devices", { headers: { "if-none-match": before[0] ?? "" } });
    expect(response.status).toBe(304);
    expect(response.headers.get("gazetteer-revision")).toBe("2");
  });

  test("an unchanged network gives 304 after a restart, in every representation", async () => {
    const data = join(temporaryFolder(), "log.sqlite");
    let own = await openHarness({ data });
    await own.replace(SAMPLE);
    await own.apply([{ op: "set", kind: "devices", claim: { id: deviceId(3), sw: "2" } }]);
    const tags = new Map<string, string>();
    for (const path of PATHS) tags.set(path, (await own.fetch(path)).headers.get("etag") ?? "");
    await own.stop();
    own = await openHarness({ data });
    for (const [path, etag] of tags)
      expect([path, (await own.fetch(path, { headers: { "if-none-match": etag } })).status]).toEqual([
        path,
        304,
      ]);
    await own.stop();
  });
});
