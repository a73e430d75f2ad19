/**
 * Renders representations to responses: entity tag, condition, content encoding and body. Rendering runs in steps. A body
 * up to 1 MB, or up to 8 MB if it consists of pages of the view, is rendered completely once and shared by all its readers
 * until its data changes. A larger one is produced while it is sent. For a 304 or a cached body nothing is rendered or
 * compressed, except what an entity tag by hash needs.
 *
 * A cached body is identified by its key (what was requested) and its entity tag, so that new data with the same bytes is
 * not compressed again.
 */
import { type CommonHeaders, NO_SNIFF } from "../../http1/common-headers.ts";
import { HeadTemplate } from "../../http1/serialized-response.ts";
import { createBoundedCache } from "../../lib/bounded-cache.ts";
import type { SharedMemory } from "../../lib/memory-budget.ts";
import { type ResultOrSteps, type Steps, stepsOf } from "../../lib/steps.ts";
import { allowsIdentity, type ContentEncoding, negotiateEncoding } from "../endpoints/negotiate.ts";
import type { ReadRequest } from "../exchange.ts";
import {
  AccountedBody,
  BodyProducer,
  CHUNK_BYTES,
  type ProducerScope,
  SHARED_RUN_BYTES,
} from "./body-producer.ts";
import { bufferChunks, closeChunks, concatChunks, joinBytes, sizeOf } from "./chunks.ts";
import { LOG_HEADER } from "./common-headers.ts";
import { createEncodedBody, encode } from "./content-encoding.ts";
import { EntityTags, matchesEtag, type TagScope, type VersionEtag } from "./entity-tags.ts";
import { gzipChunks } from "./gzip-fragments.ts";
import type { Content, ReadResponse, Representation, RepresentationInfo } from "./representation.ts";

/** Minimum size of a cached body. A smaller one is cheap to render again, and the response cache holds repeated ones. */
const MIN_CACHED_BYTES = 16 * 1024;
/** Maximum size of a body that is rendered completely. A larger one is produced while it is sent and is not cached. */
const MAX_WHOLE_BYTES = 1024 * 1024;
/** The same limit for pages of the view, which need no rendering. Joining as many takes about 3 ms, once for a version. */
const MAX_WHOLE_PAGES_BYTES = 8 * 1024 * 1024;
const MAX_CACHE_BYTES = 96 * 1024 * 1024;
/** Bytes that are counted for each cached body in addition to its length. */
const ENTRY_OVERHEAD_BYTES = 16 * 1024;

type Headers = Readonly<Record<string, string>>;

const CACHE_CONTROL = "private, no-cache";
const VARY = "Accept, Accept-Encoding";

const BEFORE_TAG = "ETag: ";
const BEFORE_REVISION = `\r\nCache-Control: ${CACHE_CONTROL}\r\nVary: ${VARY}\r\nGazetteer-Revision: `;

/** A response with no other headers than most have. It is sent without building them. */
class PlainResponse implements ReadResponse {
  readonly status: 200 | 304;
  readonly info: RepresentationInfo;
  readonly body: ReadResponse["body"];
  readonly shared: SharedBody | undefined;
  readonly #heads: PlainHeads;
  readonly #etag: string | VersionEtag;

  constructor(
    heads: PlainHeads,
    status: 200 | 304,
    info: RepresentationInfo,
    etag: string | VersionEtag,
    body: ReadResponse["body"],
    shared?: SharedBody,
  ) {
    this.#heads = heads;
    this.#etag = etag;
    this.status = status;
    this.info = info;
    this.body = body;
    this.shared = shared;
  }

  get headers(): Headers {
    const { contentType, revision } = this.info;
    return this.#heads.headers(String(this.#etag), revision, this.status === 200 ? contentType : undefined);
  }

  writeHead(into: Buffer, length: number, nowMs: number): number {
    const { contentType, revision } = this.info;
    const template = this.#heads.template(this.status === 200 ? contentType : undefined);
    return template.write(into, this.#etag, revision, length, nowMs);
  }
}

/** The heads of plain responses: a 304, and with a media type a 200. */
class PlainHeads {
  readonly #logId: string;
  readonly #common: CommonHeaders;
  readonly #templates = new Map<string | undefined, HeadTemplate>();

