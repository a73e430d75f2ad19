/**
 * Strong entity tags. A tag is a hash of the bytes, or the revision of the one entity that they show, so that it changes
 * exactly when the bytes change. A body above 64 kB is not hashed, because it may be rendered while it is sent; its tag is
 * the version of its data. That version may change while the bytes stay the same, but it always changes with the bytes. It
 * also changes with a removal, unlike the highest revision of the remaining entities.
 *
 * The tag of a version is remembered, so that a 304 for unchanged data renders nothing. The tag of a text that needs
 * no steps is not remembered, because it takes less time to compute than to store. All parts of a tag survive a restart.
 */
import { createHash } from "node:crypto";
import { type WritableText, writeAscii, writeNumber } from "../../http1/serialized-response.ts";
import { createBoundedCache } from "../../lib/bounded-cache.ts";
import { type Steps, stepsOf } from "../../lib/steps.ts";
import { bufferChunks, concatChunks, joinBytes } from "./chunks.ts";
import type { Content, Representation, RepresentationInfo } from "./representation.ts";

/* Entity tags in conditions (RFC 9110, 13.1.2). */

/** Whether `ifNoneMatch`, which is `*` or a list of tags, matches. Tags are compared weakly, so the prefix `W/` is ignored. */
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
const MAX_CACHE_BYTES = 8 * 1024 * 1024;
/** Bytes that are counted for each remembered tag in addition to its key. */
const ENTRY_OVERHEAD_BYTES = 200;

interface RememberedTag {
  readonly version: number;
  readonly tag: string;
}

export interface TagScope {
  readonly logId: string;
  /** The log's signing key, which seeds the hash, so that a source cannot craft two bodies with the same tag. */
  readonly signingKey: Uint8Array;
  readonly serviceVersion: string;
  /** Whether other nodes serve the same representations. */
  readonly isClustered?: boolean;
}

export class EntityTags {
  readonly #prefix: string;
  readonly #seed: bigint;
  readonly #keySeed: number;
  readonly #remembered = createBoundedCache<string, RememberedTag>({
    maxSize: MAX_CACHE_BYTES,
    sizeOf: (_, key) => key.length + ENTRY_OVERHEAD_BYTES,
  });

  /** Tags differ between logs and between versions of the service. */
  constructor({ logId, signingKey, serviceVersion }: TagScope) {
    const scope = `${logId} ${serviceVersion}`;
    this.#prefix = createHash("sha256").update(scope).digest("base64url").slice(0, 8);
    const digest = createHash("sha256").update("entity tags").update(signingKey).digest();
    this.#seed = digest.readBigUInt64LE();
    this.#keySeed = digest.readUInt32LE(8);
  }

  /** The header value for a representation whose body is this text, without a content encoding. */
  etagOf(info: RepresentationInfo, text: string | Uint8Array): string | VersionEtag {
    const { key, tagKey = key, tagVersion } = info;
    if (tagVersion === undefined) return `"${this.ofText(info, text)}"`;
    return new VersionEtag(this.#prefix, this.#keyHash(tagKey), tagVersion);
  }

  /** The tag of a representation whose body is this text. */
  ofText({ key, version, tagKey = key, tagVersion }: RepresentationInfo, text: string | Uint8Array): string {
    if (tagVersion !== undefined) return this.#versionTag(tagKey, tagVersion);
    return text.length > MAX_HASHED_BYTES ? this.#versionTag(key, version) : this.#contentTag(key, text);
  }

  /** The tag of a representation, and its content if it was rendered to compute the tag, which can be read once. */
  *tag(representation: Representation): Steps<{ readonly tag: string; readonly content?: Content }> {
    const { info, text } = representation;
    const { key, version, tagKey = key, tagVersion } = info;
    if (text !== undefined) return { tag: this.ofText(info, text) };
    if (tagVersion !== undefined) return { tag: this.#versionTag(tagKey, tagVersion) };
    const remembered = this.#remembered.get(key);
    if (remembered?.version === version) return { tag: remembered.tag };
    const { bytes, content } = yield* readHashed(yield* stepsOf(representation.render()));
    const tag =
      bytes === undefined ? this.#versionTag(key, version) : this.#contentTag(key, bytes, content.headers);
    this.#remembered.set(key, { version, tag });
    return { tag, content };
  }

  /** Includes the headers that belong to the bytes (`Link`), because a client keeps both. */
  #contentTag(key: string, bytes: string | Uint8Array, headers?: Content["headers"]): string {
    let hash = Bun.hash.xxHash3(bytes, this.#seed);
    if (headers) hash = Bun.hash.xxHash3(JSON.stringify(headers), hash);
    // The hash is written in hexadecimal, because converting a bigint to base 36 takes longer than hashing.
    return `${this.#prefix}.${this.#keyHash(key).toString(36)}.${hash.toString(16)}`;
  }

  #versionTag(key: string, version: number): string {
    return versionTag(this.#prefix, this.#keyHash(key), version);
  }

  /**
   * A short hash is enough, because it only has to distinguish the representations of one URL. It has 31 bits, because a larger
   * number is not a small integer of the runtime and takes three times as long to write. The hash of the runtime would first
   * copy the text, whose parts are not adjacent in memory.
   */
  #keyHash(key: string): number {
    let hash = this.#keySeed;
    for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x0100_0193);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
    return (hash ^ (hash >>> 15)) >>> 1;
  }
}

const versionTag = (prefix: string, keyHash: number, version: number): string =>
  `${prefix}.${keyHash.toString(36)}.${version.toString(36)}r`;

const QUOTE = 0x22;
const DOT = 0x2e;
const LETTER_R = 0x72;

/** The header value with the tag of a version. Most are only written, which takes a fraction of the time of making a text. */
export class VersionEtag implements WritableText {
  readonly #prefix: string;
  readonly #keyHash: number;
  readonly #version: number;

  constructor(prefix: string, keyHash: number, version: number) {
    this.#prefix = prefix;
    this.#keyHash = keyHash;
    this.#version = version;
  }

  write(into: Buffer, start: number): number {
    into[start] = QUOTE;
    let at = writeAscii(into, start + 1, this.#prefix);
    into[at] = DOT;
    at = writeNumber(into, at + 1, this.#keyHash, 36);
    into[at] = DOT;
    at = writeNumber(into, at + 1, this.#version, 36);
    into[at] = LETTER_R;
    into[at + 1] = QUOTE;
    return at + 2;
  }

  toString(): string {
    return `"${versionTag(this.#prefix, this.#keyHash, this.#version)}"`;
  }
}

/** Reads the bytes to hash; `bytes` is undefined if there are too many. */
function* readHashed(content: Content): Steps<{ bytes: string | Uint8Array | undefined; content: Content }> {
  const { chunks } = content;
  if (typeof chunks === "string")
    return { bytes: chunks.length > MAX_HASHED_BYTES ? undefined : chunks, content };
  const { buffered, rest } = yield* bufferChunks(chunks, MAX_HASHED_BYTES);
  if (rest) return { bytes: undefined, content: { ...content, chunks: concatChunks(buffered, rest) } };
  const bytes = joinBytes(buffered);
  return { bytes, content: { ...content, chunks: [bytes] } };
}
