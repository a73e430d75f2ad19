/**
 * The parts that operations of the OpenAPI document share: headers, parameters and problem responses, each described
 * once and referenced by name. They are generated from the tables that the code itself uses.
 */
import { type Format, formatsOf, type Resource } from "../formats/formats.ts";
import type { Kind } from "../model/ids.ts";
import { FIELD_NAMES, type FieldRule, SCALAR_FIELDS } from "../query/fields.ts";
import { handlersOf, kindOf, PARAMETERS, type QueryTarget } from "../query/parameters.ts";
import { PROBLEMS, type ProblemCode } from "./problem.ts";

export type Json = Readonly<Record<string, unknown>>;

export const schemaRef = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const headerRef = (name: string): Json => ({ $ref: `#/components/headers/${name}` });
const parameterRef = (name: string): Json => ({ $ref: `#/components/parameters/${name}` });
const responseRef = (name: string): Json => ({ $ref: `#/components/responses/${name}` });

const header = (description: string, type = "string"): Json => ({ description, schema: { type } });

export const HEADERS = {
  "Gazetteer-Revision": header("The view's revision that the response shows.", "integer"),
  "Gazetteer-Log": header(
    "Identifies the log that revisions belong to. When it differs, earlier revisions are meaningless.",
  ),
  "Cache-Control": header(
    "`private, no-cache` where the response may be stored and revalidated, else `no-store`. Never a max-age.",
  ),
  Vary: header("The request headers that were negotiated."),
  ETag: header("Strong tag of this representation."),
  "Content-Encoding": header("gzip, br or zstd, where the request accepts it."),
  Link: header('`<…>; rel="next"` with `limit`, unless this is the last page.'),
  "X-Content-Type-Options": header("Always nosniff."),
  "X-Accel-Buffering": header("On a stream, for proxies: no."),
  "WWW-Authenticate": header("The challenge of HTTP Basic."),
  "Retry-After": header("Seconds to wait.", "integer"),
  Allow: header("The supported methods."),
  RateLimit: header("Where requests are limited: the requests left."),
  "RateLimit-Policy": header("Where requests are limited: the limit and its window."),
  "Access-Control-Allow-Origin": header(
    "Where origins are configured: the origin of the request, if it is one of them.",
  ),
  "Access-Control-Expose-Headers": header(
    "Where origins are configured: the headers that their pages may read.",
  ),
  "Access-Control-Allow-Methods": header("Where origins are configured: in the response to a preflight."),
  "Access-Control-Allow-Headers": header("Where origins are configured: in the response to a preflight."),
  "Content-Security-Policy": header("What the page may load: only files of this origin."),
  "Cross-Origin-Opener-Policy": header("same-origin."),
  "Cross-Origin-Resource-Policy": header("same-origin."),
  "Permissions-Policy": header("The browser features that the page may use: none."),
  "Referrer-Policy": header("no-referrer."),
} as const;
export type HeaderName = keyof typeof HEADERS;

/** The headers of every response to an authenticated request. */
export const COMMON_HEADERS: readonly HeaderName[] = [
  "Cache-Control",
  "X-Content-Type-Options",
  "RateLimit",
  "RateLimit-Policy",
  "Access-Control-Allow-Origin",
  "Access-Control-Expose-Headers",
  "Vary",
];

export const headerRefs = (names: readonly HeaderName[]): Json =>
  Object.fromEntries(names.map((name) => [name, headerRef(name)]));

const headerParameter = (name: string, description: string): Json => ({
  name,
  in: "header",
  description,
  schema: { type: "string" },
});
export const HEADER_PARAMETERS = {
  IfNoneMatch: headerParameter("If-None-Match", "Entity tags that the client has, or *."),
  AcceptEncoding: headerParameter("Accept-Encoding", "gzip, br, zstd, with q-values."),
  LastEventId: headerParameter(
    "Last-Event-ID",
    "On a stream: the revision to resume from. Takes precedence over `since`.",
  ),
} as const;
export const headerParameterRefs = (...names: (keyof typeof HEADER_PARAMETERS)[]): Json[] =>
  names.map(parameterRef);

const CODES = Object.keys(PROBLEMS).filter((code): code is ProblemCode => code in PROBLEMS);
const STATUSES = [...new Set(CODES.map((code) => PROBLEMS[code].status))].sort((a, b) => a - b);
const STATUS_HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ["WWW-Authenticate"],
  405: ["Allow"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

/** One response a status; the description lists its codes. */
export const PROBLEM_RESPONSES: Readonly<Record<string, Json>> = Object.fromEntries(
  STATUSES.map((status) => {
    const codes = CODES.filter((code) => PROBLEMS[code].status === status);
    const response = {
      description: codes.map((code) => `${code}: ${PROBLEMS[code].title}.`).join(" "),
      headers: headerRefs([...COMMON_HEADERS, ...(STATUS_HEADERS[status] ?? [])]),
      content: { "application/problem+json": { schema: schemaRef("Problem") } },
    };
    return [`Problem${status}`, response];
  }),
);

/** References to the problem responses of an operation. */
export const problemRefs = (...statuses: (typeof STATUSES)[number][]): Json =>
  Object.fromEntries(statuses.map((status) => [String(status), responseRef(`Problem${status}`)]));

const listParameter = (items: Json): Json => ({
  schema: { type: "array", items },
  style: "form",
  explode: false,
});
const singleParameter = (schema: Json): Json => ({ schema });

const fieldParameter = ({ type, allowed }: FieldRule): Json =>
  listParameter(type === "string" && allowed ? { enum: allowed } : { type });

function parameterShape(name: string, kind: Kind | undefined, formats: readonly Format[]): Json {
  if (name === "format") return singleParameter({ enum: formats.map((format) => format.name) });
  if (kind && name === "fields") return listParameter({ enum: FIELD_NAMES[kind] });
  if (kind && name === "sort") {
    const names = [...SCALAR_FIELDS[kind].keys()];
    return listParameter({ enum: names.flatMap((field) => [field, `-${field}`]) });
  }
  const { schema = { type: "string" }, multiple } = PARAMETERS[name] ?? {};
  return multiple ? listParameter(schema) : singleParameter(schema);
}

export function queryParameters(target: QueryTarget, formats: readonly Format[]): Json[] {
  const kind = kindOf(target);
  const all = Array.from(handlersOf(target).keys(), (name): Json => {
    const rule = kind && SCALAR_FIELDS[kind].get(name);
    const description = rule
      ? `${name} equals one of these. Each must be ${rule.expects}.`
      : (PARAMETERS[name]?.description ?? "");
    return {
      name,
      in: "query",
      description,
      ...(rule ? fieldParameter(rule) : parameterShape(name, kind, formats)),
    };
  });
  if (!kind) return all;
  const description = "An annotation equals one of these. Any key can follow the dot, not only `name`.";
  return [
    ...all,
    { name: "annotations.name", in: "query", description, ...listParameter({ type: "string" }) },
  ];
}

/** The media types of a collection, each with its schema. */
export function contentOf(resource: Resource, json: Json): Json {
  const content: Record<string, Json> = {};
  for (const { name, mediaType, negotiable, description } of formatsOf(resource)) {
    if (name === "json") content[mediaType] = { schema: json };
    else if (negotiable)
      content[mediaType] = { schema: { type: "string", description: `format=${name}: ${description}.` } };
  }
  return content;
}
