/** Adds the headers of the rate limit and of CORS to a finished response. Two `Vary` headers become one list. */
import type { Response } from "../../http1/response.ts";

export function addHeaders(response: Response, added: Readonly<Record<string, string>>): Response {
  const { headers } = response;
  const vary = headers.Vary && added.Vary ? { Vary: `${headers.Vary}, ${added.Vary}` } : {};
  return { ...response, headers: { ...headers, ...added, ...vary } };
}
