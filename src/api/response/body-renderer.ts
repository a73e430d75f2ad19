/**
 * Renders representations to responses: entity tag, condition, content encoding and body. Rendering runs in steps. A body
 * up to 1 MB, or up to 24 MB if it consists of pages of the view, is rendered completely once and shared by all its readers
 * until its data changes. A larger one is produced while it is sent. For a 304 or a cached body nothing is rendered or
 * compressed, except what an entity tag by hash needs.
 *
 * A cached body is identified by its key (what was requested) and its entity tag, so that new data with the same bytes is
 * not compressed again.
 */
import type { BodySource } from "../../http1/body-source.ts";
import type { Response } from "../../http1/response.ts";
import { createBoundedCache } from "../../lib/bounded-cache.ts";
import type { MemoryAccount, SharedMemory } from "../../lib/memory-budget.ts";
import { isSteps, type ResultOrSteps, SharedSteps, type Steps } from "../../lib/steps.ts";
import { allowsIdentity, type ContentEncoding, negotiateEncoding } from "../endpoints/negotiate.ts";
import { AccountedBody } from "./accounted-body.ts";
import { BodyProducer, CHUNK_BYTES, type ProducerScope, SHARED_RUN_BYTES } from "./body-producer.ts";
import { bufferChunks, closeChunks, concatChunks, joinBytes, sizeOf } from "./chunks.ts";
import { LOG_HEADER } from "./common-headers.ts";
import { createEncodedBody, encode } from "./content-encoding.ts";
import { EntityTags, matchesEtag, type TaggedContent, type TagScope } from "./entity-tags.ts";
import { gzipBody } from "./gzip-fragments.ts";
import type { Content, Representation, RepresentationInfo } from "./representation.ts";

/** A body with the headers that rendering adds. Text and bytes can be sent again, a body source only once. */
export interface RenderedBody {
  readonly body: string | Uint8Array | BodySource;
  readonly headers: Readonly<Record<string, string>>;
  /** The memory of the body if other responses share it. */
  readonly shared?: SharedMemory;
}

/** A representation with its entity tag and content encoding, whose body is not rendered yet. */
export class PreparedResponse {
  readonly info: RepresentationInfo;
  readonly etag: string;
  readonly #renderer: BodyRenderer;
  readonly #encoding: ContentEncoding;
  /** Set until the body is rendered. It refers to a state of the network, which the response cache must not keep alive. */
  #representation: Representation | undefined;
  /** The content if it was rendered for the tag; undefined after it is used. */
  #content: Content | undefined;

  constructor(
    renderer: BodyRenderer,
    representation: Representation,
    encoding: ContentEncoding,
    { tag, content }: TaggedContent,
  ) {
    this.info = representation.info;
    this.etag = encoding === "identity" ? `"${tag}"` : `${renderer.encodedPrefix}"${tag}.${encoding}"`;
    this.#renderer = renderer;
    this.#encoding = encoding;
    this.#representation = representation;
    this.#content = content;
  }

  /** The value of `Gazetteer-Revision` in a response that is sent at `revision`. */
  revisionHeader(revision: number): string {
    const { isPage, revision: ownRevision } = this.info;
    return String(isPage ? ownRevision : revision);
  }

  /** The headers that a 304 and a 200 share. */
  headers(revision = this.info.revision): Record<string, string> {
    return {
      ETag: this.etag,
      "Cache-Control": "private, no-cache",
      Vary: "Accept, Accept-Encoding",
      "Gazetteer-Revision": this.revisionHeader(revision),
      [LOG_HEADER]: this.#renderer.logId,
    };
  }