  constructor(logId: string, common: CommonHeaders) {
    this.#logId = logId;
    this.#common = common;
  }

  headers(etag: string, revision: number, contentType: string | undefined): Record<string, string> {
    return {
      ETag: etag,
      "Cache-Control": CACHE_CONTROL,
      Vary: VARY,
      "Gazetteer-Revision": String(revision),
      [LOG_HEADER]: this.#logId,
      ...(contentType !== undefined && { "Content-Type": contentType }),
    };
  }

  /** The template with the same headers. There is one for each format. */
  template(contentType: string | undefined): HeadTemplate {
    const known = this.#templates.get(contentType);
    if (known) return known;
    const type = contentType === undefined ? "" : `Content-Type: ${contentType}\r\n`;
    const lines = [BEFORE_TAG, BEFORE_REVISION, `\r\n${LOG_HEADER}: ${this.#logId}\r\n${type}`] as const;
    const template = new HeadTemplate(contentType === undefined ? 304 : 200, lines, this.#common);
    this.#templates.set(contentType, template);
    return template;
  }
}

/** A complete body, which all responses of its version share. */
class SharedBody implements SharedMemory {
  readonly etag: string;
  /** The headers that rendering added. */
  readonly headers: Headers | undefined;
  readonly bytes: Uint8Array;
  isCached = true;

  constructor(etag: string, headers: Headers | undefined, bytes: Uint8Array) {
    this.etag = etag;
    this.headers = headers;
    this.bytes = bytes;
  }

  get heldBytes(): number {
    return this.isCached ? 0 : this.bytes.length;
  }
}

type Conditions = Pick<ReadRequest, "acceptEncoding" | "ifNoneMatch">;

export class BodyRenderer {
  readonly #heads: PlainHeads;
  /** The prefix of the tags of encoded bodies, which are weak in a cluster because nodes may compress bytes differently. */
  readonly #encodedPrefix: "" | "W/";
  readonly #tags: EntityTags;
  readonly #cache = createBoundedCache<string, SharedBody>({
    maxSize: MAX_CACHE_BYTES,
    sizeOf: ({ bytes }) => bytes.length + ENTRY_OVERHEAD_BYTES,
    onRemove: (body) => {
      body.isCached = false;
    },
  });

  /** `common` are the headers that every response of the server has. */
  constructor(scope: TagScope, common = NO_SNIFF) {
    this.#heads = new PlainHeads(scope.logId, common);
    this.#encodedPrefix = scope.isClustered ? "W/" : "";
    this.#tags = new EntityTags(scope);
  }

  /** The response to a request. A text that is not compressed needs no steps, which would cost more than all the rest. */
  respond(
    representation: Representation,
    { acceptEncoding, ifNoneMatch }: Conditions,
    scope: ProducerScope,
  ): ResultOrSteps<ReadResponse> {
    const { info, text } = representation;
    const isPlain = info.tiny && allowsIdentity(acceptEncoding);
    const encoding = isPlain ? "identity" : negotiateEncoding(acceptEncoding);
    if (text === undefined || encoding !== "identity")
      return this.#respondInSteps(representation, encoding, ifNoneMatch, scope);
    const etag = this.#tags.etagOf(info, text);
    return matches(ifNoneMatch, etag) ? this.#notModified(info, etag) : this.#ok(info, etag, encoding, text);
  }

