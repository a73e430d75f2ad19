/** What is said to whom is not let in: how to ask, but never which part of the credentials was wrong. */
import { Problem } from "../problem.ts";
import type { AuthResult, Credential } from "./authenticate.ts";

const CHALLENGE = { "WWW-Authenticate": 'Basic realm="controller", charset="UTF-8"' };

export function authProblem(result: Exclude<AuthResult, Credential>): Problem {
  if (result.outcome === "throttled") {
    const wait = String(result.retryAfterSeconds);
    return new Problem(
      "too-many-failures",
      `Too many logins have failed from this address; wait ${wait} s.`,
      {
        "Retry-After": wait,
      },
    );
  }
  const detail =
    result.outcome === "missing"
      ? "Send a user name and password with HTTP Basic authentication: curl -u USERNAME:PASSWORD …"
      : "The user name or the password is wrong, or the Authorization header is not Basic with base64 of USERNAME:PASSWORD.";
  return new Problem("credentials-required", detail, CHALLENGE);
}
