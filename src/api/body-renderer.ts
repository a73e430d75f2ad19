/**
 * Renders representations to responses: entity tag, condition, content encoding and body. Bodies of medium size are
 * cached until their data changes; nothing is rendered or compressed for a 304 or a cached body.
 *
 * A representation is identified by its key (what was requested) and its version (the revision that last changed the
 * data). Both survive a restart, so entity tags do too.
 */
import { createHash } from "node:crypto";
import { type BodySource, IterableBodySource } from "../http1/body-source.ts";
import type { Response } from "../http1/response.ts";
import { createBoundedCache } from "../lib/bounded-cache.ts";
import { createEncodedBody, encode, gzipFragments } from "./content-encoding.ts";
import { matchesEtag } from "./etag.ts";
import { allowsIdentity, type ContentEncoding, negotiateEncoding } from "./negotiate.ts";

export interface Content {
  /** The body in order; a short one as one text. */
  readonly chunks: string | Iterable<Uint8Array>;
  /** The chunks outlive this response (pages of the view), so their compressed form is cached with them. */
  readonly persistent?: boolean;
  /** The length in bytes, where it is known before rendering. */
  readonly length?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Representation {
  /** Everything that determines the bytes, except the content encoding and the state of the network. */
  readonly key: string;
  readonly version: number;
  /** Of a representation of the current state: the version now. The same number means the same bytes. */
  readonly currentVersion?: () => number;
  readonly revision: number;
  readonly contentType: string;
  /** Too small to gain from compression. */
  readonly tiny?: boolean;
  render(): Content;
}

/** Text and bytes can be sent again; a body source only once. */
export interface RenderedBody {
  readonly body: string | Uint8Array | BodySource;
  readonly headers: Readonly<Record<string, string>>;
}

/** A representation in a content encoding, not rendered yet. */
export class PreparedResponse {
  readonly representation: Representation;
  readonly etag: string;
  readonly #renderer: BodyRenderer;
  readonly #encoding: ContentEncoding;

  constructor(renderer: BodyRenderer, representation: Representation, encoding: ContentEncoding) {
    this.representation = representation;
    this.etag = renderer.etag(representation, encoding);
    this.#renderer = renderer;
    this.#encoding = encoding;
  }

  /** The headers that a 304 and a 200 share. */
  headers(revision = this.representation.revision): Record<string, string> {
    return {
      ETag: this.etag,
      "Cache-Control": "private, no-cache",
      Vary: "Accept, Accept-Encoding",
      "Gazetteer-Revision": String(revision),
      "Gazetteer-Log": this.#renderer.logId,
    };
  }

  /** The headers of a 200, without those that rendering adds. */
  bodyHeaders(): Record<string, string> {
    const headers = this.headers();
    headers["Content-Type"] = this.representation.contentType;
    if (this.#encoding !== "identity") headers["Content-Encoding"] = this.#encoding;
    return headers;
  }

  renderBody(): RenderedBody {
    return this.#renderer.renderBody(this.representation, this.#encoding);
  }
}

/** A smaller body costs less to render again than to cache. The response cache holds those that repeat. */
const MIN_CACHED_BYTES = 16 * 1024;
/** A larger body is rendered while it is sent, and not cached. */
const MAX_BUFFERED_BYTES = 24 * 1024 * 1024;
const MAX_CACHE_BYTES = 96 * 1024 * 1024;
/** Counted for each cached body besides its bytes. */
const ENTRY_OVERHEAD_BYTES = 16 * 1024;

interface CachedBody {
  readonly version: number;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

export class BodyRenderer {
  readonly logId: string;
  readonly #etagPrefix: string;
  readonly #cache = createBoundedCache<string, CachedBody>({
    maxSize: MAX_CACHE_BYTES,
    sizeOf: ({ body }) => body.length + ENTRY_OVERHEAD_BYTES,
  });

  /** Another log and another version of the service both give other entity tags. */
  constructor(logId: string, serviceVersion: string) {
    this.logId = logId;
    const hash = createHash("sha256").update(`${logId} ${serviceVersion}`);
    this.#etagPrefix = hash.digest("base64url").slice(0, 8);
  }

  prepare(representation: Representation, acceptEncoding: string | null): PreparedResponse {
    const isPlain = representation.tiny && allowsIdentity(acceptEncoding);
    const encoding = isPlain ? "identity" : negotiateEncoding(acceptEncoding);
    return new PreparedResponse(this, representation, encoding);
  }

  /** A short hash is enough: it only has to distinguish the representations of one URL. */
  etag({ key, version }: Representation, encoding: ContentEncoding): string {
    const keyHash = Bun.hash.xxHash32(key).toString(36);
    const suffix = encoding === "identity" ? "" : `.${encoding}`;
    return `"${this.#etagPrefix}.${version.toString(36)}.${keyHash}${suffix}"`;
  }

  renderBody(representation: Representation, encoding: ContentEncoding): RenderedBody {
    const { key, version } = representation;
    const cacheKey = `${encoding} ${key}`;
    const cached = this.#cache.get(cacheKey);
    if (cached?.version === version) return cached;
    // Dropped before rendering, so that the memory of the old body is free for the new one.
    if (cached) this.#cache.delete(cacheKey);
    const { chunks, persistent, length, headers = {} } = representation.render();
    if (typeof chunks === "string") {
      return { body: encoding === "identity" ? chunks : encode(Buffer.from(chunks), encoding), headers };
    }
    const isFragmentGzip = persistent === true && encoding === "gzip";
    const { buffered, rest } = bufferChunks(isFragmentGzip ? gzipFragments(chunks) : chunks);
    if (rest) {
      const all = concatChunks(buffered, rest);
      const body = isFragmentGzip ? new IterableBodySource(all) : createEncodedBody(all, encoding);
      const hasLength = encoding === "identity" && length !== undefined;
      return { body, headers: hasLength ? { ...headers, "Content-Length": String(length) } : headers };
    }
    const whole = joinBytes(buffered);
    const body = isFragmentGzip ? whole : encode(whole, encoding);
    if (body.length > MIN_CACHED_BYTES) this.#cache.set(cacheKey, { version, body, headers });
    return { body, headers };
  }
}

export function conditionalResponse(prepared: PreparedResponse, ifNoneMatch: string | null): Response {
  if (ifNoneMatch !== null && matchesEtag(ifNoneMatch, prepared.etag)) {
    return { status: 304, headers: prepared.headers(), body: null };
  }
  const { body, headers } = prepared.renderBody();
  return { status: 200, headers: Object.assign(prepared.bodyHeaders(), headers), body };
}

function joinBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return only && chunks.length === 1 ? only : Buffer.concat(chunks);
}

/** Reads chunks up to `MAX_BUFFERED_BYTES`. `rest` is undefined when there are no more. */
function bufferChunks(chunks: Iterable<Uint8Array>): {
  buffered: Uint8Array[];
  rest: Iterator<Uint8Array> | undefined;
} {
  const buffered: Uint8Array[] = [];
  const iterator = chunks[Symbol.iterator]();
  let bytes = 0;
  for (let next = iterator.next(); !next.done; next = iterator.next()) {
    buffered.push(next.value);
    bytes += next.value.length;
    if (bytes > MAX_BUFFERED_BYTES) return { buffered, rest: iterator };
  }
  return { buffered, rest: undefined };
}

function* concatChunks(buffered: Uint8Array[], rest: Iterator<Uint8Array>): Generator<Uint8Array> {
  yield* buffered;
  for (let next = rest.next(); !next.done; next = rest.next()) yield next.value;
}
