/**
 * The interface described for machines: OpenAPI 3.1, put together from the schemas, the table of formats, the table of
 * parameters and the table of problems, so that it cannot say anything the code does not do. `openapi.json` in the
 * repository is its golden copy: a change of the interface is a visible change of that file.
 */
import { formatsOf, type Resource } from "../formats/formats.ts";
import { Cluster, Device, Host, Link, Port, Topology } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
import {
  ALWAYS_HEADERS,
  contentOf,
  HEADERS,
  type HeaderName,
  headerParameters,
  headers,
  type Json,
  PARAMETER_PARTS,
  PROBLEM_RESPONSES,
  problems,
  queryParameters,
  schemaRef,
} from "./openapi-parts.ts";
import { CHANGE_SCHEMAS, PROBLEM_SCHEMA, READY_SCHEMA } from "./openapi-schemas.ts";

const JSON_TYPE = "application/json";
const READ_HEADERS: readonly HeaderName[] = [
  ...ALWAYS_HEADERS,
  "Gazetteer-Revision",
  "Gazetteer-Log",
  "ETag",
];
const listOf = (key: string, items: Json, more: Json = {}): Json => ({
  type: "object",
  required: [key],
  properties: { [key]: { type: "array", items }, ...more },
});

interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly parameters?: readonly Json[];
  readonly pathParameters?: readonly string[];
  readonly headers: readonly HeaderName[];
  readonly content: Json;
  readonly responses: Json;
  /** Needs no credentials. */
  readonly open?: boolean;
}

