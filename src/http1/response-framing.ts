/** How the end of a response body is found (RFC 9112, 6.3): a length, chunks, or the end of the connection. */
import { type BodySource, isBodySource } from "./body-source.ts";
import type { Request } from "./request.ts";
import type { Response } from "./response.ts";
import { byteLength, statusAllowsBody } from "./serialized-response.ts";

export interface ResponseFraming {
  /** The body is one of these, or neither. */
  readonly bytes: string | Uint8Array | undefined;
  /** Of `bytes`. */
  readonly length: number;
  readonly source: BodySource | undefined;
  readonly chunked: boolean;
  /** Without a length and without chunks, the end of the connection is the end of the body. */
  readonly untilClose: boolean;
  /** The header line, or nothing. */
  readonly headerLine: string;
}

export function frameResponse(request: Request, response: Response): ResponseFraming {
  const { body, status, headers } = response;
  const source = body !== null && typeof body === "object" && isBodySource(body) ? body : undefined;
  const bytes = typeof body === "string" || body instanceof Uint8Array ? body : undefined;
  const length = bytes === undefined ? 0 : byteLength(bytes);
  // A relayed response to HEAD has neither a body nor a length, though the response to GET has both.
  const lengthUnknown =
    source !== undefined || (body === null && request.method === "HEAD" && statusAllowsBody(status));
  const hasLength = !lengthUnknown || "Content-Length" in headers;
  const chunked = !hasLength && !request.isHttp10;
  const headerLine = chunked
    ? "Transfer-Encoding: chunked\r\n"
    : lengthUnknown || !statusAllowsBody(status) || "Content-Length" in headers
      ? ""
      : `Content-Length: ${length}\r\n`;
  return { bytes, length, source, chunked, untilClose: !hasLength && !chunked, headerLine };
}
