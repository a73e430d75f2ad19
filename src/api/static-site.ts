/**
 * Serves the files of the web page. They are loaded at the first request and kept for as long as the service runs,
 * together with their compressed forms (a few files times four encodings, so the cache needs no bound).
 *
 * The content security policy allows scripts, styles and connections of this origin only, so that text from the network
 * (a device's name) can never run as code.
 */
import type { Response } from "../http1/response.ts";
import { encode } from "./content-encoding.ts";
import { matchesEtag } from "./etag.ts";
import { type ContentEncoding, negotiateEncoding } from "./negotiate.ts";

export interface SiteFile {
  /** `/`, or `/assets/NAME-HASH.EXT`. */
  readonly path: string;
  /** The media type. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

interface RequestHeaders {
  header(name: string): string | null;
}

export interface StaticSite {
  /** Returns undefined when there is no such file. The caller has checked the credentials and the method. */
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
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  "Cache-Control": "private, no-cache",
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
  "Referrer-Policy": "no-referrer",
  Vary: "Accept-Encoding",
} as const;

export function createStaticSite(loadFiles: () => Promise<readonly SiteFile[]>): StaticSite {
  let loading: Promise<ReadonlyMap<string, LoadedFile>> | undefined;
  const load = () => {
    loading ??= loadFiles().then(
      (files) => new Map(files.map((file) => [file.path, new LoadedFile(file)])),
      (error: unknown) => {
        loading = undefined; // the next request tries again
        throw error;
      },
    );
    return loading;
  };
  return {
    async respond(path, request) {
      const file = (await load()).get(path);
      if (!file) return undefined;
      const encoding = negotiateEncoding(request.header("accept-encoding"));
      const etag = file.etag(encoding);
      const headers = { ...HEADERS, "Content-Type": file.type, ETag: etag };
      const ifNoneMatch = request.header("if-none-match");
      if (ifNoneMatch !== null && matchesEtag(ifNoneMatch, etag)) return { status: 304, headers, body: null };
      const encodingHeader = encoding === "identity" ? {} : { "Content-Encoding": encoding };
      return { status: 200, headers: { ...headers, ...encodingHeader }, body: file.body(encoding) };
    },
  };
}

class LoadedFile {
  readonly type: string;
  readonly #bytes: Uint8Array;
  readonly #hash: string;
  readonly #bodies = new Map<ContentEncoding, Uint8Array>();

  constructor({ type, bytes }: SiteFile) {
    this.type = type;
    this.#bytes = bytes;
    this.#hash = Bun.hash(bytes).toString(36).padStart(13, "0");
  }

  etag(encoding: ContentEncoding): string {
    return `"${this.#hash}-${encoding}"`;
  }

  body(encoding: ContentEncoding): Uint8Array {
    let body = this.#bodies.get(encoding);
    if (!body) {
      body = encode(this.#bytes, encoding);
      this.#bodies.set(encoding, body);
    }
    return body;
  }
}
