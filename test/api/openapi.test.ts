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
import { openapiDocument, openapiText } from "../../src/api/openapi.ts";
import { createStaticSite } from "../../src/api/static-site.ts";
import { type Harness, openHarness } from "./harness.ts";
import { deviceId, SAMPLE } from "./network.ts";

type Json = Readonly<Record<string, unknown>>;
const GOLDEN = join(import.meta.dir, "..", "..", "openapi.json");
const DOCUMENT: Json = JSON.parse(openapiText("1"));

test("openapi.json is what the service serves", async () => {
  const text = openapiText(manifest.version);
  if (process.env.UPDATE_GOLDEN === "1") await Bun.write(GOLDEN, text);
  expect(await Bun.file(GOLDEN).text()).toBe(text);
});

let h: Harness;
let withoutStreams: Harness;
beforeAll(async () => {
  const site = createStaticSite(async () => [
    { path: "/", type: "text/html; charset=utf-8", bytes: Buffer.from("<p>") },
  ]);
  h = await openHarness({ site, origins: ["https://map.example"], limits: { requestsPerSecond: 100_000 } });
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
  if (response.status === 304 || response.status === 204 || documented.content === undefined) {
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
  expect([
    what,
    errorsOf(schema, type.endsWith("json") && asObject(schema).type !== "string" ? JSON.parse(text) : text),
  ]).toEqual([what, []]);
  return response.status;
}

const PATH_VALUES: Readonly<Record<string, { good: string; bad: string }>> = {
  id: { good: deviceId(1), bad: "unknown" },
  mac: { good: "00:00:00:00:00:01", bad: "00:00:00:00:00:99" },
  vlan: { good: "-1", bad: "77" },
  n: { good: "0", bad: "999" },
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
  direction: { good: [`ingress&device=${deviceId(1)}`], bad: "sideways" },
  around: { good: [deviceId(1), `${deviceId(1)}&hops=2`], bad: "unknown" },
  hops: { good: [`3&around=${deviceId(1)}`], bad: `99&around=${deviceId(1)}` },
  fields: { good: ["revision"], bad: "nonsense" },
  sort: { good: ["revision", "-revision"], bad: "nonsense" },
  limit: { good: ["1", "2"], bad: "0" },
  cursor: { good: [], bad: "x" },
  at: { good: ["1", "2026-11-15T01:00:01Z"], bad: "x" },
  since: { good: ["0", "1"], bad: "999999" },
  fold: { good: ["true&since=0"], bad: "x" },
  diff: { good: ["0..1", "1.."], bad: "x" },
  timeline: { good: ["5"], bad: "0" },
  from: { good: ["2026-11-15T01:00:00Z&timeline=2"], bad: "x&timeline=2" },
  to: { good: ["2026-11-16T01:00:00Z&timeline=2"], bad: "x&timeline=2" },
  q: { good: ["a"], bad: "" },
};
/** A field of free text accepts any value; only giving it twice is a fault. */
const anyText = (name: string) => ({ good: ["x"], bad: `x&${name}=y` });

function valuesOf(path: string, { name, schema }: Json): { good: string[]; bad: string } {
  const key = String(name);
  const allowed = asObject(asObject(schema).items).enum ?? asObject(schema).enum;
  if (key === "type" && Array.isArray(allowed)) return { good: allowed.map(String), bad: "NOTHING" };
  if (key === "format" && Array.isArray(allowed)) return { good: allowed.map(String), bad: "xml" };
  // On ports it is a field; elsewhere it needs a device.
  if (key === "port")
    return path.endsWith("/ports") ? anyText(key) : { good: [`1&device=${deviceId(1)}`], bad: "1" };
  return VALUES[key] ?? anyText(key);
}

const paths = Object.entries(asObject(DOCUMENT.paths)).map(([path, item]) => [path, asObject(item)] as const);

test.each(paths)("%s: every response is as documented", async (path, item) => {
  const filled = (which: "good" | "bad") =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      if (name === "id" && path.includes("hosts"))
        return which === "good" ? "00:00:00:00:00:01%2FNone" : "unknown";
      return PATH_VALUES[name]?.[which] ?? "";
    });
  const address = filled("good");
  const request = (more: string, init: RequestInit = {}) =>
    h.fetch(address + more, { ...init, headers: { origin: "https://map.example", ...init.headers } });
  const get = asObject(item.get);
  const seen = new Set<number>();
  const check = async (what: string, response: Promise<Response>, operation = get) => {
    const status = await checkResponse(operation, await response, `${path} ${what}`);
    seen.add(status);
    return status;
  };

  expect(await check("plain", request(""))).toBe(200);
  expect(await check("HEAD", request("", { method: "HEAD" }), asObject(item.head))).toBe(200);
  expect(await check("OPTIONS", request("", { method: "OPTIONS" }), asObject(item.options))).toBe(204);
  const parameters = (Array.isArray(item.parameters) ? item.parameters : []).map(resolveRef);
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
    expect(
      await check(
        "HEAD 304",
        request("", { method: "HEAD", headers: { "if-none-match": "*" } }),
        asObject(item.head),
      ),
    ).toBe(304);
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
    expect(await check(type, request("", { headers: { accept: type } }))).toBe(200);
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
    const documented = (Array.isArray(item.parameters) ? item.parameters : [])
      .map(resolveRef)
      .filter((one) => one.in === "query")
      .map(({ name }) => String(name).replace("annotations.name", "annotations.KEY"));
    expect(documented.toSorted()).toEqual(accepted.toSorted());
  }
});

test("/openapi.json is this document, with the version of the service", async () => {
  const response = await h.fetch("/openapi.json");
  expect(await response.json()).toEqual(JSON.parse(JSON.stringify(openapiDocument("1.2.3"))));
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
