/**
 * The problem response to a failed authentication. It says how to send credentials, but never which part of them was
 * wrong: a client that guesses must not learn that a user name exists.
 */
import { Problem } from "../problem.ts";
import type { AuthResult, Credential } from "./authenticate.ts";

const CHALLENGE = { "WWW-Authenticate": 'Basic realm="controller", charset="UTF-8"' };

/** The problem of a user who may not read this path. The health endpoints are not checked: they are for all. */
export const roleProblem = ({ role }: Credential, path: string): Problem | undefined =>
  role === "metrics" && path !== "/metrics"
    ? new Problem("forbidden", "This user may read /metrics only.")
    : undefined;

export function authProblem(result: Exclude<AuthResult, Credential>): Problem {
  if (result.outcome === "throttled") {
    const seconds = String(result.retryAfterSeconds);
    const detail = `Too many logins have failed from this address; wait ${seconds} s.`;
    return new Problem("too-many-failures", detail, { "Retry-After": seconds });
  }
  const detail =
    result.outcome === "missing"
      ? "Send a user name and password with HTTP Basic authentication: curl -u USERNAME:PASSWORD …"
      : "The user name or the password is wrong, or the Authorization header is not Basic with base64 of USERNAME:PASSWORD.";
  return new Problem("credentials-required", detail, CHALLENGE);
}
