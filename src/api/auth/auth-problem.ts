/**
 * The problem response to a failed authentication. It states how to send credentials, but never which part of them was
 * wrong, because a client that guesses must not learn that a user name exists.
 */
import type { Request } from "../../http1/request.ts";
import { SERVICE_ENDPOINTS } from "../endpoints/service-endpoints.ts";
import { ProblemDetails } from "../response/problem.ts";
import type { Credential } from "./authenticate.ts";
import { isBearer } from "./authorization.ts";
import type { RequestAuthResult } from "./vouched-user.ts";

const CHALLENGE = 'Basic realm="controller", charset="UTF-8"';
/** The scheme for a script in a page. Browsers do not know it, so that they show no prompt of their own. */
const SCRIPT_SCHEME_PREFIX = "X-";
/** The additional challenge to a request with a token (RFC 6750, 3.1). Browsers read the first challenge only. */
const TOKEN_CHALLENGE = ', Bearer realm="controller", error="invalid_token"';

const METRICS_PATHS: readonly string[] = SERVICE_ENDPOINTS.filter(({ access }) => access === "metrics").map(
  ({ path }) => path,
);

/** The problem of a user who may not read this path. Not called for the health endpoints, which everybody may read. */
export const roleProblem = ({ role }: Credential, path: string): ProblemDetails | undefined =>
  role === "metrics" && !METRICS_PATHS.includes(path)
    ? new ProblemDetails("forbidden", `This user may read ${METRICS_PATHS.join(", ")} only.`)
    : undefined;

export function authProblem(
  result: Exclude<RequestAuthResult, Credential>,
  request: Request,
): ProblemDetails {
  if (result.outcome === "throttled") {
    const seconds = String(result.retryAfterSeconds);
    const detail = `Too many logins have failed from this address; wait ${seconds} s.`;
    return new ProblemDetails("too-many-failures", detail, { "Retry-After": seconds });
  }
  const hasToken = isBearer(request.header("authorization") ?? "");
  const challenge = `${isFromScript(request) ? SCRIPT_SCHEME_PREFIX : ""}${CHALLENGE}${hasToken ? TOKEN_CHALLENGE : ""}`;
  const detail = hasToken
    ? (TOKEN_DETAILS[result.outcome] ?? DETAILS[result.outcome])
    : DETAILS[result.outcome];
  return new ProblemDetails("credentials-required", detail, { "WWW-Authenticate": challenge });
}

/**
 * Whether a script in a page sent the request, and shows a form of its own. Scripts say so with this header, by the convention
 * of XMLHttpRequest libraries.
 */
const isFromScript = (request: Request): boolean => request.header("x-requested-with") !== null;

const WRONG =
  "The user name or the password is wrong, or the Authorization header is not Basic with base64 of USERNAME:PASSWORD.";
const DETAILS = {
  missing: "Send a user name and password with HTTP Basic authentication: curl -u USERNAME:PASSWORD …",
  malformed: WRONG,
  wrong: WRONG,
  "unknown-certificate": "The client certificate is not valid here, or its CN is not the name of a user.",
  "different-users": "The client certificate and the Authorization header are of different users.",
  "unknown-proxy-user": "The user whom the proxy has signed in is not a user of this service.",
  "other-proxy-user": "The user whom the proxy has signed in is not that of the Authorization header.",
} as const;

const WRONG_TOKEN =
  "The token is wrong, has expired or was revoked, or is not one that gazetteer token add has made.";
const TOKEN_DETAILS: Partial<Record<keyof typeof DETAILS, string>> = {
  malformed: WRONG_TOKEN,
  wrong: WRONG_TOKEN,
};
