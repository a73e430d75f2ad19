/**
 * A file that does not change while the service runs, with a strong entity tag for each content encoding. The compressed
 * forms are kept without a limit, because there are few files and four encodings.
 */
import type { Response } from "../../http1/response.ts";
import { type ContentEncoding, negotiateEncoding } from "../endpoints/negotiate.ts";
import { compress } from "../response/content-encoding.ts";
import { matchesEtag } from "../response/entity-tags.ts";

/** The headers of the request that a response depends on. */
export interface RequestHeaders {
  header(name: string): string | null;
}

/** The owner of the compression, which belongs to no user because the files are the same for all. */
const OWNER = "files";

export class StaticFile {
  readonly #bytes: Uint8Array;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #hash: string;
  readonly #bodies = new Map<ContentEncoding, Uint8Array | Promise<Uint8Array>>();

  constructor(bytes: Uint8Array, mediaType: string, headers: Readonly<Record<string, string>> = {}) {
    this.#bytes = bytes;
    this.#headers = {
      "Cache-Control": "private, no-cache",
      "Content-Type": mediaType,
      Vary: "Accept-Encoding",
      ...headers,
    };
    this.#hash = Bun.hash(bytes).toString(36).padStart(13, "0");
  }

  async respond(request: RequestHeaders): Promise<Response> {
    const encoding = negotiateEncoding(request.header("accept-encoding"));
    const etag = `"${this.#hash}-${encoding}"`;
    const headers = { ...this.#headers, ETag: etag };
    const ifNoneMatch = request.header("if-none-match");
    if (ifNoneMatch !== null && matchesEtag(ifNoneMatch, etag)) return { status: 304, headers, body: null };
    const encodingHeader = encoding === "identity" ? {} : { "Content-Encoding": encoding };
    return { status: 200, headers: { ...headers, ...encodingHeader }, body: await this.#body(encoding) };
  }

  /** The body in an encoding. Concurrent requests compress it once. */
  #body(encoding: ContentEncoding): Uint8Array | Promise<Uint8Array> {
    let body = this.#bodies.get(encoding);
    if (!body) {
      body = encoding === "identity" ? this.#bytes : compress(this.#bytes, encoding, OWNER);
      this.#bodies.set(encoding, body);
    }
    return body;
  }
}