  /** The headers of a 200, without those that rendering adds. */
  bodyHeaders(): Record<string, string> {
    const headers = this.headers();
    headers["Content-Type"] = this.info.contentType;
    if (this.#encoding !== "identity") headers["Content-Encoding"] = this.#encoding;
    return headers;
  }

  /** Renders the body. Must be called at most once; a second call throws. */
  renderBody(scope: ProducerScope): ResultOrSteps<RenderedBody> {
    const representation = this.#representation;
    const content = this.#content;
    this.release();
    if (!representation) throw new Error("the body is already rendered");
    return this.#renderer.renderBody(representation, this.#encoding, this.etag, content, scope);
  }

  /** Called instead of `renderBody` if the body is not needed. */
  discard(): void {
    if (this.#content) closeChunks(this.#content.chunks);
    this.release();
  }

  /** Drops the data that the body is rendered from. */
  release(): void {
    this.#representation = undefined;
    this.#content = undefined;
  }
}

/** Minimum size of a cached body. A smaller one is cheap to render again, and the response cache holds repeated ones. */
const MIN_CACHED_BYTES = 16 * 1024;
/** Maximum size of a body that is rendered completely. A larger one is produced while it is sent and is not cached. */
const MAX_WHOLE_BYTES = 1024 * 1024;
/** The same limit for pages of the view, which need no rendering and of which all readers of a version share one copy. */
const MAX_WHOLE_PAGES_BYTES = 24 * 1024 * 1024;
/** Number of bytes of pages that are copied between two pauses. */
const COPIED_PER_STEP = 1024 * 1024;
const MAX_CACHE_BYTES = 96 * 1024 * 1024;
/** Bytes that are counted for each cached body in addition to its length. */
const ENTRY_OVERHEAD_BYTES = 16 * 1024;

/**
 * A complete body, which all responses of its version share. All readers that wait for it advance its steps. It is in the
 * cache from the beginning, so that its memory is bounded while it is rendered.
 */
class SharedBody implements SharedMemory {
  readonly etag: string;
  readonly length: number;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #onAbandoned: (body: SharedBody) => void;
  #bytes: Uint8Array | SharedSteps<Uint8Array>;
  #readers = 0;
  isCached = true;

  constructor(
    etag: string,
    headers: Readonly<Record<string, string>>,
    length: number,
    bytes: Uint8Array | Steps<Uint8Array>,
    onAbandoned: (body: SharedBody) => void = () => {},
  ) {
    this.etag = etag;
    this.length = length;
    this.#headers = headers;
    this.#bytes = bytes instanceof Uint8Array ? bytes : new SharedSteps(bytes);
    this.#onAbandoned = onAbandoned;
  }

  get heldBytes(): number {
    return this.isCached ? 0 : this.length;
  }

  *rendered({ memory }: ProducerScope): Steps<RenderedBody> {
    memory.hold(this);
    const body = this.#bytes instanceof SharedSteps ? yield* this.#made(this.#bytes) : this.#bytes;
    return { body, headers: this.#headers, shared: this };
  }

  *#made(steps: SharedSteps<Uint8Array>): Steps<Uint8Array> {
    this.#readers++;
    try {
      const bytes = yield* steps.result();
      this.#bytes = bytes;
      return bytes;
    } finally {
      this.#readers--;
      // If all its readers are gone, the incomplete body must not keep the pages of an old state in memory.
      if (this.#readers === 0 && this.#bytes === steps) this.#onAbandoned(this);
    }
  }
}

function* joinInSteps(chunks: readonly Uint8Array[], length: number): Steps<Uint8Array> {
  const joined = Buffer.allocUnsafeSlow(length);
  let at = 0;
  let copied = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
    copied += chunk.length;
    if (copied < COPIED_PER_STEP) continue;
    copied = 0;
    yield;
  }
  return joined;
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

export class BodyRenderer {
  readonly logId: string;
  /** The prefix of the tags of encoded bodies, which are weak in a cluster because nodes may compress bytes differently. */
  readonly encodedPrefix: "" | "W/";
  readonly #tags: EntityTags;
  readonly #cache = createBoundedCache<string, SharedBody>({
    maxSize: MAX_CACHE_BYTES,
    sizeOf: ({ length }) => length + ENTRY_OVERHEAD_BYTES,
    onRemove: (body) => {
      body.isCached = false;
    },
  });

  constructor(scope: TagScope) {
    this.logId = scope.logId;
    this.encodedPrefix = scope.isClustered ? "W/" : "";
    this.#tags = new EntityTags(scope);
  }

  prepare(representation: Representation, acceptEncoding: string | null): ResultOrSteps<PreparedResponse> {
    const isPlain = representation.info.tiny && allowsIdentity(acceptEncoding);
    const encoding = isPlain ? "identity" : negotiateEncoding(acceptEncoding);
    const tagged = this.#tags.tag(representation);
    if (isSteps(tagged)) return this.#prepareTagged(representation, encoding, tagged);
    return new PreparedResponse(this, representation, encoding, tagged);
  }

  *#prepareTagged(
    representation: Representation,
    encoding: ContentEncoding,
    tagged: Steps<TaggedContent>,
  ): Steps<PreparedResponse> {
    return new PreparedResponse(this, representation, encoding, yield* tagged);
  }

  /** Renders a body. `content` is the content if it is rendered already. A text that is not compressed needs no steps. */
  renderBody(
    representation: Representation,
    encoding: ContentEncoding,
    etag: string,
    content: Content | undefined,
    scope: ProducerScope,
  ): ResultOrSteps<RenderedBody> {
    if (encoding !== "identity") return this.#renderInSteps(representation, encoding, etag, content, scope);
    if (representation.text !== undefined) return { body: representation.text, headers: NO_HEADERS };
    if (typeof content?.chunks === "string")
      return { body: content.chunks, headers: content.headers ?? NO_HEADERS };
    return this.#renderInSteps(representation, encoding, etag, content, scope);
  }

