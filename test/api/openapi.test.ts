/**
 * The OpenAPI document: its golden copy, and that it describes the service. Every documented request is sent, with good
 * and bad values of every parameter, and each response is validated against the document.
 *
 * After a change of the interface: UPDATE_GOLDEN=1 bun test test/api/openapi.test.ts
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { Compile } from "typebox/compile";
import manifest from "../../package.json";
import type { MapSource } from "../../src/api/map-source.ts";
import { openapiDocument, openapiText } from "../../src/api/openapi.ts";
import { EXAMPLES } from "../../src/api/openapi-examples.ts";
import { createStaticSite } from "../../src/api/static-site.ts";
import { type Harness, openHarness } from "./harness.ts";
import { deviceId, SAMPLE } from "./network.ts";

type Json = Readonly<Record<string, unknown>>;
const GOLDEN = join(import.meta.dir, "..", "..", "openapi.json");
/** The default of `limits.pageLimit`, and the limit of the harness. */
const PAGE_LIMIT = 10_000;
const DOCUMENT: Json = JSON.parse(openapiText({ version: "1", pageLimit: PAGE_LIMIT }));

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
    settings: Buffer.from(JSON.stringify(EXAMPLES.MapSettings)),
    metric: (name) =>
      name === "Load" ? { ok: true, json: Buffer.from(JSON.stringify(EXAMPLES.MetricValues)) } : undefined,
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

const asObject = (value: unknown): Json => Object(value);
/** The target of a `$ref`; any other value is returned as it is. */
function resolveRef(value: unknown): Json {
  const ref = asObject(value).$ref;
  if (typeof ref !== "string") return asObject(value);
  let at: Json = DOCUMENT;
  for (const part of ref.slice(2).split("/")) at = asObject(at[part]);
  expect(Object.keys(at).length).toBeGreaterThan(0);
  return at;
}

/** Replaces every `$ref` by its target. */
function inlineRefs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inlineRefs);
  if (value === null || typeof value !== "object") return value;
  if ("$ref" in value) return inlineRefs(resolveRef(value));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inlineRefs(inner)]));
}

const checks = new Map<unknown, ReturnType<typeof Compile>>();
function errorsOf(schema: unknown, body: unknown): unknown[] {
  let check = checks.get(schema);
  if (!check) {
    check = Compile(asObject(inlineRefs(schema)));
    checks.set(schema, check);
  }
  return check.Check(body) ? [] : [...check.Errors(body), body];
}

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

const LINK_ID = `${deviceId(1)}/1-${deviceId(2)}/2`;
const PATH_VALUES: Readonly<Record<string, { good: string; bad: string }>> = {
  id: { good: deviceId(1), bad: "unknown" },
  mac: { good: "00:00:00:00:00:01", bad: "00:00:00:00:00:99" },
  vlan: { good: "-1", bad: "77" },
  n: { good: "0", bad: "999" },
  page: { good: "errors", bad: "unknown" },
  metric: { good: "Load", bad: "unknown" },
  src: { good: deviceId(1), bad: "unknown" },
  dst: { good: deviceId(2), bad: "unknown" },
  device: { good: deviceId(1), bad: "unknown" },
  port: { good: "1", bad: "77" },
};

