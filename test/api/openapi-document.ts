/** The OpenAPI document of a service with default limits, and what tests read from it: paths, parameters, schemas. */
import { expect } from "bun:test";
import { Compile } from "typebox/compile";
import { openapiText } from "../../src/api/openapi/document.ts";

export type Json = Readonly<Record<string, unknown>>;
/** The default of `limits.pageLimit`, and the limit of the harness. */
export const PAGE_LIMIT = 10_000;
export const DOCUMENT: Json = JSON.parse(openapiText({ version: "1", pageLimit: PAGE_LIMIT }));

export const asObject = (value: unknown): Json => Object(value);
/** The target of a `$ref`; any other value is returned as it is. */
export function resolveRef(value: unknown): Json {
  const ref = asObject(value).$ref;
  if (typeof ref !== "string") return asObject(value);
  let at: Json = DOCUMENT;
  for (const part of ref.slice(2).split("/")) at = asObject(at[part]);
  expect(Object.keys(at).length).toBeGreaterThan(0);
  return at;
}

/** Replaces every `$ref` by its target. */
export function inlineRefs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inlineRefs);
  if (value === null || typeof value !== "object") return value;
  if ("$ref" in value) return inlineRefs(resolveRef(value));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inlineRefs(inner)]));
}

/** Clients must accept fields that the document does not state. The service sends none: it states all that there are. */
const withoutAdditions = (key: string, value: unknown) =>
  key === "additionalProperties" && value === true ? false : value;

const checks = new Map<unknown, ReturnType<typeof Compile>>();
export function errorsOf(schema: unknown, body: unknown): unknown[] {
  let check = checks.get(schema);
  if (!check) {
    check = Compile(asObject(JSON.parse(JSON.stringify(inlineRefs(schema), withoutAdditions))));
    checks.set(schema, check);
  }
  return check.Check(body) ? [] : [...check.Errors(body), body];
}

export const paths = Object.entries(asObject(DOCUMENT.paths)).map(
  ([path, item]) => [path, asObject(item)] as const,
);

export const parametersOf = (item: Json): Json[] => {
  const { parameters } = asObject(item.get);
  return (Array.isArray(parameters) ? parameters : []).map(resolveRef);
};
