/**
 * From what a read found to a response: entity tag, condition, content coding, and the bytes, made once and kept until
 * the thing changes.
 *
 * A representation is known by its key (what was asked) and its mark (the revision that last changed what it is made
 * of). Both survive a restart, so entity tags do. Nothing is rendered or compressed for a 304 or for bytes at hand.
 */
import { createHash } from "node:crypto";
import { type BodySource, IterableBodySource } from "../http1/body-source.ts";
import type { Response } from "../http1/response.ts";
import { encode, encodedFeed, gzipFragments } from "./content-encoding.ts";
import { type Coding, identityAllowed, negotiateCoding } from "./negotiate.ts";

export interface Content {
  /** Bytes in order; or the whole as text, when it is little. */
  readonly pieces: string | Iterable<Uint8Array>;
  /** The pieces outlive this response (pages of the view): their compressed form is worth keeping with them. */
  readonly lasting?: boolean;
  /** How many bytes it is, where that is known before it is made. */
  readonly length?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Representation {
  /** Everything that shapes the bytes but the coding and the state of the network. */
  readonly key: string;
  readonly version: number;
  /** For what is read from the present: the mark as it is now. The same number means the same bytes. */
  readonly currentVersion?: () => number;
  readonly revision: number;
  readonly contentType: string;
  /** Known to be too small to gain from compression. */
  readonly tiny?: boolean;
  make(): Content;
}

/** A body, and the headers that go with it. Text and bytes may be sent again; a feed only once. */
export interface Made {
  readonly body: string | Uint8Array | BodySource;
  readonly headers: Readonly<Record<string, string>>;
}

/** A representation in a coding: what is needed to answer it, with nothing rendered yet. */
export class Prepared {
  readonly what: Representation;
  readonly etag: string;
  readonly #representer: BodyRenderer;
  readonly #coding: Coding;

  constructor(representer: BodyRenderer, what: Representation, coding: Coding) {
    this.what = what;
    this.etag = representer.etag(what, coding);
    this.#representer = representer;
    this.#coding = coding;
  }

  /** Those of a 304, and of every answer. */
  headers(revision = this.what.revision): Record<string, string> {
    return {
      ETag: this.etag,
      "Cache-Control": "private, no-cache",
      Vary: "Accept, Accept-Encoding",
      "Gazetteer-Revision": String(revision),
      "Gazetteer-Log": this.#representer.log,
    };
  }

  /** Those of an answer with a body, besides what the body brings with it. */
  bodyHeaders(revision?: number): Record<string, string> {
    const headers = this.headers(revision);
    headers["Content-Type"] = this.what.contentType;
    if (this.#coding !== "identity") headers["Content-Encoding"] = this.#coding;
    return headers;
  }

  content(): Made {
    return this.#representer.body(this.what, this.#coding);
  }
}

/** Up to here, to make a body again costs less than to keep it; what is asked for again is kept as a whole answer. */
const SMALL_BYTES = 16 * 1024;

/** Larger bodies are made while they are sent, and not kept. */
const LARGE_BYTES = 24 * 1024 * 1024;
const KEPT_BYTES = 96 * 1024 * 1024;
/** What keeping a body costs besides its bytes. */
const KEPT_OVERHEAD = 16 * 1024;

interface Kept {
  readonly mark: number;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

export class BodyRenderer {
  readonly log: string;
  readonly #epoch: string;
  readonly #kept = new Map<string, Kept>();
  #keptBytes = 0;

  /** `epoch` names the log and `version` the code: bytes of another log or another version are other bytes. */
  constructor(epoch: string, version: string) {
    this.log = epoch;
    this.#epoch = createHash("sha256").update(`${epoch} ${version}`).digest("base64url").slice(0, 8);
  }

  prepare(what: Representation, acceptEncoding: string | null): Prepared {
    const plain = what.tiny && identityAllowed(acceptEncoding);
    return new Prepared(this, what, plain ? "identity" : negotiateCoding(acceptEncoding));
  }

  /** The hash only has to tell apart what one address can mean. */
  etag({ key, version }: Representation, coding: Coding): string {
    const what = Bun.hash.xxHash32(key).toString(36);
    return `"${this.#epoch}.${version.toString(36)}.${what}${coding === "identity" ? "" : `.${coding}`}"`;
  }

  body(what: Representation, coding: Coding): Made {
    const name = `${coding} ${what.key}`;
    const kept = this.#kept.get(name);
    if (kept && kept.mark === what.version) {
      this.#kept.delete(name);
      this.#kept.set(name, kept);
      return kept;
    }
    if (kept) this.#forget(name, kept);
    const { pieces, lasting, length, headers = {} } = what.make();
    if (typeof pieces === "string")
      return { body: coding === "identity" ? pieces : encode(Buffer.from(pieces), coding), headers };
    const coded = lasting && coding === "gzip" ? gzipFragments(pieces) : pieces;
    const { parts, rest } = gather(coded);
    if (rest) {
      const all = joined(parts, rest);
      const body = lasting && coding === "gzip" ? new IterableBodySource(all) : encodedFeed(all, coding);
      const told = coding === "identity" && length !== undefined;
      return { body, headers: told ? { ...headers, "Content-Length": String(length) } : headers };
    }
    const whole = inOne(parts);
    const body = lasting && coding === "gzip" ? whole : encode(whole, coding);
    if (body.length > SMALL_BYTES) this.#keep(name, { mark: what.version, body, headers });
    return { body, headers };
  }

  #keep(name: string, kept: Kept): void {
    this.#kept.set(name, kept);
    this.#keptBytes += kept.body.length + KEPT_OVERHEAD;
    for (const [eldest, old] of this.#kept) {
      if (this.#keptBytes <= KEPT_BYTES || eldest === name) break;
      this.#forget(eldest, old);
    }
  }

  #forget(name: string, kept: Kept): void {
    this.#kept.delete(name);
    this.#keptBytes -= kept.body.length + KEPT_OVERHEAD;
  }
}

/** What a prepared representation answers under a condition. */
export function respondWith(prepared: Prepared, ifNoneMatch: string | null): Response {
  if (ifNoneMatch !== null && tagMatches(ifNoneMatch, prepared.etag)) {
    return { status: 304, headers: prepared.headers(), body: null };
  }
  const { body, headers } = prepared.content();
  return { status: 200, headers: Object.assign(prepared.bodyHeaders(), headers), body };
}

function inOne(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return only && parts.length === 1 ? only : Buffer.concat(parts);
}

/** Takes pieces until there are none, or until it is too much to hold. */
function gather(pieces: Iterable<Uint8Array>): {
  parts: Uint8Array[];
  rest: Iterator<Uint8Array> | undefined;
} {
  const parts: Uint8Array[] = [];
  const iterator = pieces[Symbol.iterator]();
  let size = 0;
  for (let next = iterator.next(); !next.done; next = iterator.next()) {
    parts.push(next.value);
    size += next.value.length;
    if (size > LARGE_BYTES) return { parts, rest: iterator };
  }
  return { parts, rest: undefined };
}

function* joined(parts: Uint8Array[], rest: Iterator<Uint8Array>): Generator<Uint8Array> {
  yield* parts;
  for (let next = rest.next(); !next.done; next = rest.next()) yield next.value;
}

/** RFC 9110, 13.1.2: a list of tags compared weakly, or `*`. */
export function tagMatches(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag) return true;
  return ifNoneMatch.split(",").some((part) => {
    const tag = part.trim();
    return tag === "*" || tag === etag || tag === `W/${etag}`;
  });
}