/** For each query parameter: good values (with the other parameters they need) and a bad one. */
const VALUES: Readonly<Record<string, { good: string[]; bad: string }>> = {
  available: { good: ["true", "true,false"], bad: "maybe" },
  isEnabled: { good: ["false"], bad: "0" },
  bidirectional: { good: ["true"], bad: "both" },
  verified: { good: ["false"], bad: "x" },
  configured: { good: ["true"], bad: "x" },
  suspended: { good: ["true"], bad: "x" },
  role: { good: ["MASTER,NONE"], bad: "BOSS" },
  state: { good: ["ACTIVE"], bad: "UP" },
  mac: { good: ["00:00:00:00:00:01"], bad: "zz" },
  vlan: { good: ["None,10"], bad: "9999" },
  innerVlan: { good: ["20"], bad: "x" },
  revision: { good: ["1", "1,2"], bad: "one" },
  portSpeed: { good: ["10000"], bad: "fast" },
  ip: { good: ["10.0.0.0/24", "2001:db8::1"], bad: "10" },
  device: { good: [deviceId(1)], bad: `${deviceId(1)}&device=x` },
  drift: { good: ["any", "missing,differs"], bad: "lost" },
  direction: { good: ["all", `ingress&device=${deviceId(1)}`], bad: "sideways" },
  around: { good: [deviceId(1), `${deviceId(1)}&hops=2`], bad: "unknown" },
  hops: { good: ["1", `3&around=${deviceId(1)}`], bad: `99&around=${deviceId(1)}` },
  fields: { good: ["revision"], bad: "nonsense" },
  sort: { good: ["revision", "-revision"], bad: "nonsense" },
  limit: { good: ["1", "2"], bad: "0" },
  cursor: { good: [], bad: "=" },
  at: { good: ["1", "2026-11-15T01:00:01Z"], bad: "x" },
  since: { good: ["0", "1"], bad: "-1" },
  fold: { good: ["false", "true&since=0"], bad: "x" },
  conflict: { good: ["false", "true"], bad: "x" },
  count: { good: ["device"], bad: "x" },
  diff: { good: ["0..1", "1.."], bad: "x" },
  timeline: { good: ["5"], bad: "0" },
  incident: { good: ["previous", "next"], bad: "last" },
  from: { good: ["2026-11-15T01:00:00Z&timeline=2"], bad: "x&timeline=2" },
  to: { good: ["2026-11-16T01:00:00Z&timeline=2"], bad: "x&timeline=2" },
  "min-revision": { good: ["0", "1"], bad: "x" },
  q: { good: ["a"], bad: "" },
  explain: { good: ["true", "false", "true&at=1"], bad: "yes" },
};
/** A field of free text accepts any value; only giving it twice is a fault. */
const anyText = (name: string) => ({ good: ["x"], bad: `x&${name}=y` });

function valuesOf(path: string, { name, schema }: Json): { good: string[]; bad: string } {
  const key = String(name);
  const { enum: allowed } = resolveRef(asObject(schema).items ?? schema);
  if (key === "type" && Array.isArray(allowed)) return { good: allowed.map(String), bad: "NOTHING" };
  if (key === "format" && Array.isArray(allowed)) return { good: allowed.map(String), bad: "xml" };
  if (path.endsWith("/problems") && Array.isArray(allowed))
    return { good: allowed.map(String), bad: "nothing" };
  // Of problems there is no document of changes, only a stream.
  if (path.endsWith("/problems") && key === "since") return { good: ["1&format=events"], bad: "1" };
  // On ports it is a field; elsewhere it needs a device.
  if (key === "port")
    return path.endsWith("/ports") ? anyText(key) : { good: [`1&device=${deviceId(1)}`], bad: "1" };
  return VALUES[key] ?? anyText(key);
}

const paths = Object.entries(asObject(DOCUMENT.paths)).map(([path, item]) => [path, asObject(item)] as const);

const parametersOf = (item: Json): Json[] => {
  const { parameters } = asObject(item.get);
  return (Array.isArray(parameters) ? parameters : []).map(resolveRef);
};

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
    expect(await check("bad id", request("", { headers: { ...events, "last-event-id": "x" } }))).toBe(400);
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

test("the largest limit in /openapi.json is the configured one", async () => {
  await using small = await openHarness({ limits: { pageLimit: 7 } });
  const { components } = asObject(await (await small.fetch("/openapi.json")).json());
  expect(asObject(asObject(asObject(components).parameters).Limit).schema).toMatchObject({ maximum: 7 });
});

/** Calls `visit` with every object below `value` and the path of keys that leads to it. */
function walk(
  value: unknown,
  visit: (node: Json, path: readonly string[]) => void,
  path: string[] = [],
): void {
  if (value === null || typeof value !== "object") return;
  if (!Array.isArray(value)) visit(asObject(value), path);
  for (const [key, inner] of Object.entries(value)) if (key !== "example") walk(inner, visit, [...path, key]);
}

test("a path has one operation, with a tag, a description, and an example for each JSON body", () => {
  const names = (Array.isArray(DOCUMENT.tags) ? DOCUMENT.tags : []).map(({ name }) => name);
  for (const [path, item] of paths) {
    expect([path, Object.keys(item)]).toEqual([path, ["get"]]);
    const { tags, summary, description, responses } = asObject(item.get);
    expect([path, names]).toEqual([path, expect.arrayContaining([String(tags)])]);
    expect([path, typeof summary, typeof description]).toEqual([path, "string", "string"]);
    const contents = Object.entries(asObject(asObject(asObject(responses)["200"]).content));
    expect(contents.length).toBeGreaterThan(0);
    for (const [type, { schema, example }] of contents.map(([type, one]) => [type, asObject(one)] as const)) {
      if (!type.endsWith("json")) continue;
      expect([path, type, errorsOf(schema, example)]).toEqual([path, type, []]);
    }
  }
  expect(DOCUMENT.servers).toBeArray();
});

