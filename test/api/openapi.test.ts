/**
 * The OpenAPI document: its golden copy, and that it describes the service. Every documented request is sent, with good
 * and bad values of every parameter, and each response is validated against the document.
 *
 * After a change of the interface: UPDATE_GOLDEN=1 bun test test/api/openapi.test.ts
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import manifest from "../../package.json";
import { getMapMetric, getMapSettings } from "../../src/api/endpoints/map.ts";
import type { MapSource } from "../../src/api/endpoints/map-source.ts";
import { openapiDocument, openapiText } from "../../src/api/openapi/document.ts";
import { createStaticSite } from "../../src/api/site/static-site.ts";
import { type Harness, openHarness } from "./harness.ts";
import { deviceId, SAMPLE } from "./network.ts";
import {
  asObject,
  errorsOf,
  type Json,
  PAGE_LIMIT,
  parametersOf,
  paths,
  resolveRef,
} from "./openapi-document.ts";
import { LINK_ID, PATH_VALUES, valuesOf } from "./openapi-values.ts";

const GOLDEN = join(import.meta.dir, "..", "..", "openapi.json");

test("openapi.json is what the service serves", async () => {
  const text = openapiText({ version: manifest.version, pageLimit: PAGE_LIMIT });
  if (process.env.UPDATE_GOLDEN === "1") await Bun.write(GOLDEN, text);
  expect(await Bun.file(GOLDEN).text()).toBe(text);
});

let h: Harness;
let withoutStreams: Harness;
beforeAll(async () => {
  const site = createStaticSite(async () => [
    { path: "/", type: "text/html; charset=utf-8", bytes: Buffer.from("<p>") },
  ]);
  const map: MapSource = {
    settings: Buffer.from(JSON.stringify(getMapSettings.openapi?.example)),
    metric: (name) =>
      name === "Load"
        ? { ok: true, json: Buffer.from(JSON.stringify(getMapMetric.openapi?.example)) }
        : undefined,
    queryCounts: () => [],
  };
  h = await openHarness({
    site,
    map,
    origins: ["https://map.example"],
    limits: { requestsPerSecond: 100_000 },
  });
  await h.replace(SAMPLE);
  await h.apply([{ op: "set", kind: "devices", claim: { id: deviceId(3), available: false } }]);
  withoutStreams = await openHarness({ limits: { streamsPerUser: 0 } });
});
afterAll(() => Promise.all([h.stop(), withoutStreams.stop()]));

/** Headers of HTTP itself; every other header must be documented. */
const UNDOCUMENTED_HEADERS = [
  "date",
  "content-length",
  "content-type",
  "transfer-encoding",
  "connection",
  "keep-alive",
];

/** What `fields` and `format=prometheus` return is described in words only: `application/json` has one shape. */
const isOtherShape = (what: string): boolean => /[?& ](fields=|format=prometheus)/.test(what);

async function checkResponse(operation: Json, response: Response, what: string): Promise<number> {
  const responses = asObject(operation.responses);
  expect([what, Object.keys(responses)]).toEqual([what, expect.arrayContaining([String(response.status)])]);
  const documented = resolveRef(responses[String(response.status)]);
  const names = Object.keys(asObject(documented.headers)).map((name) => name.toLowerCase());
  for (const name of response.headers.keys())
    if (!UNDOCUMENTED_HEADERS.includes(name))
      expect([what, name, names]).toEqual([what, name, expect.arrayContaining([name])]);
  const content = asObject(documented.content);
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  if (response.status === 304 || what.includes(" HEAD")) {
    expect(await response.text()).toBe("");
    return response.status;
  }
  expect([what, Object.keys(content)]).toEqual([what, expect.arrayContaining([type])]);
  if (type === "text/event-stream") {
    await response.body?.cancel();
    return response.status;
  }
  const text = await response.text();
  const { schema } = asObject(content[type]);
  const body = type.endsWith("json") && resolveRef(schema).type !== "string" ? JSON.parse(text) : text;
  if (!isOtherShape(what)) expect([what, errorsOf(schema, body)]).toEqual([what, []]);
  return response.status;
}

