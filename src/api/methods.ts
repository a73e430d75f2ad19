/** The methods of the interface: it only reads. */
import { Problem } from "./problem.ts";

export const ALLOWED_METHODS = "GET, HEAD, OPTIONS";

export const isReadMethod = (method: string): method is "GET" | "HEAD" =>
  method === "GET" || method === "HEAD";

export const methodNotAllowed = (method: string): Problem =>
  new Problem("method-not-allowed", `${method} is not supported: this interface only reads. Use GET.`, {
    Allow: ALLOWED_METHODS,
  });
