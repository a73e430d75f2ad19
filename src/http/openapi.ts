/**
 * The interface described for machines: OpenAPI 3.1, put together from the schemas, the table of formats, the table of
 * parameters and the table of problems, so that it cannot say anything the code does not do. `openapi.json` in the
 * repository is its golden copy: a change of the interface is a visible change of that file.
 */
import { type Format, formatsOf, type Resource } from "../formats/format.ts";
import { Cluster, Device, Host, Link, Port, Topology } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
import { CHANGE_SCHEMAS, PROBLEM_SCHEMA, READY_SCHEMA } from "./openapi-schemas.ts";
import { PROBLEMS, type ProblemCode } from "./problem.ts";
import { SCALARS } from "./query/fields.ts";
import { PARAMETERS, parameterNames } from "./query/query.ts";

type Json = Readonly<Record<string, unknown>>;

const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const listOf = (key: string, schema: Json, more: Json = {}): Json => ({
  type: "object",
  required: [key],
  properties: { [key]: { type: "array", items: schema }, ...more },
});

const SINGULAR: Readonly<Record<Kind, string>> = {
  devices: "Device",
  ports: "Port",
  links: "Link",
  hosts: "Host",
};
const NEXT = { next: { type: "string", description: "Cursor of the next page; absent on the last." } };

const HEADERS = {
  "Gazetteer-Revision": {
    description: "The view's revision this answer is of.",
    schema: { type: "integer" },
  },
  "Cache-Control": {
    description: "Always `private, no-cache` on a success: keep it, but ask.",
    schema: { type: "string" },
  },
  Vary: { description: "What was negotiated.", schema: { type: "string" } },
} as const;
const TAG = { ETag: { description: "Strong tag of this representation.", schema: { type: "string" } } };
const ENCODED = {
  "Content-Encoding": {
    description: "gzip, br or zstd, where it was asked for.",
    schema: { type: "string" },
  },
};
const PAGED = {
  Link: {
    description: '`rel="next"` with `limit`, unless this is the last page.',
    schema: { type: "string" },
  },
};

const ALWAYS: readonly ProblemCode[] = [
  "bad-parameter",
  "credentials-required",
  "method-not-allowed",
  "too-many-failures",
  "uri-too-long",
  "internal",
  "overloaded",
];

/** One response a status; codes that share a status are named in its description. */
function problems(codes: readonly ProblemCode[]): Record<string, Json> {
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  const responses: Record<string, Json> = {};
  for (const [status, some] of [...byStatus].sort(([a], [b]) => a - b)) {
    const retry = status === 429 || status === 503 ? { "Retry-After": { schema: { type: "integer" } } } : {};
    const challenge = status === 401 ? { "WWW-Authenticate": { schema: { type: "string" } } } : {};
    const allow = status === 405 ? { Allow: { schema: { type: "string" } } } : {};
    responses[String(status)] = {
      description: some.map((code) => `${code}: ${PROBLEMS[code].title}.`).join(" "),
      headers: { ...retry, ...challenge, ...allow },
      content: { "application/problem+json": { schema: ref("Problem") } },
    };
  }
  return responses;
}

const NOT_MODIFIED = {
  description: "The tag in If-None-Match is still true.",
  headers: { ...HEADERS, ...TAG },
};

const CONDITIONAL = [
  { name: "If-None-Match", in: "header", description: "Tags at hand, or *.", schema: { type: "string" } },
];
const NEGOTIATED = [
  {
    name: "Accept-Encoding",
    in: "header",
    description: "gzip, br, zstd, with q-values.",
    schema: { type: "string" },
  },
];
const RESUMED = [
  {
    name: "Last-Event-ID",
    in: "header",
    description: "On a stream: the revision to go on from.",
    schema: { type: "string" },
  },
];

function queryParameters(
  on: "list" | "topology" | "item",
  kind: Kind | undefined,
  formats: readonly Format[],
): Json[] {
  const names = parameterNames(on, kind);
  const all = names.map((name): Json => {
    const rule = kind && on === "list" ? SCALARS[kind].get(name) : undefined;
    if (rule) {
      const about = `${name} equals one of these; several with commas. Each must be ${rule.expects}.`;
      return { name, in: "query", description: about, schema: { type: "string" } };
    }
    const schema =
      name === "format" ? { type: "string", enum: formats.map((format) => format.name) } : { type: "string" };
    return { name, in: "query", description: PARAMETERS[name]?.about ?? "", schema };
  });
  if (on !== "list") return all;
  const about = "An annotation equals one of these. Any key may stand after the dot, not just `name`.";
  return [...all, { name: "annotations.name", in: "query", description: about, schema: { type: "string" } }];
}

function contentOf(resource: Resource, formats: readonly Format[]): Record<string, Json> {
  const content: Record<string, Json> = {};
  for (const { name, mediaType } of formats) {
    if (name === "json") content[mediaType] = { schema: jsonSchema(resource) };
    else if (name !== "prometheus")
      content[mediaType] = { schema: { type: "string", description: `format=${name}` } };
  }
  return content;
}

function jsonSchema(resource: Resource): Json {
  const shapes = [ref("Changes"), ref("Differences")];
  if (resource === "topology") return { anyOf: [ref("Topology"), ...shapes, ref("Timeline")] };
  const list = listOf(resource, ref(SINGULAR[resource]), NEXT);
  // With `fields`, items have only those fields; with format=prometheus the body is a list of target groups.
  const some = listOf(resource, { type: "object" }, NEXT);
  const targets = resource === "devices" || resource === "hosts" ? [ref("Targets")] : [];
  return { anyOf: [list, some, ...shapes, ...targets] };
}

