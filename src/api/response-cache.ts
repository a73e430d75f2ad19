/**
 * Answers at hand: what was asked before, in the same words, is answered again without reading the question. An answer
 * holds for as long as the mark of what it was made from is the same number; then the whole of a request is a look-up
 * for its credential, a look-up here, and one write. Connections remember what they were answered, and spare themselves
 * both look-ups.
 */

import { isBodySource } from "../http1/body-source.ts";
import type { Request } from "../http1/request.ts";
import type { Response } from "../http1/response.ts";
import { SerializedResponse } from "../http1/serialized-response.ts";
import { Doorkeeper } from "../lib/doorkeeper.ts";
import { type Prepared, tagMatches } from "./body-renderer.ts";
import type { Counter } from "./metrics.ts";

const MAX_PER_ADDRESS = 8;
const MAX_LENGTH = 1024;
/** A larger body is not worth it: sending it costs far more than finding it. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_BYTES = 32 * 1024 * 1024;

/** One answer at hand, to whoever asks in these words. */
export class CachedResponse {
  readonly accept: string | null;
  readonly acceptEncoding: string | null;
  readonly bytes: number;
  readonly #prepared: Prepared;
  readonly #markNow: () => number;
  readonly #headers: Readonly<Record<string, string>>;
  /** Undefined while everybody who asked had it already, and when it is let go. */
  #body: Uint8Array | undefined;
  readonly #counters: Counters;
  #revision: number;
  #ok: SerializedResponse | undefined;
  #unchanged: SerializedResponse | undefined;

  constructor(request: Request, parts: Parts, markNow: () => number) {
    const { prepared, body, headers, counters } = parts;
    this.accept = request.header("accept");
    this.acceptEncoding = request.header("accept-encoding");
    this.bytes = MAX_LENGTH + (body?.length ?? 0);
    this.#prepared = prepared;
    this.#markNow = markNow;
    this.#headers = headers;
    this.#body = body;
    this.#counters = counters;
    this.#revision = prepared.what.revision;
  }

  /** Undefined when it no longer holds. */
  answer(ifNoneMatch: string | null, revision: number): SerializedResponse | undefined {
    if (this.#markNow() !== this.#prepared.what.version) return undefined;
    if (this.#revision !== revision) this.#renew(revision);
    if (ifNoneMatch !== null && tagMatches(ifNoneMatch, this.#prepared.etag)) {
      this.#counters.notModified.count++;
      this.#unchanged ??= new SerializedResponse(304, this.#prepared.headers(revision), undefined);
      return this.#unchanged;
    }
    if (this.#body === undefined) return undefined;
    this.#counters.served.count++;
    this.#ok ??= new SerializedResponse(
      200,
      { ...this.#headers, "Gazetteer-Revision": String(revision) },
      this.#body,
    );
    return this.#ok;
  }

  /** Connections remember it for as long as they last: they must not keep its bytes from being forgotten. */
  letGo(): void {
    this.#body = undefined;
    this.#ok = undefined;
  }

  /** The network moved on but this did not change: the same bytes are now of the new revision. */
  #renew(revision: number): void {
    this.#revision = revision;
    this.#ok = undefined;
    this.#unchanged = undefined;
  }
}

interface Counters {
  readonly served: Counter;
  readonly notModified: Counter;
}

interface Parts {
  readonly prepared: Prepared;
  readonly body: Uint8Array | undefined;
  /** Of the answer that it is made from. */
  readonly headers: Readonly<Record<string, string>>;
  readonly counters: Counters;
}

export class ResponseCache {
  readonly #byTarget = new Map<string, CachedResponse[]>();
  readonly #asked = new Doorkeeper();
  #bytes = 0;

  find(request: Request): CachedResponse | undefined {
    const known = this.#byTarget.get(request.target);
    if (known === undefined) return undefined;
    const accept = request.header("accept");
    const acceptEncoding = request.header("accept-encoding");
    return known.find((hot) => hot.accept === accept && hot.acceptEncoding === acceptEncoding);
  }

  /** Whether it was asked before, a short while ago. */
  wants({ target }: Request): boolean {
    return target.length <= MAX_LENGTH && !this.#asked.isNew(target);
  }

  /** After this answer was given to it. */
  keep(request: Request, prepared: Prepared, answer: Response, counters: Counters): void {
    const { currentVersion, version } = prepared.what;
    const { target } = request;
    if (!currentVersion || currentVersion() !== version) return;
    const made = answer.status === 200 ? answer.body : null;
    if (made !== null && typeof made === "object" && isBodySource(made)) return;
    const body = typeof made === "string" ? Buffer.from(made) : (made ?? undefined);
    const hot = new CachedResponse(
      request,
      { prepared, body, headers: answer.headers, counters },
      currentVersion,
    );
    if (hot.bytes > MAX_BODY_BYTES) return;
    const before = this.#forget(target);
    const others = before.filter(
      (other) => other.accept !== hot.accept || other.acceptEncoding !== hot.acceptEncoding,
    );
    const kept = [...others.slice(1 - MAX_PER_ADDRESS), hot];
    for (const old of before) if (!kept.includes(old)) old.letGo();
    this.#remember(target, kept);
  }

  #remember(target: string, answers: CachedResponse[]): void {
    this.#byTarget.set(target, answers);
    for (const { bytes } of answers) this.#bytes += bytes;
    for (const eldest of this.#byTarget.keys()) {
      if (this.#bytes <= MAX_BYTES || eldest === target) break;
      for (const old of this.#forget(eldest)) old.letGo();
    }
  }

  #forget(target: string): readonly CachedResponse[] {
    const answers = this.#byTarget.get(target) ?? [];
    for (const { bytes } of answers) this.#bytes -= bytes;
    this.#byTarget.delete(target);
    return answers;
  }
}
