/**
 * The OpenAPI document: its golden copy, and the proof that it is true. Every documented request is sent, with every
 * parameter well and badly filled, and each answer is held against what the document says of it.
 *
 * After a change of the interface: UPDATE_GOLDEN=1 bun test test/api/openapi.test.ts
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { Compile } from "typebox/compile";
import manifest from "../../package.json";
import { openapi, openapiText } from "../../src/api/openapi.ts";
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
let locked: Harness;
beforeAll(async () => {
  const page = createStaticSite(async () => [
    { path: "/", type: "text/html; charset=utf-8", bytes: Buffer.from("<p>") },
  ]);
  h = await openHarness({ page, origins: ["https://map.example"], limits: { requestsPerSecond: 100_000 } });
  await h.replace(SAMPLE);
  await h.apply([{ op: "set", kind: "devices", claim: { id: deviceId(3), available: false } }]);
  locked = await openHarness({ limits: { streamsPerUser: 0 } });
});
afterAll(() => Promise.all([h.stop(), locked.stop()]));

const object = (value: unknown): Json => Object(value);
/** What a `$ref` leads to; anything else is itself. */
function resolved(value: unknown): Json {
  const ref = object(value).$ref;
  if (typeof ref !== "string") return object(value);
  let at: Json = DOCUMENT;
  for (const part of ref.slice(2).split("/")) at = object(at[part]);
  expect(Object.keys(at).length).toBeGreaterThan(0);
  return at;
}

/** With every reference replaced by what it leads to. */
function inlined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inlined);
  if (value === null || typeof value !== "object") return value;
  if ("$ref" in value) return inlined(resolved(value));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inlined(inner)]));
}

const checks = new Map<unknown, ReturnType<typeof Compile>>();
function errorsOf(schema: unknown, body: unknown): unknown[] {
  let check = checks.get(schema);
  if (!check) {
    check = Compile(object(inlined(schema)));
    checks.set(schema, check);
  }
  return check.Check(body) ? [] : [...check.Errors(body), body];
}

/** Headers that HTTP and the runtime add; every other one is ours and must be documented. */
const NOT_OURS = ["date", "content-length", "content-type", "transfer-encoding", "connection", "keep-alive"];

async function checkAnswer(operation: Json, response: Response, what: string): Promise<number> {
  const responses = object(operation.responses);
  expect([what, Object.keys(responses)]).toEqual([what, expect.arrayContaining([String(response.status)])]);
  const told = resolved(responses[String(response.status)]);
  const names = Object.keys(object(told.headers)).map((name) => name.toLowerCase());
  for (const name of response.headers.keys())
    if (!NOT_OURS.includes(name))
      expect([what, name, names]).toEqual([what, name, expect.arrayContaining([name])]);
  const content = object(told.content);
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  if (response.status === 304 || response.status === 204 || told.content === undefined) {
    expect(await response.text()).toBe("");
    return response.status;
  }
  expect([what, Object.keys(content)]).toEqual([what, expect.arrayContaining([type])]);
  if (type === "text/event-stream") {
    await response.body?.cancel();
    return response.status;
  }
  const text = await response.text();
  const { schema } = object(content[type]);
  expect([
    what,
    errorsOf(schema, type.endsWith("json") && object(schema).type !== "string" ? JSON.parse(text) : text),
  ]).toEqual([what, []]);
  return response.status;
}

const PATH_VALUES: Readonly<Record<string, { good: string; bad: string }>> = {
  id: { good: deviceId(1), bad: "nobody" },
  mac: { good: "00:00:00:00:00:01", bad: "00:00:00:00:00:99" },
  vlan: { good: "-1", bad: "77" },
  n: { good: "0", bad: "999" },
};

/** For each query parameter: values that must be taken (with what they need besides) and one that must be refused. */
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
  around: { good: [deviceId(1), `${deviceId(1)}&hops=2`], bad: "nobody" },
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
/** Fields of free text take anything once. */
const anyText = (name: string) => ({ good: ["x"], bad: `x&${name}=y` });

function valuesOf(path: string, { name, schema }: Json): { good: string[]; bad: string } {
  const key = String(name);
  const allowed = object(object(schema).items).enum ?? object(schema).enum;
  if (key === "type" && Array.isArray(allowed)) return { good: allowed.map(String), bad: "NOTHING" };
  if (key === "format" && Array.isArray(allowed)) return { good: allowed.map(String), bad: "xml" };
  // On ports it is a field; elsewhere it needs a device.
  if (key === "port")
    return path.endsWith("/ports") ? anyText(key) : { good: [`1&device=${deviceId(1)}`], bad: "1" };
  return VALUES[key] ?? anyText(key);
}

const paths = Object.entries(object(DOCUMENT.paths)).map(([path, item]) => [path, object(item)] as const);

