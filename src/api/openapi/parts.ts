/**
 * The parts that operations of the OpenAPI document share: headers, media types and problem responses, each described
 * once and referenced by name. They are generated from the tables that the code itself uses.
 */
import Type from "typebox";
import { PROBLEMS, type ProblemCode, ProblemDetails } from "../response/problem.ts";
import { type Json, renderSchema, type Schema } from "./components.ts";

const headerRef = (name: string): Json => ({ $ref: `#/components/headers/${name}` });
const responseRef = (name: string): Json => ({ $ref: `#/components/responses/${name}` });

const header = (description: string, schema: Json = { type: "string" }): Json => ({ description, schema });

export const HEADERS = {
  "Gazetteer-Revision": header("The view's revision that the response shows.", {
    type: "integer",
    format: "int64",
  }),
  "Gazetteer-Log": header(
    "On every response to valid credentials: identifies the log that revisions belong to. When it differs, earlier revisions are meaningless.",
  ),
  "Cache-Control": header(
    "`private, no-cache` where the response may be stored and revalidated, else `no-store`. Never a max-age.",
  ),
  Vary: header("The request headers that were negotiated."),
  ETag: header(
    "Strong tag of this representation; weak where it has a content encoding and comes from a cluster.",
  ),
  "Gazetteer-Stale": header(
    "On a node of a cluster while the log cannot be followed: how many seconds old the view may be.",
    { type: "integer" },
  ),
  "Content-Encoding": header("gzip, br or zstd, where the request accepts it."),
  Link: header('`<…>; rel="next"` with `limit`, unless this is the last page.'),
  "Gazetteer-Paths": header("How many paths there are; absent where the search ended before all were found."),
  "X-Content-Type-Options": header("Always nosniff."),
  "X-Accel-Buffering": header("On a stream, for proxies: no."),
  "WWW-Authenticate": header(
    "The challenge of HTTP Basic; to a request with a Bearer token, that of Bearer after it.",
  ),
  "Retry-After": header("Seconds to wait.", { type: "integer" }),
  RateLimit: header("Where requests are limited: the requests left."),
  "RateLimit-Policy": header("Where requests are limited: the limit and its window."),
  "Access-Control-Allow-Origin": header(
    "Where origins are configured: the origin of the request, if it is one of them.",
  ),
  "Access-Control-Expose-Headers": header(
    "Where origins are configured: the headers that their pages may read.",
  ),
  "Content-Security-Policy": header(
    "No page may show the response in a frame. A page may load files of this origin only; anything else runs and loads nothing (`default-src 'none'; sandbox`).",
  ),
  "Cross-Origin-Opener-Policy": header("same-origin."),
  "Cross-Origin-Resource-Policy": header("`cross-origin` where origins are configured, else `same-origin`."),
  "Permissions-Policy": header("The browser features that the page may use: none."),
  "Referrer-Policy": header("no-referrer."),
} as const;
export type HeaderName = keyof typeof HEADERS;

/** The headers of every response. */
export const UNIVERSAL_HEADERS: readonly HeaderName[] = [
  "X-Content-Type-Options",
  "Content-Security-Policy",
  "Cross-Origin-Resource-Policy",
  "Gazetteer-Stale",
];

/** The headers of every response to an authenticated request. */
export const COMMON_HEADERS: readonly HeaderName[] = [
  "Cache-Control",
  ...UNIVERSAL_HEADERS,
  "Gazetteer-Log",
  "RateLimit",
  "RateLimit-Policy",
  "Access-Control-Allow-Origin",
  "Access-Control-Expose-Headers",
  "Vary",
];

export const headerRefs = (names: readonly HeaderName[]): Json =>
  Object.fromEntries(names.map((name) => [name, headerRef(name)]));

export const PROBLEM_SCHEMA = Type.Object(
  {
    type: Type.String({
      description: `A stable reference into the docs, ending in one of: ${Object.keys(PROBLEMS).join(", ")}.`,
    }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: "What is wrong, and what to do." }),
    instance: Type.String({ description: "This request's id, as in the service's log." }),
    code: Type.Integer({ description: "The status again, under the name that ONOS uses." }),
    message: Type.String({ description: "The detail again, under the name that ONOS uses." }),
    candidates: Type.Optional(
      Type.Array(Type.String(), {
        description: "The ids of the devices with that name. Present only for `ambiguous-name`.",
      }),
    ),
  },
  { $id: "Problem", description: "RFC 9457." },
);

const CODES = Object.keys(PROBLEMS).filter((code): code is ProblemCode => code in PROBLEMS);
/** The statuses that operations refer to. Statuses that are the same for every path (405, 408, 505) are not listed. */
const STATUSES = [400, 401, 403, 404, 406, 410, 414, 421, 429, 431, 500, 502, 503] as const;
export type ProblemStatus = (typeof STATUSES)[number];
const STATUS_HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ["WWW-Authenticate"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

function exampleOf(code: ProblemCode | undefined): Json {
  const problem = new ProblemDetails(code ?? "internal", "What is wrong, and what to do.");
  return JSON.parse(problem.body("urn:uuid:0dd334c7-013b-4f86-8b6e-ff8f71ca373a"));
}

/** One response for each status. The description lists its codes. */
export const PROBLEM_RESPONSES: Readonly<Record<string, Json>> = Object.fromEntries(
  STATUSES.map((status) => {
    const codes = CODES.filter((code) => PROBLEMS[code].status === status);
    const response = {
      description: codes.map((code) => `${code}: ${PROBLEMS[code].title}.`).join(" "),
      headers: headerRefs([...COMMON_HEADERS, ...(STATUS_HEADERS[status] ?? [])]),
      content: {
        "application/problem+json": { schema: renderSchema(PROBLEM_SCHEMA), example: exampleOf(codes[0]) },
      },
    };
    return [`Problem${status}`, response];
  }),
);

/** References to the problem responses of an operation. */
export const problemRefs = (...statuses: readonly ProblemStatus[]): Json =>
  Object.fromEntries(statuses.map((status) => [String(status), responseRef(`Problem${status}`)]));

/** One media type with its schema and an optional example. */
export const mediaType = (schema: Schema, example?: unknown): Json => ({
  schema: renderSchema(schema),
  ...(example !== undefined && { example }),
});
