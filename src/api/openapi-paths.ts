/** The paths of the OpenAPI document: one operation each for GET, HEAD and OPTIONS. */
import { formatsOf, type Resource } from "../formats/formats.ts";
import type { Kind } from "../model/ids.ts";
import { JSON_TYPE } from "./media-types.ts";
import {
  COMMON_HEADERS,
  contentOf,
  type HeaderName,
  headerParameterRefs,
  headerRefs,
  type Json,
  problemRefs,
  queryParameters,
  schemaRef,
} from "./openapi-parts.ts";

export const READ_HEADERS: readonly HeaderName[] = [
  ...COMMON_HEADERS,
  "Gazetteer-Revision",
  "Gazetteer-Log",
  "ETag",
];
const listSchema = (key: string, items: Json, otherProperties: Json = {}): Json => ({
  type: "object",
  required: [key],
  properties: { [key]: { type: "array", items }, ...otherProperties },
});

interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly parameters?: readonly Json[];
  readonly pathParameters?: readonly string[];
  readonly headers: readonly HeaderName[];
  readonly content: Json;
  readonly responses: Json;
  /** Whether it needs no credentials. */
  readonly isPublic?: boolean;
}

/** The path item of an operation. HEAD is GET without the body; OPTIONS is the same everywhere. */
function pathItem(operation: Operation): Json {
  const { id, summary, parameters = [], pathParameters = [], content, responses, isPublic } = operation;
  const ok = { description: summary, headers: headerRefs(operation.headers) };
  const security = isPublic ? { security: [] } : {};
  const allParameters = [...pathParameters.map(pathParameter), ...parameters];
  return {
    ...(allParameters.length > 0 && { parameters: allParameters }),
    get: {
      operationId: `read-${id}`,
      summary,
      ...security,
      responses: { "200": { ...ok, content }, ...responses },
    },
    head: { operationId: `head-${id}`, summary, ...security, responses: { "200": ok, ...responses } },
    options: {
      operationId: `options-${id}`,
      summary: "The supported methods; also the CORS preflight.",
      security: [],
      responses: { "204": { $ref: "#/components/responses/Options" } },
    },
  };
}

const pathParameter = (name: string): Json => ({
  name,
  in: "path",
  required: true,
  schema: name === "n" ? { type: "integer", minimum: 0 } : { type: "string" },
});

const SCHEMA_NAMES: Readonly<Record<Kind, string>> = {
  devices: "Device",
  ports: "Port",
  links: "Link",
  hosts: "Host",
};
const NEXT_CURSOR = { next: { type: "string", description: "Cursor of the next page; absent on the last." } };
const NOT_MODIFIED = { "304": { $ref: "#/components/responses/NotModified" } };

function jsonSchema(resource: Resource): Json {
  const changeSchemas = [schemaRef("Changes"), schemaRef("Differences")];
  if (resource === "topology")
    return { anyOf: [schemaRef("Topology"), ...changeSchemas, schemaRef("Timeline")] };
  const list = listSchema(resource, schemaRef(SCHEMA_NAMES[resource]), NEXT_CURSOR);
  const partialList = {
    description: "With `fields`: only these fields.",
    ...listSchema(resource, { type: "object" }, NEXT_CURSOR),
  };
  const targets = resource === "devices" || resource === "hosts" ? [schemaRef("Targets")] : [];
  return { anyOf: [list, partialList, ...changeSchemas, ...targets] };
}

function collectionPath(resource: Resource, summary: string): Json {
  const kind = resource === "topology" ? undefined : resource;
  const formats = formatsOf(resource);
  const hasStream = formats.some((format) => format.stream);
  return pathItem({
    id: resource,
    summary,
    parameters: [
      ...queryParameters(resource, formats),
      ...headerParameterRefs(
        "IfNoneMatch",
        "AcceptEncoding",
        ...(hasStream ? (["LastEventId"] as const) : []),
      ),
    ],
    headers: [
      ...READ_HEADERS,
      "Content-Encoding",
      ...(kind ? (["Link"] as const) : []),
      ...(hasStream ? (["X-Accel-Buffering"] as const) : []),
    ],
    content: contentOf(resource, jsonSchema(resource)),
    responses: { ...NOT_MODIFIED, ...problemRefs(400, 401, 406, 410, 414, 429, 431, 500, 503) },
  });
}

function itemPath(id: string, summary: string, schema: Json, pathParameters: readonly string[] = []): Json {
  const json = formatsOf("topology").filter((format) => format.name === "json");
  return pathItem({
    id,
    summary,
    pathParameters,
    parameters: [...queryParameters("item", json), ...headerParameterRefs("IfNoneMatch", "AcceptEncoding")],
    headers: [...READ_HEADERS, "Content-Encoding"],
    content: { [JSON_TYPE]: { schema } },
    responses: {
      ...NOT_MODIFIED,
      ...problemRefs(400, 401),
      ...(pathParameters.length > 0 && problemRefs(404)),
      ...problemRefs(406, 410, 414, 429, 431, 500, 503),
    },
  });
}

