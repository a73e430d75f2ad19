/**
 * Serves the files of the web page. They are loaded at the first request and kept for as long as the service runs.
 *
 * The content security policy allows scripts, styles and connections of this origin only, so that text from the network
 * (a device's name) can never run as code.
 */

import type { Response } from "../../http1/response.ts";
import { type ContentEncoding, negotiateEncoding } from "../endpoints/negotiate.ts";
import { FRAME_ANCESTORS } from "../response/common-headers.ts";
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

export interface SiteFile {
  /** The path of the URL, such as `/` or `/assets/NAME-HASH.EXT`. */
  readonly path: string;
  /** The media type. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

export interface StaticSite {
  has(path: string): Promise<boolean>;
  /** Returns undefined if there is no such file. The caller has checked the credentials and the method. */
  respond(path: string, request: RequestHeaders): Promise<Response | undefined>;
}

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  FRAME_ANCESTORS,
].join("; ");

/** The headers of every HTML page of the service and of the files that it loads. */
export const PAGE_HEADERS = {
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
  "Referrer-Policy": "no-referrer",
} as const;

export function createStaticSite(loadFiles: () => Promise<readonly SiteFile[]>): StaticSite {
  let loading: Promise<ReadonlyMap<string, StaticFile>> | undefined;
  const load = () => {
    loading ??= loadFiles().then(
      (files) =>
        new Map(files.map(({ path, type, bytes }) => [path, new StaticFile(bytes, type, PAGE_HEADERS)])),
      (error: unknown) => {
        loading = undefined; // The next request tries again.
        throw error;
      },
    );
    return loading;
  };
  return {
    async has(path) {
      return (await load()).has(path);
    },
    async respond(path, request) {
      return (await load()).get(path)?.respond(request);
    },
  };
}