test.each(paths)("%s: every response is as documented", async (path, item) => {
  const filled = (which: "good" | "bad") =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      if (name === "id" && path.includes("hosts"))
        return which === "good" ? "00:00:00:00:00:01%2FNone" : "unknown";
      if (name === "id" && path.includes("links"))
        return which === "good" ? encodeURIComponent(LINK_ID) : "unknown";
      return PATH_VALUES[name]?.[which] ?? "";
    });
  const address = filled("good");
  const isSearch = path.endsWith("/search");
  // The only parameter that is required.
  const withText = (more: string) =>
    isSearch && !/[?&]q=/.test(more) ? more.replace(/^\??/, "?q=a&").replace(/&$/, "") : more;
  const request = (more: string, init: RequestInit = {}) =>
    h.fetch(address + withText(more), {
      ...init,
      headers: { origin: "https://map.example", ...init.headers },
    });
  const get = asObject(item.get);
  const seen = new Set<number>();
  const check = async (what: string, response: Promise<Response>, operation = get) => {
    const status = await checkResponse(operation, await response, `${path} ${what}`);
    seen.add(status);
    return status;
  };

  expect(await check("plain", request(""))).toBe(200);
  expect(await check("HEAD", request("", { method: "HEAD" }))).toBe(200);
  const options = await request("", { method: "OPTIONS" });
  expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
  const parameters = parametersOf(item);
  for (const parameter of parameters.filter((one) => one.in === "query")) {
    const { good, bad } = valuesOf(path, parameter);
    for (const value of good)
      expect([
        `${parameter.name}=${value}`,
        await check(`${parameter.name}=${value}`, request(`?${parameter.name}=${value}`)),
      ]).toEqual([`${parameter.name}=${value}`, 200]);
    expect([
      parameter.name,
      await check(`bad ${parameter.name}`, request(`?${parameter.name}=${bad}`)),
    ]).toEqual([parameter.name, 400]);
  }
  if (parameters.some(({ name }) => name === "If-None-Match")) {
    expect(await check("304", request("", { headers: { "if-none-match": "*" } }))).toBe(304);
    expect(await check("HEAD 304", request("", { method: "HEAD", headers: { "if-none-match": "*" } }))).toBe(
      304,
    );
  }
  if (parameters.some(({ name }) => name === "Accept-Encoding"))
    for (const encoding of ["gzip", "br", "zstd"])
      await check(encoding, request("", { headers: { "accept-encoding": encoding } }));
  if (parameters.some(({ name }) => name === "Last-Event-ID")) {
    const events = { accept: "text/event-stream" };
    expect(await check("resume", request("", { headers: { ...events, "last-event-id": "1" } }))).toBe(200);
    expect(await check("bad id", request("", { headers: { ...events, "last-event-id": "x" } }))).toBe(200);
    expect(await check("no streams", withoutStreams.fetch(`${address}?format=events`))).toBe(429);
  }
  for (const type of Object.keys(asObject(asObject(asObject(get.responses)["200"]).content)))
    expect(await check(type, request("", { headers: { accept: type } }))).toBe(
      type.startsWith("application/vnd.gazetteer.") && !isSearch && !path.endsWith("/problems") ? 400 : 200,
    );
  if (Object.hasOwn(asObject(get.responses), "406"))
    expect(await check("406", request("", { headers: { accept: "image/png" } }))).toBe(406);
  if (Object.hasOwn(asObject(get.responses), "401"))
    expect(await check("401", fetch(h.url + address))).toBe(401);
  else expect(await check("open", fetch(h.url + address))).toBe(200);
  if (Object.hasOwn(asObject(get.responses), "404"))
    expect(await check("404", h.fetch(filled("bad")))).toBe(404);
  if (Object.hasOwn(asObject(get.responses), "414"))
    expect(await check("414", request(`?x=${"y".repeat(9000)}`))).toBe(414);
});

test("the documented parameters are exactly those the service accepts", async () => {
  for (const [path, item] of paths.filter(
    ([path]) => path.startsWith("/controller") && !path.includes("{"),
  )) {
    const response = await h.fetch(`${path}?zzzzzz=1`);
    const { detail } = await response.json();
    const accepted = /There are: (.*)\.$/.exec(detail)?.[1]?.split(", ") ?? [];
    const documented = parametersOf(item)
      .filter((one) => one.in === "query")
      .map(({ name }) => String(name).replace("annotations.name", "annotations.KEY"));
    expect(documented.toSorted()).toEqual(accepted.toSorted());
  }
});

test("/openapi.json is this document, with the version of the service", async () => {
  const response = await h.fetch("/openapi.json");
  expect(await response.json()).toEqual(
    JSON.parse(JSON.stringify(openapiDocument({ version: "1.2.3", pageLimit: PAGE_LIMIT }))),
  );
});

test("a fresh service accepts the examples of parameters", async () => {
  await using fresh = await openHarness();
  for (const network of [undefined, SAMPLE]) {
    if (network) await fresh.replace(network);
    for (const [path, item] of paths.filter(([path]) => !path.includes("{"))) {
      for (const { name, schema } of parametersOf(item)) {
        const { examples } = resolveRef(asObject(schema).items ?? schema);
        for (const example of Array.isArray(examples) ? examples : []) {
          const { status } = await fresh.fetch(
            `${path}?${name}=${example}${path.endsWith("/search") ? "&q=a" : ""}`,
          );
          expect([path, name, example, status]).toEqual([path, name, example, 200]);
        }
      }
    }
  }
});

test("the largest limit in /openapi.json is the configured one", async () => {
  await using small = await openHarness({ limits: { pageLimit: 7 } });
  const { components } = asObject(await (await small.fetch("/openapi.json")).json());
  expect(asObject(asObject(asObject(components).parameters).LimitParameter).schema).toMatchObject({
    maximum: 7,
  });
});
