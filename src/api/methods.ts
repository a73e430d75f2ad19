/** The methods of the interface: it only reads. */
import { ProblemDetails } from "./response/problem.ts";

export const ALLOWED_METHODS = "GET, HEAD, OPTIONS";

export const isReadMethod = (method: string): method is "GET" | "HEAD" =>
  method === "GET" || method === "HEAD";

/** `advice` says what to do instead. */
export const methodNotAllowed = (method: string, advice = "Use GET."): ProblemDetails =>
  new ProblemDetails(
    "method-not-allowed",
    `${method} is not supported: this interface only reads. ${advice}`,
    {
      Allow: ALLOWED_METHODS,
    },
  );
