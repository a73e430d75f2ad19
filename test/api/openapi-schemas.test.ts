/** The OpenAPI document by itself: its names, examples, types and limits, as generators of clients need them. */
import { expect, test } from "bun:test";
import {
  asObject,
  DOCUMENT,
  errorsOf,
  inlineRefs,
  type Json,
  parametersOf,
  paths,
  resolveRef,
} from "./openapi-document.ts";
import { valuesOf } from "./openapi-values.ts";

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

test("every object may have more fields, unless it says otherwise: the interface gains fields", () => {
  const closed: string[] = [];
  walk(DOCUMENT.components, (node, path) => {
    if (node.type !== "object" || !path.includes("schemas")) return;
    const { additionalProperties } = node;
    if (additionalProperties === false) closed.push(String(path[1]));
    else expect([path, additionalProperties]).toEqual([path, expect.anything()]);
  });
  // The settings of the map, which are the operator's.
  expect(closed.every((name) => name.startsWith("Map"))).toBe(true);
});

test("no two enums have a value of the same name, and no parameter has the name of a schema", () => {
  const { schemas, parameters } = asObject(DOCUMENT.components);
  const enums = Object.values(asObject(schemas)).map(asObject);
  const names = enums.flatMap((schema) => {
    if (!Array.isArray(schema.enum)) return [];
    expect(schema["x-enum-varnames"]).toBeArrayOfSize(schema.enum.length);
    return Object.values(asObject(schema["x-enum-varnames"])).map(String);
  });
  expect(names).toEqual(
    expect.arrayContaining(["DeviceTypeRoadmOtn", "DeviceSortAnnotationsNameDescending"]),
  );
  expect(names.filter((name) => !/^[A-Z][A-Za-z0-9]+$/.test(name))).toEqual([]);
  const all = [...names, ...Object.keys(asObject(schemas)), ...Object.keys(asObject(parameters))];
  expect(all.filter((name, i) => all.indexOf(name) !== i)).toEqual([]);
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
  expect(property("PathExplanation", "count")).toEqual(int64);
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
  expect(DOCUMENT.security).toEqual([{ basic: [] }, { bearer: [] }]);
  const open = paths.filter(([, item]) => asObject(item.get).security !== undefined).map(([path]) => path);
  expect(open).toEqual(["/healthz", "/readyz"]);
});
