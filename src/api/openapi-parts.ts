/**
 * The parts that operations of the OpenAPI document share: headers, parameters and refusals, each described once and
 * referred to by name. They are read off the tables that the code works by.
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
  "Gazetteer-Revision": header("The view's revision this answer is of.", "integer"),
  "Gazetteer-Log": header(
    "Names the log that revisions count in. Another name: revisions from before mean nothing.",
  ),
  "Cache-Control": header(
    "`private, no-cache` for what may be kept and asked about again, else `no-store`. Never a max-age.",
  ),
  Vary: header("What was negotiated."),
  ETag: header("Strong tag of this representation."),
  "Content-Encoding": header("gzip, br or zstd, where it was asked for."),
  Link: header('`<…>; rel="next"` with `limit`, unless this is the last page.'),
  "X-Content-Type-Options": header("Always nosniff."),
  "X-Accel-Buffering": header("On a stream, for proxies: no."),
  "WWW-Authenticate": header("The challenge of HTTP Basic."),
  "Retry-After": header("Seconds to wait.", "integer"),
  Allow: header("The methods there are."),
  RateLimit: header("Where requests are limited: what is left of the share."),
  "RateLimit-Policy": header("Where requests are limited: the share."),
  "Access-Control-Allow-Origin": header("Where origins are configured: the origin that asks, if it is one."),
  "Access-Control-Expose-Headers": header("Where origins are configured: what their pages may see."),
  "Access-Control-Allow-Methods": header("Where origins are configured, to a preflight."),
  "Access-Control-Allow-Headers": header("Where origins are configured, to a preflight."),
  "Content-Security-Policy": header("What the page may load: nothing but its own."),
  "Cross-Origin-Opener-Policy": header("same-origin."),
  "Cross-Origin-Resource-Policy": header("same-origin."),
  "Permissions-Policy": header("What the page may use: nothing."),
  "Referrer-Policy": header("no-referrer."),
} as const;
export type HeaderName = keyof typeof HEADERS;

/** On whatever has been through the door. */
export const ALWAYS_HEADERS: readonly HeaderName[] = [
  "Cache-Control",
  "X-Content-Type-Options",
  "RateLimit",
  "RateLimit-Policy",
  "Access-Control-Allow-Origin",
  "Access-Control-Expose-Headers",
  "Vary",
];

export const headers = (names: readonly HeaderName[]): Json =>
  Object.fromEntries(names.map((name) => [name, headerRef(name)]));

const headerParameter = (name: string, description: string): Json => ({
  name,
  in: "header",
  description,
  schema: { type: "string" },
});
export const PARAMETER_PARTS = {
  IfNoneMatch: headerParameter("If-None-Match", "Tags at hand, or *."),
  AcceptEncoding: headerParameter("Accept-Encoding", "gzip, br, zstd, with q-values."),
  LastEventId: headerParameter(
    "Last-Event-ID",
    "On a stream: the revision to go on from. Wins over `since`.",
  ),
} as const;
export const headerParameters = (...names: (keyof typeof PARAMETER_PARTS)[]): Json[] =>
  names.map(parameterRef);

const CODES = Object.keys(PROBLEMS).filter((code): code is ProblemCode => code in PROBLEMS);
const STATUSES = [...new Set(CODES.map((code) => PROBLEMS[code].status))].sort((a, b) => a - b);
const SPECIAL: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ["WWW-Authenticate"],
  405: ["Allow"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

/** One response a status; its codes are named in its description. */
export const PROBLEM_RESPONSES: Readonly<Record<string, Json>> = Object.fromEntries(
  STATUSES.map((status) => {
    const some = CODES.filter((code) => PROBLEMS[code].status === status);
    const response = {
      description: some.map((code) => `${code}: ${PROBLEMS[code].title}.`).join(" "),
      headers: headers([...ALWAYS_HEADERS, ...(SPECIAL[status] ?? [])]),
      content: { "application/problem+json": { schema: schemaRef("Problem") } },
    };
    return [`Problem${status}`, response];
  }),
);

/** The refusals that an operation may answer with. */
export const problems = (...statuses: (typeof STATUSES)[number][]): Json =>
  Object.fromEntries(statuses.map((status) => [String(status), responseRef(`Problem${status}`)]));

const listOf = (items: Json): Json => ({
  schema: { type: "array", items },
  style: "form",
  explode: false,
});
const one = (schema: Json): Json => ({ schema });

const fieldShape = ({ type, allowed }: FieldRule): Json =>
  listOf(type === "string" && allowed ? { enum: allowed } : { type });

function shapeOf(name: string, kind: Kind | undefined, formats: readonly Format[]): Json {
  if (name === "format") return one({ enum: formats.map((format) => format.name) });
  if (kind && name === "fields") return listOf({ enum: FIELD_NAMES[kind] });
  if (kind && name === "sort") {
    const names = [...SCALAR_FIELDS[kind].keys()];
    return listOf({ enum: names.flatMap((field) => [field, `-${field}`]) });
  }
  const { schema = { type: "string" }, multiple } = PARAMETERS[name] ?? {};
  return multiple ? listOf(schema) : one(schema);
}

export function queryParameters(target: QueryTarget, formats: readonly Format[]): Json[] {
  const kind = kindOf(target);
  const all = Array.from(handlersOf(target).keys(), (name): Json => {
    const rule = kind && SCALAR_FIELDS[kind].get(name);
    const description = rule
      ? `${name} equals one of these. Each must be ${rule.expects}.`
      : (PARAMETERS[name]?.description ?? "");
    return { name, in: "query", description, ...(rule ? fieldShape(rule) : shapeOf(name, kind, formats)) };
  });
  if (!kind) return all;
  const description = "An annotation equals one of these. Any key may stand after the dot, not just `name`.";
  return [...all, { name: "annotations.name", in: "query", description, ...listOf({ type: "string" }) }];
}

/** The media types of a collection's representations, with the schema of those that are JSON. */
export function contentOf(resource: Resource, json: Json): Json {
  const content: Record<string, Json> = {};
  for (const { name, mediaType, negotiable, description } of formatsOf(resource)) {
    if (name === "json") content[mediaType] = { schema: json };
    else if (negotiable)
      content[mediaType] = { schema: { type: "string", description: `format=${name}: ${description}.` } };
  }
  return content;
}