function collection(resource: Resource, on: "list" | "topology", summary: string): Json {
  const formats = formatsOf(resource);
  const kind = resource === "topology" ? undefined : resource;
  return {
    get: {
      operationId: `read-${resource}`,
      summary,
      parameters: [...queryParameters(on, kind, formats), ...CONDITIONAL, ...NEGOTIATED, ...RESUMED],
      responses: {
        "200": {
          description: summary,
          headers: { ...HEADERS, ...TAG, ...ENCODED, ...(on === "list" && PAGED) },
          content: contentOf(resource, formats),
        },
        "304": NOT_MODIFIED,
        ...problems([
          ...ALWAYS,
          "bad-cursor",
          "revision-unknown",
          "not-acceptable",
          "revision-expired",
          "cursor-expired",
          "too-many-requests",
          "too-many-streams",
          "stopping",
        ]),
      },
    },
  };
}

function detail(id: string, summary: string, schema: Json, pathParameters: readonly string[] = []): Json {
  const parameters = pathParameters.map((name) => ({
    name,
    in: "path",
    required: true,
    schema: { type: name === "n" ? "integer" : "string" },
  }));
  const json = formatsOf("topology").filter((format) => format.name === "json");
  return {
    get: {
      operationId: id,
      summary,
      parameters: [...parameters, ...queryParameters("item", undefined, json), ...CONDITIONAL, ...NEGOTIATED],
      responses: {
        "200": {
          description: summary,
          headers: { ...HEADERS, ...TAG, ...ENCODED },
          content: { "application/json": { schema } },
        },
        "304": NOT_MODIFIED,
        ...problems([
          ...ALWAYS,
          "bad-path",
          "not-found",
          "revision-unknown",
          "revision-expired",
          "too-many-requests",
        ]),
      },
    },
  };
}

const plain = (id: string, summary: string, mediaType: string, schema: Json, more: Json = {}): Json => ({
  get: {
    operationId: id,
    summary,
    responses: { "200": { description: summary, content: { [mediaType]: { schema } } }, ...more },
  },
});

const JSON_TYPE = "application/json";
const open = (operation: Json): Json => ({ get: { ...Object(operation.get), security: [] } });
const locked = problems(["credentials-required", "too-many-failures"]);

export function openapi(version: string): Json {
  const ready = plain("ready", "Whether every source has said what it knows.", JSON_TYPE, ref("Ready"), {
    "503": { description: "Not yet, or stopping.", content: { [JSON_TYPE]: { schema: ref("Ready") } } },
  });
  const alive = { type: "object", required: ["status"], properties: { status: { const: "alive" } } };
  return {
    openapi: "3.1.0",
    info: {
      title: "Gazetteer",
      version,
      description:
        "The read service over a network controller's view of the network. docs/interface.md has it in words.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    security: [{ basic: [] }],
    paths: {
      "/controller/v1/devices": collection("devices", "list", "Devices, in order of id."),
      "/controller/v1/devices/ports": collection("ports", "list", "Ports of all devices."),
      "/controller/v1/devices/{id}": detail("read-device", "One device.", ref("Device"), ["id"]),
      "/controller/v1/devices/{id}/ports": detail(
        "read-device-ports",
        "One device with its ports.",
        { allOf: [ref("Device"), listOf("ports", ref("Port"))] },
        ["id"],
      ),
      "/controller/v1/links": collection("links", "list", "Links, one record a direction, in order of id."),
      "/controller/v1/hosts": collection("hosts", "list", "Hosts, in order of id."),
      "/controller/v1/hosts/{id}": detail("read-host", "One host, its id percent-encoded.", ref("Host"), [
        "id",
      ]),
      "/controller/v1/hosts/{mac}/{vlan}": detail(
        "read-host-by-mac",
        "One host; -1 is VLAN None.",
        ref("Host"),
        ["mac", "vlan"],
      ),
      "/controller/v1/topology": collection(
        "topology",
        "topology",
        "The topology: counts, or the graph in a graph format.",
      ),
      "/controller/v1/topology/clusters": detail(
        "read-clusters",
        "All clusters.",
        listOf("clusters", ref("Cluster")),
      ),
      "/controller/v1/topology/clusters/{n}": detail(
        "read-cluster",
        "One cluster; they count from 0.",
        ref("Cluster"),
        ["n"],
      ),
      "/controller/v1/topology/clusters/{n}/devices": detail(
        "read-cluster-devices",
        "The ids of a cluster's devices.",
        listOf("devices", { type: "string" }),
        ["n"],
      ),
      "/controller/v1/topology/clusters/{n}/links": detail(
        "read-cluster-links",
        "A cluster's links.",
        listOf("links", ref("Link")),
        ["n"],
      ),
      "/healthz": open(plain("alive", "The process answers.", JSON_TYPE, alive)),
      "/readyz": open(ready),
      "/metrics": plain(
        "metrics",
        "Figures in Prometheus' text format.",
        "text/plain",
        { type: "string" },
        locked,
      ),
      "/openapi.json": plain("describe", "This document.", JSON_TYPE, { type: "object" }, locked),
      "/": plain("page", "The map.", "text/html", { type: "string" }, locked),
    },
    components: {
      securitySchemes: { basic: { type: "http", scheme: "basic" } },
      schemas: {
        Device,
        Port,
        Link,
        Host,
        Topology,
        Cluster,
        ...CHANGE_SCHEMAS,
        Problem: PROBLEM_SCHEMA,
        Ready: READY_SCHEMA,
      },
    },
  };
}

export const openapiText = (version: string): string => `${JSON.stringify(openapi(version), null, 2)}\n`;
