/**
 * The parameters of the OpenAPI document, from the tables that the query parser uses. A parameter that means the same on
 * every path is described once and referenced. No parameter has a `default`, because some generated clients send defaults,
 * and a value may need another parameter with it.
 */
import type { Kind } from "../../model/ids.ts";
import { FIELD_NAMES, SCALAR_FIELDS, SORT_FIELDS } from "../../query/fields.ts";
import { MAX_VALUES } from "../../query/parameter.ts";
import { PARAMETERS, type ParameterRow } from "../../query/parameters.ts";
import { REVISION_PATTERN } from "../../query/revision.ts";
import type { Endpoint, OwnParameter } from "../endpoints/endpoint.ts";
import { type Json, renderSchema, type Schema } from "./components.ts";

type AnyEndpoint = Endpoint<unknown>;

/** Converts `min-revision` to `MinRevision`. */
const capitalised = (name: string): string =>
  name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
/** The name of a component. Generators create a type for each, so it must differ from the names of schemas, such as `Device`. */
const componentName = (name: string): string => `${capitalised(name)}Parameter`;
export const parameterRef = (name: string): Json => ({
  $ref: `#/components/parameters/${componentName(name)}`,
});

const headerParameter = (name: string, description: string, pattern?: string): Json => ({
  name,
  in: "header",
  description,
  schema: { type: "string", ...(pattern !== undefined && { pattern }) },
});
const HEADER_PARAMETERS = {
  IfNoneMatch: headerParameter("If-None-Match", "Entity tags that the client has, or *."),
  AcceptEncoding: headerParameter("Accept-Encoding", "gzip, br, zstd, with q-values."),
  MinRevisionHeader: headerParameter(
    "Gazetteer-Min-Revision",
    "Wait briefly until the view has that revision. Of this and `min-revision` the higher one counts.",
    `^${REVISION_PATTERN}$`,
  ),
  LastEventId: headerParameter(
    "Last-Event-ID",
    "On a stream: the id of the last event, to resume from. Takes precedence over `since`. Where there is nothing to resume from, the stream starts with the event `reset` and a snapshot.",
  ),
} as const;
export const headerParameterRefs = (...names: readonly (keyof typeof HEADER_PARAMETERS)[]): Json[] =>
  names.map((name) => parameterRef(name));

const listParameter = (items: Schema): Json => ({
  schema: { type: "array", items: renderSchema(items), minItems: 1, maxItems: MAX_VALUES },
  style: "form",
  explode: false,
});

const singleParameter = (schema: Schema): Json => ({ schema: renderSchema(schema) });

const queryParameter = (name: string, description: string, shape: Json): Json => ({
  name,
  in: "query",
  description,
  ...shape,
});

/** The enums of `format`, `fields` and `sort`, which differ from endpoint to endpoint. */
function ownEnum(name: string, { parameters: { kind }, variants, openapi }: AnyEndpoint): Json | undefined {
  const $id = `${openapi?.typeName ?? "Item"}${name === "fields" ? "Field" : capitalised(name)}`;
  if (name === "format") return { $id, enum: variants[0].formats.map((format) => format.name) };
  if (kind && name === "fields") return { $id, enum: FIELD_NAMES[kind] };
  return kind && name === "sort" ? { $id, enum: sortKeys(kind) } : undefined;
}

const sortKeys = (kind: Kind): string[] =>
  [...SORT_FIELDS[kind], "annotations.name"].flatMap((field) => [field, `-${field}`]);

const ownParametersOf = ({ openapi }: AnyEndpoint): ReadonlyMap<string, OwnParameter> =>
  new Map(Object.entries(openapi?.parameters ?? {}));

/** The query parameters of an endpoint, in the order of the table. */
export function queryParameters(endpoint: AnyEndpoint): Json[] {
  const { kind, byName } = endpoint.parameters;
  const own = ownParametersOf(endpoint);
  const all = Array.from(byName, ([name, { row }]): Json => {
    const rule = kind && SCALAR_FIELDS[kind].get(name);
    if (rule) {
      const description = `${name} equals one of these. Each must be ${rule.expects}.`;
      return queryParameter(name, description, listParameter(rule.schema));
    }
    const schema = ownEnum(name, endpoint);
    if (!schema) return parameterRef(own.get(name)?.component ?? name);
    const shape = name === "format" ? singleParameter(schema) : listParameter(schema);
    return queryParameter(name, row?.description ?? "", shape);
  });
  return kind ? [...all, parameterRef("Annotation")] : all;
}

/** The schemas that the parameters of an endpoint use. */
export const parameterSchemas = (endpoint: AnyEndpoint): Schema[] =>
  [...endpoint.parameters.byName].flatMap(([name, { row }]): Schema[] => {
    const schema = ownEnum(name, endpoint) ?? row?.schema;
    return schema ? [schema] : [];
  });

/** The parameters that are described once. `pageLimit` is the largest `limit` of this service. */
export function sharedParameters(endpoints: readonly AnyEndpoint[], pageLimit: number): Json {
  const shared: Record<string, Json> = {};
  const add = (name: string, parameter: Json) => {
    shared[componentName(name)] = parameter;
  };
  for (const [name, parameter] of Object.entries(HEADER_PARAMETERS)) add(name, parameter);
  for (const [name, { description, schema = { type: "string" }, multiple }] of Object.entries<ParameterRow>(
    PARAMETERS,
  )) {
    if (["format", "fields", "sort"].includes(name)) continue;
    const limited = name === "limit" ? { ...schema, maximum: pageLimit } : schema;
    const shape = multiple ? listParameter(limited) : singleParameter(limited);
    add(name, queryParameter(name, description, shape));
  }
  const inOrderOfPath = endpoints.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  for (const [name, { component, description, schema, required }] of inOrderOfPath.flatMap((endpoint) => [
    ...ownParametersOf(endpoint),
  ])) {
    const parameter = queryParameter(name, description, singleParameter(schema));
    add(component, required ? { ...parameter, required } : parameter);
  }
  const description = "An annotation equals one of these. Any key can follow the dot, not only `name`.";
  add("Annotation", queryParameter("annotations.name", description, listParameter({ type: "string" })));
  return shared;
}

const PATH_SCHEMAS: Readonly<Record<string, Json>> = {
  n: { type: "integer", minimum: 0, maximum: 999_999_999 },
  port: { type: "string", pattern: "^(\\d{1,10}|local|controller)$" },
};
const PATH_DESCRIPTIONS: Readonly<Record<string, string>> = {
  id: "The id, percent-encoded.",
  mac: "The MAC address, in any usual notation.",
  vlan: "The VLAN: None, Any or a tag; -1 is None.",
  n: "The number of the cluster; clusters are numbered from 0.",
  page: "The name of the page, without `.md`.",
  metric: "The name of the metric, as `/map/settings.json` has it, percent-encoded.",
  src: "The device (id, alias or name) or host (id) where the path begins, percent-encoded.",
  dst: "The device (id, alias or name) or host (id) where the path ends, percent-encoded.",
  device: "The device: its id, an alias or its name.",
  port: "The port: a decimal number, local or controller.",
};
export const pathParameter = (name: string): Json => ({
  name,
  in: "path",
  required: true,
  description: PATH_DESCRIPTIONS[name] ?? "",
  schema: PATH_SCHEMAS[name] ?? { type: "string", minLength: 1 },
});
