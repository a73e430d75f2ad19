/**
 * Requests generated from openapi.json against a running service: for every operation, parameters that the document
 * allows and values that it does not. Whatever is sent, the response is one that the document describes, errors are
 * problems, and nothing is an internal error.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import openapi from "../../openapi.json" with { type: "json" };
import { runs } from "../support/property.ts";
import { basic, type Service, startService } from "../support/service.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | number)[];
  readonly items?: Schema;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly Schema[];
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema?: Schema;
}
interface ResponseObject {
  readonly content?: Readonly<Record<string, unknown>>;
}
interface Operation {
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly responses: Readonly<Record<string, ResponseObject | { readonly $ref: string }>>;
}

const RUNS_PER_OPERATION = 150;
/** Read from a stream before it is left. */
const MAX_STREAM_CHUNKS = 2;

function resolve<T extends object>(value: T | { readonly $ref: string }): T {
  if (!("$ref" in value)) return value;
  const found: unknown = value.$ref
    .split("/")
    .slice(1)
    .reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], openapi);
  return found as T;
}

const operations = Object.entries(openapi.paths).map(([path, item]) => {
  const { get, parameters = [] } = item as {
    get: Operation;
    parameters?: Operation["parameters"];
  };
  return { path, operation: get, parameters: [...parameters, ...(get.parameters ?? [])].map(resolve) };
});

/** What breaks parsers: separators, encodings, other scripts, very long and very large values. */
const hostileText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom(
    "",
    " ",
    ",",
    ",,",
    "*",
    "..",
    "../..",
    "0",
    "-1",
    "1e9",
    "9".repeat(30),
    "NaN",
    "null",
    "__proto__",
  ),
  fc.constantFrom("%", "%zz", "%00", "%ff", "\u0000", "\ud800", "𝕏", "x".repeat(3000), "a,".repeat(1500)),
);

function allowedText(schema: Schema): fc.Arbitrary<string> {
  const { type, enum: values, items, pattern, minimum = 0, maximum = 10_000, anyOf } = resolve(schema);
  if (anyOf) return fc.oneof(...anyOf.map(allowedText));
  if (values) return fc.constantFrom(...values.map(String));
  if (items) return fc.array(allowedText(items), { minLength: 1, maxLength: 3 }).map((list) => list.join());
  if (type === "boolean") return fc.boolean().map(String);
  if (type === "integer" || type === "number") return fc.integer({ min: minimum, max: maximum }).map(String);
  if (pattern) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ maxLength: 12 });
}

/** Each read that names a revision that does not exist yet waits for it. */
const REVISIONS_THAT_EXIST = fc.constantFrom("0", "1");

function textFor({ name, schema = {} }: Parameter): fc.Arbitrary<string> {
  const allowed = /min-revision$/i.test(name) ? REVISIONS_THAT_EXIST : allowedText(schema);
  return fc.oneof({ weight: 3, arbitrary: allowed }, { weight: 1, arbitrary: hostileText });
}

interface GeneratedRequest {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

function requestsOf({ path, parameters }: (typeof operations)[number]): fc.Arbitrary<GeneratedRequest> {
  const pairs = (kind: string) =>
    fc.tuple(
      ...parameters
        .filter((parameter) => parameter.in === kind)
        .map((parameter) =>
          fc.tuple(
            fc.constant(parameter.name),
            fc.option(textFor(parameter), { freq: kind === "path" ? 1000 : 1 }),
          ),
        ),
    );
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const unknown = fc.array(fc.tuple(hostileText, hostileText), { maxLength: 1 });
  return fc
    .tuple(pairs("path"), fc.shuffledSubarray(inQuery, { maxLength: Math.min(3, inQuery.length) }))
    .chain(([inPath, query]) =>
      fc.record({
        inPath: fc.constant(inPath),
        query: fc.tuple(
          ...query.map((parameter) => fc.tuple(fc.constant(parameter.name), textFor(parameter))),
        ),
        unknown,
        headers: pairs("header"),
      }),
    )
    .map(({ inPath, query, unknown: others, headers }) => {
      let target = path;
      for (const [name, value] of inPath) target = target.replace(`{${name}}`, encode(value ?? "x"));
      const queryText = [...query, ...others]
        .map(([name, value]) => `${encode(name)}=${encode(value)}`)
        .join("&");
      const sendable = headers.filter(([, value]) => value !== null && /^[\x20-\x7e]+$/.test(value));
      return {
        target: queryText === "" ? target : `${target}?${queryText}`,
        headers: Object.fromEntries(sendable.map(([name, value]) => [name, value ?? ""])),
      };
    });
}

/** Percent-encoded, except where the value is itself an attempt at an encoding. Dot segments would leave the path. */
const encode = (text: string): string =>
  text.startsWith("%") ? text : encodeURIComponent(text.toWellFormed()).replaceAll(".", "%2E");

let service: Service;
beforeAll(async () => {
  service = await startService({ args: ["--demo", "--data", ":memory:"] });
});
afterAll(() => service[Symbol.asyncDispose]());

async function send({
  target,
  headers,
}: GeneratedRequest): Promise<{ status: number; type: string; body: string }> {
  const response = await fetch(service.url + target, {
    headers: { Authorization: basic(service.credentials), ...headers },
  });
  const type = (response.headers.get("Content-Type") ?? "").split(";")[0] ?? "";
  if (type !== "text/event-stream") return { status: response.status, type, body: await response.text() };
  const reader = response.body?.getReader();
  for (let i = 0; i < MAX_STREAM_CHUNKS; i++) await reader?.read();
  await reader?.cancel();
  return { status: response.status, type, body: "" };
}

for (const described of operations) {
  const { path, operation } = described;
  test(`GET ${path}: every response is one that the document describes`, async () => {
    await fc.assert(
      fc.asyncProperty(requestsOf(described), async (request) => {
        const { status, type, body } = await send(request);
        expect([200, 304, 400, 401, 404, 405, 406, 410, 414, 429, 431]).toContain(status);
        const response = operation.responses[String(status)];
        // A value in the path that has an encoded slash, or is empty, may be the path of another operation, or of none.
        if (!response && status === 404 && path.includes("{")) return;
        expect(Object.keys(operation.responses)).toContain(String(status));
        if (!response || status === 304) return;
        if (body !== "" || status === 200)
          expect(Object.keys(resolve(response).content ?? {})).toContain(type);
        if (/[/+]json$/.test(type)) {
          const value: unknown = JSON.parse(body);
          if (status >= 400)
            expect(value).toMatchObject({ status, title: expect.any(String), detail: expect.any(String) });
        }
      }),
      { numRuns: runs(RUNS_PER_OPERATION) },
    );
  });
}