/** The three methods of a path: HEAD is GET without its body, OPTIONS is the same everywhere. */
function path(operation: Operation): Json {
  const { id, summary, parameters = [], pathParameters = [], content, responses, open } = operation;
  const ok = { description: summary, headers: headers(operation.headers) };
  const security = open ? { security: [] } : {};
  const all = [...pathParameters.map(pathParameter), ...parameters];
  return {
    ...(all.length > 0 && { parameters: all }),
    get: {
      operationId: `read-${id}`,
      summary,
      ...security,
      responses: { "200": { ...ok, content }, ...responses },
    },
    head: { operationId: `head-${id}`, summary, ...security, responses: { "200": ok, ...responses } },
    options: {
      operationId: `options-${id}`,
      summary: "Which methods there are; the preflight of a browser.",
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

const SINGULAR: Readonly<Record<Kind, string>> = {
  devices: "Device",
  ports: "Port",
  links: "Link",
  hosts: "Host",
};
const NEXT = { next: { type: "string", description: "Cursor of the next page; absent on the last." } };
const NOT_MODIFIED = { "304": { $ref: "#/components/responses/NotModified" } };

function jsonSchema(resource: Resource): Json {
  const shapes = [schemaRef("Changes"), schemaRef("Differences")];
  if (resource === "topology") return { anyOf: [schemaRef("Topology"), ...shapes, schemaRef("Timeline")] };
  const list = listOf(resource, schemaRef(SINGULAR[resource]), NEXT);
  const some = {
    description: "With `fields`: only those.",
    ...listOf(resource, { type: "object" }, NEXT),
  };
  const targets = resource === "devices" || resource === "hosts" ? [schemaRef("Targets")] : [];
  return { anyOf: [list, some, ...shapes, ...targets] };
}

function collection(resource: Resource, summary: string): Json {
  const kind = resource === "topology" ? undefined : resource;
  const formats = formatsOf(resource);
  const streams = formats.some((format) => format.name === "events");
  return path({
    id: resource,
    summary,
    parameters: [
      ...queryParameters(resource, formats),
      ...headerParameters("IfNoneMatch", "AcceptEncoding", ...(streams ? (["LastEventId"] as const) : [])),
    ],
    headers: [
      ...READ_HEADERS,
      "Content-Encoding",
      ...(kind ? (["Link"] as const) : []),
      ...(streams ? (["X-Accel-Buffering"] as const) : []),
    ],
    content: contentOf(resource, jsonSchema(resource)),
    responses: { ...NOT_MODIFIED, ...problems(400, 401, 406, 410, 414, 429, 431, 500, 503) },
  });
}

function detail(id: string, summary: string, schema: Json, pathParameters: readonly string[] = []): Json {
  const json = formatsOf("topology").filter((format) => format.name === "json");
  return path({
    id,
    summary,
    pathParameters,
    parameters: [
      ...queryParameters("item", json),
      ...headerParameters("IfNoneMatch", "AcceptEncoding"),
    ],
    headers: [...READ_HEADERS, "Content-Encoding"],
    content: { [JSON_TYPE]: { schema } },
    responses: {
      ...NOT_MODIFIED,
      ...problems(400, 401),
      ...(pathParameters.length > 0 && problems(404)),
      ...problems(406, 410, 414, 429, 431, 500, 503),
    },
  });
}

const OUTSIDE = problems(401, 414, 429, 431, 500, 503);
const PROBE: readonly HeaderName[] = ["Cache-Control", "X-Content-Type-Options"];
const PAGE: readonly HeaderName[] = [
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
const ALIVE = { type: "object", required: ["status"], properties: { status: { const: "alive" } } };

const PATHS: Json = {
  "/controller/v1/devices": collection("devices", "Devices, in order of id."),
  "/controller/v1/devices/ports": collection("ports", "Ports of all devices."),
  "/controller/v1/devices/{id}": detail("device", "One device.", schemaRef("Device"), ["id"]),
  "/controller/v1/devices/{id}/ports": detail(
    "device-ports",
    "One device with its ports.",
    { allOf: [schemaRef("Device"), listOf("ports", schemaRef("Port"))] },
    ["id"],
  ),
  "/controller/v1/links": collection("links", "Links, one record a direction, in order of id."),
  "/controller/v1/hosts": collection("hosts", "Hosts, in order of id."),
  "/controller/v1/hosts/{id}": detail("host", "One host, its id percent-encoded.", schemaRef("Host"), ["id"]),
  "/controller/v1/hosts/{mac}/{vlan}": detail(
    "host-by-mac",
    "One host; -1 is VLAN None.",
    schemaRef("Host"),
    ["mac", "vlan"],
  ),
  "/controller/v1/topology": collection("topology", "The topology: counts, or the graph in a graph format."),
  "/controller/v1/topology/clusters": detail(
    "clusters",
    "All clusters.",
    listOf("clusters", schemaRef("Cluster")),
  ),
  "/controller/v1/topology/clusters/{n}": detail(
    "cluster",
    "One cluster; they count from 0.",
    schemaRef("Cluster"),
    ["n"],
  ),
  "/controller/v1/topology/clusters/{n}/devices": detail(
    "cluster-devices",
    "The ids of a cluster's devices.",
    listOf("devices", { type: "string" }),
    ["n"],
  ),
  "/controller/v1/topology/clusters/{n}/links": detail(
    "cluster-links",
    "A cluster's links.",
    listOf("links", schemaRef("Link")),
    ["n"],
  ),
  "/healthz": path({
    id: "health",
    summary: "The process answers.",
    headers: PROBE,
    content: { [JSON_TYPE]: { schema: ALIVE } },
    responses: {},
    open: true,
  }),
  "/readyz": path({
    id: "readiness",
    summary: "Whether every source has said what it knows.",
    headers: PROBE,
    content: { [JSON_TYPE]: { schema: schemaRef("Ready") } },
    responses: {
      "503": {
        description: "Not yet, or stopping.",
        headers: headers(PROBE),
        content: { [JSON_TYPE]: { schema: schemaRef("Ready") } },
      },
    },
    open: true,
  }),
  "/metrics": path({
    id: "metrics",
    summary: "Figures in Prometheus' text format.",
    headers: ALWAYS_HEADERS,
    content: { "text/plain": { schema: { type: "string" } } },
    responses: OUTSIDE,
  }),
  "/openapi.json": path({
    id: "description",
    summary: "This document.",
    headers: ALWAYS_HEADERS,
    content: { [JSON_TYPE]: { schema: { type: "object" } } },
    responses: OUTSIDE,
  }),
  "/": path({
    id: "page",
    summary: "The map.",
    headers: PAGE,
    content: { "text/html": { schema: { type: "string" } } },
    responses: {
      "304": { description: "The tag in If-None-Match is still true.", headers: headers(PAGE) },
      ...OUTSIDE,
    },
  }),
};

export function openapiDocument(version: string): Json {
  return {
    openapi: "3.1.0",
    info: {
      title: "Gazetteer",
      version,
      description:
        "The read service over a network controller's view of the network. docs/interface.md has it in words. " +
        "Any other method on these paths is a 405 (Problem405); any other path a 404 (Problem404).",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    security: [{ basic: [] }],
    paths: PATHS,
    components: {
      securitySchemes: { basic: { type: "http", scheme: "basic" } },
      headers: HEADERS,
      parameters: PARAMETER_PARTS,
      responses: {
        Options: {
          description: "Which methods there are.",
          headers: headers([
            "Allow",
            "X-Content-Type-Options",
            "Vary",
            "Access-Control-Allow-Origin",
            "Access-Control-Expose-Headers",
            "Access-Control-Allow-Methods",
            "Access-Control-Allow-Headers",
          ]),
        },
        NotModified: {
          description: "The tag in If-None-Match is still true.",
          headers: headers(READ_HEADERS),
        },
        ...PROBLEM_RESPONSES,
      },
      schemas: {
        ...named({ Device, Port, Link, Host, Topology, Cluster }),
        ...CHANGE_SCHEMAS,
        Problem: PROBLEM_SCHEMA,
        Ready: READY_SCHEMA,
      },
    },
  };
}

/** Here a schema is known by its place; an `$id` besides would make it the root of references of its own. */
function named(schemas: Readonly<Record<string, object>>): Json {
  const bare = (schema: object) =>
    Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$id"));
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, bare(schema)]));
}

export const openapiText = (version: string): string => `${JSON.stringify(openapiDocument(version), null, 2)}\n`;