test.each(paths)("%s: every documented request is answered as documented", async (path, item) => {
  const filled = (which: "good" | "bad") =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      if (name === "id" && path.includes("hosts"))
        return which === "good" ? "00:00:00:00:00:01%2FNone" : "nobody";
      return PATH_VALUES[name]?.[which] ?? "";
    });
  const address = filled("good");
  const ask = (more: string, init: RequestInit = {}) =>
    h.fetch(address + more, { ...init, headers: { origin: "https://map.example", ...init.headers } });
  const get = object(item.get);
  const seen = new Set<number>();
  const check = async (what: string, response: Promise<Response>, operation = get) => {
    const status = await checkAnswer(operation, await response, `${path} ${what}`);
    seen.add(status);
    return status;
  };

  expect(await check("plain", ask(""))).toBe(200);
  expect(await check("HEAD", ask("", { method: "HEAD" }), object(item.head))).toBe(200);
  expect(await check("OPTIONS", ask("", { method: "OPTIONS" }), object(item.options))).toBe(204);
  const parameters = (Array.isArray(item.parameters) ? item.parameters : []).map(resolved);
  for (const parameter of parameters.filter((one) => one.in === "query")) {
    const { good, bad } = valuesOf(path, parameter);
    for (const value of good)
      expect([
        `${parameter.name}=${value}`,
        await check(`${parameter.name}=${value}`, ask(`?${parameter.name}=${value}`)),
      ]).toEqual([`${parameter.name}=${value}`, 200]);
    expect([parameter.name, await check(`bad ${parameter.name}`, ask(`?${parameter.name}=${bad}`))]).toEqual([
      parameter.name,
      400,
    ]);
  }
  if (parameters.some(({ name }) => name === "If-None-Match")) {
    expect(await check("304", ask("", { headers: { "if-none-match": "*" } }))).toBe(304);
    expect(
      await check(
        "HEAD 304",
        ask("", { method: "HEAD", headers: { "if-none-match": "*" } }),
        object(item.head),
      ),
    ).toBe(304);
  }
  if (parameters.some(({ name }) => name === "Accept-Encoding"))
    for (const coding of ["gzip", "br", "zstd"])
      await check(coding, ask("", { headers: { "accept-encoding": coding } }));
  if (parameters.some(({ name }) => name === "Last-Event-ID")) {
    const events = { accept: "text/event-stream" };
    expect(await check("resume", ask("", { headers: { ...events, "last-event-id": "1" } }))).toBe(200);
    expect(await check("bad id", ask("", { headers: { ...events, "last-event-id": "x" } }))).toBe(400);
    expect(await check("no streams", locked.fetch(`${address}?format=events`))).toBe(429);
  }
  for (const type of Object.keys(object(object(object(get.responses)["200"]).content)))
    expect(await check(type, ask("", { headers: { accept: type } }))).toBe(200);
  if (Object.hasOwn(object(get.responses), "406"))
    expect(await check("406", ask("", { headers: { accept: "image/png" } }))).toBe(406);
  if (Object.hasOwn(object(get.responses), "401"))
    expect(await check("401", fetch(h.url + address))).toBe(401);
  else expect(await check("open", fetch(h.url + address))).toBe(200);
  if (Object.hasOwn(object(get.responses), "404"))
    expect(await check("404", h.fetch(filled("bad")))).toBe(404);
  if (Object.hasOwn(object(get.responses), "414"))
    expect(await check("414", ask(`?x=${"y".repeat(9000)}`))).toBe(414);
});

test("every parameter the service takes is documented, and the other way round", async () => {
  for (const [path, item] of paths.filter(
    ([path]) => path.startsWith("/controller") && !path.includes("{"),
  )) {
    const response = await h.fetch(`${path}?zzzzzz=1`);
    const { detail } = await response.json();
    const there = /There are: (.*)\.$/.exec(detail)?.[1]?.split(", ") ?? [];
    const documented = (Array.isArray(item.parameters) ? item.parameters : [])
      .map(resolved)
      .filter((one) => one.in === "query")
      .map(({ name }) => String(name).replace("annotations.name", "annotations.KEY"));
    expect(documented.toSorted()).toEqual(there.toSorted());
  }
});

test("the document that is served is this one, for its own version", async () => {
  const response = await h.fetch("/openapi.json");
  expect(await response.json()).toEqual(JSON.parse(JSON.stringify(openapi("1.2.3"))));
});

test("ids of operations are unique, and every reference leads somewhere", () => {
  const ids = paths.flatMap(([, item]) =>
    Object.values(item).flatMap((operation) => object(operation).operationId ?? []),
  );
  expect(new Set(ids).size).toBe(ids.length);
  inlined(DOCUMENT);
});

test("credentials are asked for everywhere but where the document says not", () => {
  expect(DOCUMENT.security).toEqual([{ basic: [] }]);
  const open = paths.filter(([, item]) => object(item.get).security !== undefined).map(([path]) => path);
  expect(open).toEqual(["/healthz", "/readyz"]);
});
