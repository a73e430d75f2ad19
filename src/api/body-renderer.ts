/**
 * Renders representations to responses: entity tag, condition, content encoding and body. Bodies of medium size are
 * cached until their data changes; nothing is rendered or compressed for a 304 or a cached body.
 *
 * A cached body is identified by its key (what was requested) and its entity tag: new data with the same bytes is not
 * compressed again.
 */
import { type BodySource, IterableBodySource } from "../http1/body-source.ts";
import type { Response } from "../http1/response.ts";
import { createBoundedCache } from "../lib/bounded-cache.ts";
import { bufferChunks, concatChunks, joinBytes } from "./chunks.ts";
import { createEncodedBody, encode, gzipFragments } from "./content-encoding.ts";
import { EntityTags, type TaggedContent, type TagScope } from "./entity-tags.ts";
import { matchesEtag } from "./etag.ts";
import { allowsIdentity, type ContentEncoding, negotiateEncoding } from "./negotiate.ts";
import type { Content, Representation } from "./representation.ts";

/** Text and bytes can be sent again; a body source only once. */
export interface RenderedBody {
  readonly body: string | Uint8Array | BodySource;
  readonly headers: Readonly<Record<string, string>>;
}

/** A representation in a content encoding. Its body is not encoded yet. */
export class PreparedResponse {
  readonly representation: Representation;
  readonly etag: string;
  readonly #renderer: BodyRenderer;
  readonly #encoding: ContentEncoding;
  /** Rendered for the tag; undefined once it is used. */
  #content: Content | undefined;

  constructor(
    renderer: BodyRenderer,
    representation: Representation,
    encoding: ContentEncoding,
    { tag, content }: TaggedContent,
  ) {
    this.representation = representation;
    this.etag = encoding === "identity" ? `"${tag}"` : `"${tag}.${encoding}"`;
    this.#renderer = renderer;
    this.#encoding = encoding;
    this.#content = content;
  }

  /** `Gazetteer-Revision` of a response that is sent at `revision`. */
  revisionHeader(revision: number): string {
    const { isPage, revision: ownRevision } = this.representation;
    return String(isPage ? ownRevision : revision);
  }

  /** The headers that a 304 and a 200 share. */
  headers(revision = this.representation.revision): Record<string, string> {
    return {
      ETag: this.etag,
      "Cache-Control": "private, no-cache",
      Vary: "Accept, Accept-Encoding",
      "Gazetteer-Revision": this.revisionHeader(revision),
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
    const content = this.#content;
    this.#content = undefined;
    return this.#renderer.renderBody(this.representation, this.#encoding, this.etag, content);
  }

  /** Drops the content. The response cache keeps this object longer than the bytes of a 304 are needed. */
  release(): void {
    this.#content = undefined;
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
  readonly etag: string;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

export class BodyRenderer {
  readonly logId: string;
  readonly #tags: EntityTags;
  readonly #cache = createBoundedCache<string, CachedBody>({
    maxSize: MAX_CACHE_BYTES,
    sizeOf: ({ body }) => body.length + ENTRY_OVERHEAD_BYTES,
  });

  constructor(scope: TagScope) {
    this.logId = scope.logId;
    this.#tags = new EntityTags(scope);
  }

  prepare(representation: Representation, acceptEncoding: string | null): PreparedResponse {
    const isPlain = representation.tiny && allowsIdentity(acceptEncoding);
    const encoding = isPlain ? "identity" : negotiateEncoding(acceptEncoding);
    return new PreparedResponse(this, representation, encoding, this.#tags.tag(representation));
  }

  /** `content` is the rendered content, where there is one already. */
  renderBody(
    representation: Representation,
    encoding: ContentEncoding,
    etag: string,
    content: Content | undefined,
  ): RenderedBody {
    const cacheKey = `${encoding} ${representation.key}`;
    const cached = this.#cache.get(cacheKey);
    if (cached?.etag === etag) return cached;
    // Dropped before rendering, so that the memory of the old body is free for the new one.
    if (cached) this.#cache.delete(cacheKey);
    const { chunks, persistent, length, headers = {} } = content ?? representation.render();
    if (typeof chunks === "string") {
      return { body: encoding === "identity" ? chunks : encode(Buffer.from(chunks), encoding), headers };
    }
    const isFragmentGzip = persistent === true && encoding === "gzip";
    const { buffered, rest } = bufferChunks(
      isFragmentGzip ? gzipFragments(chunks) : chunks,
      MAX_BUFFERED_BYTES,
    );
    if (rest) {
      const all = concatChunks(buffered, rest);
      const body = isFragmentGzip ? new IterableBodySource(all) : createEncodedBody(all, encoding);
      const hasLength = encoding === "identity" && length !== undefined;
      return { body, headers: hasLength ? { ...headers, "Content-Length": String(length) } : headers };
    }
    const whole = joinBytes(buffered);
    const body = isFragmentGzip ? whole : encode(whole, encoding);
    if (body.length > MIN_CACHED_BYTES) this.#cache.set(cacheKey, { etag, body, headers });
    return { body, headers };
  }
}

export function conditionalResponse(prepared: PreparedResponse, ifNoneMatch: string | null): Response {
  if (ifNoneMatch !== null && matchesEtag(ifNoneMatch, prepared.etag)) {
    prepared.release();
    return { status: 304, headers: prepared.headers(), body: null };
  }
  const { body, headers } = prepared.renderBody();
  return { status: 200, headers: Object.assign(prepared.bodyHeaders(), headers), body };
}