  *#renderInSteps(
    representation: Representation,
    encoding: ContentEncoding,
    etag: string,
    content: Content | undefined,
    scope: ProducerScope,
  ): Steps<RenderedBody> {
    const cacheKey = `${encoding} ${representation.info.key}`;
    const cached = this.#cache.get(cacheKey);
    if (cached?.etag === etag) {
      if (content) closeChunks(content.chunks);
      return yield* cached.rendered(scope);
    }
    // The old body is dropped before rendering, so that its memory is free for the new one.
    if (cached) this.#cache.delete(cacheKey);
    const rendered = content ?? representation.render();
    const {
      chunks,
      persistent,
      length,
      headers = NO_HEADERS,
    } = isSteps(rendered) ? yield* rendered : rendered;
    const finish = (body: Uint8Array): RenderedBody => {
      if (body.length <= MIN_CACHED_BYTES) return { body, headers };
      const shared = new SharedBody(etag, headers, body.length, body);
      this.#cache.set(cacheKey, shared);
      return { body, headers, shared };
    };
    if (typeof chunks === "string") {
      if (encoding === "identity") return { body: chunks, headers };
      return finish(yield* encode(Buffer.from(chunks), encoding, scope.owner));
    }
    if (persistent && encoding === "gzip") {
      const body = yield* gzipBody(chunks, MAX_WHOLE_BYTES, scope);
      return body instanceof Uint8Array ? finish(body) : { body, headers };
    }
    const isShared = persistent === true && encoding === "identity";
    const { buffered, rest } = yield* bufferChunks(
      chunks,
      isShared ? MAX_WHOLE_PAGES_BYTES : MAX_WHOLE_BYTES,
    );
    const bufferedBytes = sizeOf(buffered);
    const isLargeCopy = isShared && !rest && bufferedBytes > COPIED_PER_STEP;
    const joined = isLargeCopy ? this.#joined(cacheKey, etag, headers, buffered, scope.memory) : undefined;
    if (joined) return yield* joined.rendered(scope);
    // Pages of the view are in memory anyway, so they are not counted.
    const ownBytes = persistent ? 0 : bufferedBytes;
    scope.memory.add(ownBytes);
    if (!rest && !isLargeCopy) return finish(yield* encode(joinBytes(buffered), encoding, scope.owner));
    const runBytes = isShared ? SHARED_RUN_BYTES : CHUNK_BYTES;
    const producer = new BodyProducer(scope, concatChunks(buffered, rest ?? [].values()), ownBytes, runBytes);
    const isOwn = (chunk: Uint8Array) => !isShared || producer.isCopy(chunk);
    const body = new AccountedBody(createEncodedBody(producer, encoding), scope.memory, isOwn);
    const knownLength = rest ? length : bufferedBytes;
    const hasLength = encoding === "identity" && knownLength !== undefined;
    return { body, headers: hasLength ? { ...headers, "Content-Length": String(knownLength) } : headers };
  }

  /**
   * The joined body of these pages, which another reader may have begun to join. Undefined if the network changes so often
   * that too many bodies of former versions are being sent. The pages, most of which all versions share, are then sent
   * without a copy.
   */
  #joined(
    cacheKey: string,
    etag: string,
    headers: Readonly<Record<string, string>>,
    pages: readonly Uint8Array[],
    memory: MemoryAccount,
  ): SharedBody | undefined {
    const begun = this.#cache.get(cacheKey);
    if (begun?.etag === etag) return begun;
    const length = sizeOf(pages);
    if (!memory.hasRoomToSpare(length)) return undefined;
    const joined = new SharedBody(etag, headers, length, joinInSteps(pages, length), (abandoned) => {
      if (this.#cache.peek(cacheKey) === abandoned) this.#cache.delete(cacheKey);
    });
    this.#cache.set(cacheKey, joined);
    return joined;
  }
}

export function conditionalResponse(
  prepared: PreparedResponse,
  ifNoneMatch: string | null,
  scope: ProducerScope,
): ResultOrSteps<Response> {
  if (ifNoneMatch !== null && matchesEtag(ifNoneMatch, prepared.etag)) {
    prepared.discard();
    return { status: 304, headers: prepared.headers(), body: null };
  }
  const rendered = prepared.renderBody(scope);
  return isSteps(rendered) ? respondInSteps(prepared, rendered) : okResponse(prepared, rendered);
}

function* respondInSteps(prepared: PreparedResponse, rendered: Steps<RenderedBody>): Steps<Response> {
  return okResponse(prepared, yield* rendered);
}

function okResponse(prepared: PreparedResponse, { body, headers, shared }: RenderedBody): Response {
  const all = prepared.bodyHeaders();
  return { status: 200, headers: headers === NO_HEADERS ? all : Object.assign(all, headers), body, shared };
}
