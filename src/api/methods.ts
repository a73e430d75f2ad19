/** The HTTP methods of the interface, which only reads. */
import { ProblemDetails } from "./response/problem.ts";

export const ALLOWED_METHODS = "GET, HEAD, OPTIONS";

export const isReadMethod = (method: string): method is "GET" | "HEAD" =>
  method === "GET" || method === "HEAD";

/** The problem of a method that is not supported. `advice` says what the client can do instead. */
export const methodNotAllowed = (method: string, advice = "Use GET."): ProblemDetails =>
  new ProblemDetails(
    "method-not-allowed",
    `${method} is not supported: this interface only reads. ${advice}`,
    {
      Allow: ALLOWED_METHODS,
    },
  );
