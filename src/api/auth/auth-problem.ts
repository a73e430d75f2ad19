/**
 * The problem response to a failed authentication. It states how to send credentials, but never which part of them was
 * wrong, because a client that guesses must not learn that a user name exists.
 */
import { SERVICE_ENDPOINTS } from "../endpoints/service-endpoints.ts";
import { ProblemDetails } from "../response/problem.ts";
import type { Credential } from "./authenticate.ts";
import type { CertificateAuthResult } from "./certificate.ts";

const PARAMETERS = 'realm="controller", charset="UTF-8"';
const CHALLENGE = { "WWW-Authenticate": `Basic ${PARAMETERS}` };
/** The challenge for a script in a page. Browsers do not know its scheme, so that they show no prompt of their own. */
const SCRIPT_CHALLENGE = { "WWW-Authenticate": `X-Basic ${PARAMETERS}` };

const METRICS_PATHS: readonly string[] = SERVICE_ENDPOINTS.filter(({ access }) => access === "metrics").map(
  ({ path }) => path,
);

/** The problem of a user who may not read this path. Not called for the health endpoints, which everybody may read. */
export const roleProblem = ({ role }: Credential, path: string): ProblemDetails | undefined =>
  role === "metrics" && !METRICS_PATHS.includes(path)
    ? new ProblemDetails("forbidden", `This user may read ${METRICS_PATHS.join(", ")} only.`)
    : undefined;

/** `isScript` is whether a script in a page sent the request, and shows a form of its own. */
export function authProblem(
  result: Exclude<CertificateAuthResult, Credential>,
  isScript: boolean,
): ProblemDetails {
  if (result.outcome === "throttled") {
    const seconds = String(result.retryAfterSeconds);
    const detail = `Too many logins have failed from this address; wait ${seconds} s.`;
    return new ProblemDetails("too-many-failures", detail, { "Retry-After": seconds });
  }
  return new ProblemDetails(
    "credentials-required",
    DETAILS[result.outcome],
    isScript ? SCRIPT_CHALLENGE : CHALLENGE,
  );
}

const WRONG =
  "The user name or the password is wrong, or the Authorization header is not Basic with base64 of USERNAME:PASSWORD.";
const DETAILS = {
  missing: "Send a user name and password with HTTP Basic authentication: curl -u USERNAME:PASSWORD …",
  malformed: WRONG,
  wrong: WRONG,
  "unknown-certificate": "The client certificate is not valid here, or its CN is not the name of a user.",
  "different-users": "The client certificate and the Authorization header are of different users.",
} as const;
