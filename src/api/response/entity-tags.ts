/**
 * Strong entity tags. A tag changes when the bytes do. It is a hash of the bytes, so that it changes only then; a body
 * above 64 kB is not hashed, because it is rendered while it is sent, and has the version of its data as tag. That version
 * may change while the bytes stay the same. It never stays while the bytes change: it also changes with a removal, as the
 * highest revision of the remaining entities would not.
 *
 * The tag of a version is remembered, so that a 304 for unchanged data renders nothing; except that of a text that is there
 * without steps, which takes less time to make than to remember. All parts of a tag survive a restart.
 */
import { createHash } from "node:crypto";
import { createBoundedCache } from "../../lib/bounded-cache.ts";
import { isSteps, type ResultOrSteps, type Steps } from "../../lib/steps.ts";
import { bufferChunks, concatChunks, joinBytes } from "./chunks.ts";
import type { Content, Representation } from "./representation.ts";

/* Entity tags in conditions (RFC 9110, 13.1.2). */

/** `ifNoneMatch` is `*` or a list of tags. Tags are compared weakly: strong or weak makes no difference. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag) return true;
  const opaque = opaqueTag(etag);
  return ifNoneMatch.split(",").some((part) => {
    const tag = part.trim();
    return tag === "*" || opaqueTag(tag) === opaque;
  });
}

const opaqueTag = (tag: string): string => (tag.startsWith("W/") ? tag.slice(2) : tag);

const MAX_HASHED_BYTES = 64 * 1024;
/** One entity, mostly. */
const MAX_SHORT_LENGTH = 4096;
const MAX_CACHE_BYTES = 8 * 1024 * 1024;
/** Counted for each remembered tag besides its key. */
const ENTRY_OVERHEAD_BYTES = 200;

interface RememberedTag {
  readonly version: number;
  readonly tag: string;
}

export interface TaggedContent {
  /** Without quotes and without the suffix of the content encoding. */
  readonly tag: string;
  /** The content, where it was rendered to make the tag. It can be read once. */
  readonly content: Content | undefined;
}

export interface TagScope {
  readonly logId: string;
  /** The log's signing key. Whoever describes the network must not be able to compute two bodies with the same tag. */
  readonly signingKey: Uint8Array;
  readonly serviceVersion: string;
  /** Whether other nodes give the same tags. */
  readonly isClustered?: boolean;
}

export class EntityTags {
  readonly #prefix: string;
  readonly #seed: bigint;
  readonly #remembered = createBoundedCache<string, RememberedTag>({
    maxSize: MAX_CACHE_BYTES,
    sizeOf: (_, key) => key.length + ENTRY_OVERHEAD_BYTES,
  });

  /** Another log and another version of the service both give other tags. */
  constructor({ logId, signingKey, serviceVersion }: TagScope) {
    const scope = `${logId} ${serviceVersion}`;
    this.#prefix = createHash("sha256").update(scope).digest("base64url").slice(0, 8);
    this.#seed = createHash("sha256").update("entity tags").update(signingKey).digest().readBigUInt64LE();
  }

  tag(representation: Representation): ResultOrSteps<TaggedContent> {
    const { key, version, tagIsVersion } = representation.info;
    if (tagIsVersion) return { tag: this.#versionTag(key, version), content: undefined };
    const remembered = this.#remembered.get(key);
    if (remembered?.version === version) return { tag: remembered.tag, content: undefined };
    const rendered = representation.render();
    if (isSteps(rendered) || typeof rendered.chunks !== "string" || rendered.chunks.length > MAX_SHORT_LENGTH)
      return this.#tagRendered(key, version, rendered);
    return { tag: this.#contentTag(key, rendered.chunks, rendered.headers), content: rendered };
  }

  *#tagRendered(key: string, version: number, rendered: ResultOrSteps<Content>): Steps<TaggedContent> {
    const { bytes, content } = yield* readHashed(isSteps(rendered) ? yield* rendered : rendered);
    const tag =
      bytes === undefined ? this.#versionTag(key, version) : this.#contentTag(key, bytes, content.headers);
    this.#remembered.set(key, { version, tag });
    return { tag, content };
  }

  /** A header that comes with the bytes (`Link`) counts too: a client keeps both. */
  #contentTag(key: string, bytes: string | Uint8Array, headers: Content["headers"]): string {
    let hash = Bun.hash.xxHash3(bytes, this.#seed);
    if (headers) hash = Bun.hash.xxHash3(JSON.stringify(headers), hash);
    // In hexadecimal: of a bigint another base takes longer than the hash.
    return `${this.#prefix}.${keyHash(key)}.${hash.toString(16)}`;
  }

  #versionTag(key: string, version: number): string {
    return `${this.#prefix}.${keyHash(key)}.${version.toString(36)}r`;
  }
}

/** A short hash is enough: it only has to distinguish the representations of one URL. */
const keyHash = (key: string): string => Bun.hash.xxHash32(key).toString(36);

/** `bytes` is undefined when there are too many to hash. */
function* readHashed(content: Content): Steps<{ bytes: string | Uint8Array | undefined; content: Content }> {
  const { chunks } = content;
  if (typeof chunks === "string")
    return { bytes: chunks.length > MAX_HASHED_BYTES ? undefined : chunks, content };
  const { buffered, rest } = yield* bufferChunks(chunks, MAX_HASHED_BYTES);
  if (rest) return { bytes: undefined, content: { ...content, chunks: concatChunks(buffered, rest) } };
  const bytes = joinBytes(buffered);
  return { bytes, content: { ...content, chunks: [bytes] } };
}