  *#respondInSteps(
    representation: Representation,
    encoding: ContentEncoding,
    ifNoneMatch: string | null,
    scope: ProducerScope,
  ): Steps<ReadResponse> {
    const { info } = representation;
    const { tag, content } = yield* this.#tags.tag(representation);
    const etag = encoding === "identity" ? `"${tag}"` : `${this.#encodedPrefix}"${tag}.${encoding}"`;
    const cacheKey = `${encoding} ${info.key}`;
    const isMatch = matches(ifNoneMatch, etag);
    const cached = isMatch ? undefined : this.#cache.get(cacheKey);
    const isCached = cached?.etag === etag;
    if (content && (isMatch || isCached)) closeChunks(content.chunks);
    if (isMatch) return this.#notModified(info, etag);
    if (isCached) return this.#shared(info, encoding, cached, scope);
    // The old body is dropped before rendering, so that its memory is free for the new one.
    if (cached) this.#cache.delete(cacheKey);
    const rendered = content ?? (yield* stepsOf(representation.render()));
    return yield* this.#respondWith(info, etag, encoding, rendered, cacheKey, scope);
  }

  *#respondWith(
    info: RepresentationInfo,
    etag: string,
    encoding: ContentEncoding,
    { chunks, persistent = false, length, headers: added }: Content,
    cacheKey: string,
    scope: ProducerScope,
  ): Steps<ReadResponse> {
    const finish = (body: Uint8Array): ReadResponse => {
      if (body.length <= MIN_CACHED_BYTES) return this.#ok(info, etag, encoding, body, added);
      const joined = new SharedBody(etag, added, body);
      this.#cache.set(cacheKey, joined);
      return this.#shared(info, encoding, joined, scope);
    };
    if (typeof chunks === "string") {
      if (encoding === "identity") return this.#ok(info, etag, encoding, chunks, added);
      return finish(yield* encode(Buffer.from(chunks), encoding, scope.owner));
    }
    const isPages = persistent && encoding === "identity";
    const isGzipped = persistent && encoding === "gzip";
    /** Whether the chunks of the body are in memory without it too: pages of the view, and their kept compressed forms. */
    const isKept = isPages || isGzipped;
    const { buffered, rest } = yield* bufferChunks(
      isGzipped ? gzipChunks(chunks, scope.owner) : chunks,
      isPages ? MAX_WHOLE_PAGES_BYTES : MAX_WHOLE_BYTES,
    );
    const begun = this.#cache.get(cacheKey);
    if (isPages && begun?.etag === etag) {
      // Another reader has joined the same pages meanwhile.
      rest?.return?.();
      return this.#shared(info, encoding, begun, scope);
    }
    const bufferedBytes = sizeOf(buffered);
    const ownBytes = persistent ? 0 : bufferedBytes;
    scope.memory.add(ownBytes);
    const remaining = isGzipped ? "identity" : encoding;
    /*
     * If the network changes so often that too many bodies of former versions are being sent, the pages, most of which all
     * versions share, are sent without a copy.
     */
    const mayJoin =
      !isPages || bufferedBytes <= MAX_WHOLE_BYTES || scope.memory.hasRoomToSpare(bufferedBytes);
    if (!rest && mayJoin) return finish(yield* encode(joinBytes(buffered), remaining, scope.owner));
    const runBytes = isKept ? SHARED_RUN_BYTES : CHUNK_BYTES;
    const producer = new BodyProducer(scope, concatChunks(buffered, rest ?? [].values()), ownBytes, runBytes);
    const isOwn = (chunk: Uint8Array) => !isKept || producer.isCopy(chunk);
    const body = new AccountedBody(createEncodedBody(producer, remaining), scope.memory, isOwn);
    const knownLength = rest ? length : bufferedBytes;
    const hasLength = encoding === "identity" && knownLength !== undefined;
    const lengthHeader = hasLength ? { "Content-Length": String(knownLength) } : undefined;
    return this.#ok(info, etag, encoding, body, lengthHeader ? { ...added, ...lengthHeader } : added);
  }

  #notModified(info: RepresentationInfo, etag: string | VersionEtag): ReadResponse {
    return new PlainResponse(this.#heads, 304, info, etag, null);
  }

  /** A 200. `added` are the headers of the content. */
  #ok(
    info: RepresentationInfo,
    etag: string | VersionEtag,
    encoding: ContentEncoding,
    body: ReadResponse["body"],
    added?: Headers,
    shared?: SharedBody,
  ): ReadResponse {
    if (encoding === "identity" && !added)
      return new PlainResponse(this.#heads, 200, info, etag, body, shared);
    const own = this.#heads.headers(String(etag), info.revision, info.contentType);
    if (encoding !== "identity") own["Content-Encoding"] = encoding;
    return { status: 200, headers: { ...own, ...added }, body, shared, info };
  }

  #shared(
    info: RepresentationInfo,
    encoding: ContentEncoding,
    body: SharedBody,
    { memory }: ProducerScope,
  ): ReadResponse {
    memory.hold(body);
    return this.#ok(info, body.etag, encoding, body.bytes, body.headers, body);
  }
}

const matches = (ifNoneMatch: string | null, etag: string | VersionEtag): boolean =>
  ifNoneMatch !== null && matchesEtag(ifNoneMatch, String(etag));