test("application/json of a path is one named schema", () => {
  walk(DOCUMENT.paths, (node, path) => {
    const json = asObject(node["application/json"]);
    if (path.at(-1) === "content" && node["application/json"] !== undefined)
      expect([path, asObject(json.schema).$ref]).toEqual([path, expect.stringContaining("#/components/")]);
  });
});

test("every object, enum and union is a named component, and no schema has a default", () => {
  const inline: string[] = [];
  walk(DOCUMENT, (node, path) => {
    const isComponent = path.length === 3 && path[0] === "components" && path[1] === "schemas";
    const isSchema = path.some((key) => key === "schema" || key === "schemas");
    if (!isSchema || isComponent) return;
    const compound = ["enum", "required", "anyOf", "oneOf", "allOf", "patternProperties", "default"];
    for (const key of compound) if (Object.hasOwn(node, key)) inline.push(`${path.join("/")}: ${key}`);
  });
  expect(inline).toEqual([]);
  expect(Object.keys(asObject(asObject(DOCUMENT.components).schemas))).toEqual(
    expect.arrayContaining([
      "Change",
      "Moment",
      "Location",
      "Endpoint",
      "Annotations",
      "DeviceType",
      "Direction",
    ]),
  );
});

test("revisions and epoch times are 64-bit integers, annotations a map, graphs in JSON objects", () => {
  const { schemas } = asObject(DOCUMENT.components);
  const property = (name: string, key: string) => asObject(asObject(asObject(schemas)[name]).properties)[key];
  const int64 = expect.objectContaining({ type: "integer", format: "int64" });
  for (const name of ["Device", "Port", "Link", "Host", "Change", "Changes", "Moment", "Readiness"])
    expect([name, property(name, "revision")]).toEqual([name, int64]);
  for (const name of ["Topology", "Change", "Moment"])
    expect([name, property(name, "time")]).toEqual([name, int64]);
  for (const key of ["from", "to"]) expect([key, property("Timeline", key)]).toEqual([key, int64]);
  for (const key of ["since", "lastSyncedAt"])
    expect([key, property("SourceStatus", key)]).toEqual([key, int64]);
  expect(schemas).toMatchObject({
    Annotations: { type: "object", additionalProperties: { type: "string" } },
    Netjson: { type: "object" },
    Rfc8345: { type: "object" },
  });
});

/** A value of a query parameter as its schema sees it. */
function parseValue(schema: Json, text: string): unknown {
  const { type, items } = resolveRef(schema);
  if (type === "array") return text.split(",").map((part) => parseValue(asObject(items), part));
  if (type === "integer" || type === "number") return text === "" ? text : Number(text);
  return type === "boolean" && (text === "true" || text === "false") ? text === "true" : text;
}

test("the limits and patterns of parameters are those of the service", () => {
  const outside = new Set<string>();
  for (const [path, item] of paths) {
    for (const parameter of parametersOf(item).filter((one) => one.in === "query")) {
      const schema = asObject(parameter.schema);
      const check = (value: string) => errorsOf(schema, parseValue(schema, value.split("&")[0] ?? ""));
      const { good, bad } = valuesOf(path, parameter);
      for (const value of good)
        expect([parameter.name, value, check(value)]).toEqual([parameter.name, value, []]);
      if (!bad.includes("&") && check(bad).length > 0) outside.add(String(parameter.name));
    }
  }
  for (const name of [
    "available",
    "cursor",
    "diff",
    "at",
    "direction",
    "fields",
    "fold",
    "format",
    "ip",
    "limit",
  ])
    expect([...outside]).toContain(name);
  for (const name of ["mac", "q", "revision", "role", "sort", "state", "timeline", "type", "vlan"])
    expect([...outside]).toContain(name);
});

test("operation ids are unique, and every $ref has a target", () => {
  const ids = paths.flatMap(([, item]) =>
    Object.values(item).flatMap((operation) => asObject(operation).operationId ?? []),
  );
  expect(new Set(ids).size).toBe(ids.length);
  inlineRefs(DOCUMENT);
});

test("only the health probes are documented as needing no credentials", () => {
  expect(DOCUMENT.security).toEqual([{ basic: [] }]);
  const open = paths.filter(([, item]) => asObject(item.get).security !== undefined).map(([path]) => path);
  expect(open).toEqual(["/healthz", "/readyz"]);
});