const AUXILIARY_PROBLEMS = problemRefs(401, 414, 429, 431, 500, 503);
const HEALTH_HEADERS: readonly HeaderName[] = ["Cache-Control", "X-Content-Type-Options"];
const PAGE_HEADERS: readonly HeaderName[] = [
  "Cache-Control",
  "X-Content-Type-Options",
  "Vary",
  "ETag",
  "Content-Encoding",
  "Content-Security-Policy",
  "Cross-Origin-Opener-Policy",
  "Cross-Origin-Resource-Policy",
  "Permissions-Policy",
  "Referrer-Policy",
];
const ALIVE_SCHEMA = { type: "object", required: ["status"], properties: { status: { const: "alive" } } };

export const PATHS: Json = {
  "/controller/v1/devices": collectionPath("devices", "Devices, in order of id."),
  "/controller/v1/devices/ports": collectionPath("ports", "Ports of all devices."),
  "/controller/v1/devices/{id}": itemPath("device", "One device.", schemaRef("Device"), ["id"]),
  "/controller/v1/devices/{id}/ports": itemPath(
    "device-ports",
    "One device with its ports.",
    { allOf: [schemaRef("Device"), listSchema("ports", schemaRef("Port"))] },
    ["id"],
  ),
  "/controller/v1/links": collectionPath("links", "Links, one record a direction, in order of id."),
  "/controller/v1/hosts": collectionPath("hosts", "Hosts, in order of id."),
  "/controller/v1/hosts/{id}": itemPath("host", "One host, its id percent-encoded.", schemaRef("Host"), [
    "id",
  ]),
  "/controller/v1/hosts/{mac}/{vlan}": itemPath(
    "host-by-mac",
    "One host; -1 is VLAN None.",
    schemaRef("Host"),
    ["mac", "vlan"],
  ),
  "/controller/v1/topology": collectionPath(
    "topology",
    "The topology: counts, or the graph in a graph format.",
  ),
  "/controller/v1/topology/clusters": itemPath(
    "clusters",
    "All clusters.",
    listSchema("clusters", schemaRef("Cluster")),
  ),
  "/controller/v1/topology/clusters/{n}": itemPath(
    "cluster",
    "One cluster; clusters are numbered from 0.",
    schemaRef("Cluster"),
    ["n"],
  ),
  "/controller/v1/topology/clusters/{n}/devices": itemPath(
    "cluster-devices",
    "The ids of a cluster's devices.",
    listSchema("devices", { type: "string" }),
    ["n"],
  ),
  "/controller/v1/topology/clusters/{n}/links": itemPath(
    "cluster-links",
    "A cluster's links.",
    listSchema("links", schemaRef("Link")),
    ["n"],
  ),
  "/healthz": pathItem({
    id: "health",
    summary: "Whether the process responds.",
    headers: HEALTH_HEADERS,
    content: { [JSON_TYPE]: { schema: ALIVE_SCHEMA } },
    responses: {},
    isPublic: true,
  }),
  "/readyz": pathItem({
    id: "readiness",
    summary: "Whether every source has synced.",
    headers: HEALTH_HEADERS,
    content: { [JSON_TYPE]: { schema: schemaRef("Ready") } },
    responses: {
      "503": {
        description: "Not ready yet, or stopping.",
        headers: headerRefs(HEALTH_HEADERS),
        content: { [JSON_TYPE]: { schema: schemaRef("Ready") } },
      },
    },
    isPublic: true,
  }),
  "/metrics": pathItem({
    id: "metrics",
    summary: "Metrics in Prometheus' text format.",
    headers: COMMON_HEADERS,
    content: { "text/plain": { schema: { type: "string" } } },
    responses: AUXILIARY_PROBLEMS,
  }),
  "/openapi.json": pathItem({
    id: "description",
    summary: "This document.",
    headers: COMMON_HEADERS,
    content: { [JSON_TYPE]: { schema: { type: "object" } } },
    responses: AUXILIARY_PROBLEMS,
  }),
  "/": pathItem({
    id: "page",
    summary: "The web page with the map.",
    headers: PAGE_HEADERS,
    content: { "text/html": { schema: { type: "string" } } },
    responses: {
      "304": {
        description: "The representation still has an entity tag of If-None-Match.",
        headers: headerRefs(PAGE_HEADERS),
      },
      ...AUXILIARY_PROBLEMS,
    },
  }),
};
