/**
 * Renders representations to responses: entity tag, condition, content encoding and body. Rendering runs in steps. A body
 * up to 1 MB, or up to 8 MB if it consists of pages of the view, is rendered completely once and shared by all its readers
 * until its data changes. A larger one is produced while it is sent. For a 304 or a cached body nothing is rendered or
 * compressed, except what an entity tag by hash needs.
 *
 * A cached body is identified by its key (what was requested) and its entity tag, so that new data with the same bytes is
 * not compressed again.
 */
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
import { EntityTags, matchesEtag, type TagScope } from "./entity-tags.ts";
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
  readonly #logId: string;
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

  constructor(scope: TagScope) {
    this.#logId = scope.logId;
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
    const headers = this.#headers(info, `"${this.#tags.ofText(info, text)}"`);
    return matches(ifNoneMatch, headers) ? notModified(info, headers) : ok(info, headers, encoding, text);
  }

  /** The headers that a 304 and a 200 share. */
  #headers({ revision }: RepresentationInfo, etag: string): Record<string, string> & { ETag: string } {
    return {
      ETag: etag,
      "Cache-Control": "private, no-cache",
      Vary: "Accept, Accept-Encoding",
      "Gazetteer-Revision": String(revision),
      [LOG_HEADER]: this.#logId,
    };
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
    const headers = this.#headers(info, etag);
    const cacheKey = `${encoding} ${info.key}`;
    const isMatch = matches(ifNoneMatch, headers);
    const cached = isMatch ? undefined : this.#cache.get(cacheKey);
    const isCached = cached?.etag === etag;
    if (content && (isMatch || isCached)) closeChunks(content.chunks);
    if (isMatch) return notModified(info, headers);
    if (isCached) return shared(info, headers, encoding, cached, scope);
    // The old body is dropped before rendering, so that its memory is free for the new one.
    if (cached) this.#cache.delete(cacheKey);
    const rendered = content ?? (yield* stepsOf(representation.render()));
    return yield* this.#respondWith(info, headers, encoding, rendered, cacheKey, scope);
  }

  *#respondWith(
    info: RepresentationInfo,
    headers: Record<string, string> & { ETag: string },
    encoding: ContentEncoding,
    { chunks, persistent = false, length, headers: added }: Content,
    cacheKey: string,
    scope: ProducerScope,
  ): Steps<ReadResponse> {
    const finish = (body: Uint8Array): ReadResponse => {
      if (body.length <= MIN_CACHED_BYTES) return ok(info, headers, encoding, body, added);
      const joined = new SharedBody(headers.ETag, added, body);
      this.#cache.set(cacheKey, joined);
      return shared(info, headers, encoding, joined, scope);
    };
    if (typeof chunks === "string") {
      if (encoding === "identity") return ok(info, headers, encoding, chunks, added);
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
    if (isPages && begun?.etag === headers.ETag) {
      // Another reader has joined the same pages meanwhile.
      rest?.return?.();
      return shared(info, headers, encoding, begun, scope);
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
    return ok(info, headers, encoding, body, lengthHeader ? { ...added, ...lengthHeader } : added);
  }
}

const matches = (ifNoneMatch: string | null, { ETag }: { readonly ETag: string }): boolean =>
  ifNoneMatch !== null && matchesEtag(ifNoneMatch, ETag);

const notModified = (info: RepresentationInfo, headers: Headers): ReadResponse => ({
  status: 304,
  headers,
  body: null,
  info,
});

/** A 200. `headers` are those that a 304 has too, and are changed; `added` are those of the content. */
function ok(
  info: RepresentationInfo,
  headers: Record<string, string>,
  encoding: ContentEncoding,
  body: ReadResponse["body"],
  added?: Headers,
  sharedBody?: SharedBody,
): ReadResponse {
  headers["Content-Type"] = info.contentType;
  if (encoding !== "identity") headers["Content-Encoding"] = encoding;
  if (added) Object.assign(headers, added);
  return { status: 200, headers, body, shared: sharedBody, info };
}

function shared(
  info: RepresentationInfo,
  headers: Record<string, string>,
  encoding: ContentEncoding,
  body: SharedBody,
  { memory }: ProducerScope,
): ReadResponse {
  memory.hold(body);
  return ok(info, headers, encoding, body.bytes, body.headers, body);
}
