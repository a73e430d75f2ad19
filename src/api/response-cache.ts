/**
 * Answers at hand: what was asked before, in the same words, is answered again without reading the question. An answer
 * holds for as long as the mark of what it was made from is the same number; then the whole of a request is a look-up
 * for its credential, a look-up here, and one write. Connections remember what they were answered, and spare themselves
 * both look-ups.
 */

import { isFeed } from "../http1/body-source.ts";
import type { Incoming } from "../http1/request.ts";
import type { Answer } from "../http1/response.ts";
import { Message } from "../http1/serialized-response.ts";
import { Recent } from "../lib/doorkeeper.ts";
import { type Prepared, tagMatches } from "./body-renderer.ts";
import type { Counter } from "./metrics.ts";

const MOST_PER_ADDRESS = 8;
const MOST_LENGTH = 1024;
/** A larger body is not worth it: sending it costs far more than finding it. */
const MOST_BODY_BYTES = 4 * 1024 * 1024;
const MOST_BYTES = 32 * 1024 * 1024;

/** One answer at hand, to whoever asks in these words. */
export class HotAnswer {
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
  #ok: Message | undefined;
  #unchanged: Message | undefined;

  constructor(request: Incoming, parts: Parts, markNow: () => number) {
    const { prepared, body, headers, counters } = parts;
    this.accept = request.header("accept");
    this.acceptEncoding = request.header("accept-encoding");
    this.bytes = MOST_LENGTH + (body?.length ?? 0);
    this.#prepared = prepared;
    this.#markNow = markNow;
    this.#headers = headers;
    this.#body = body;
    this.#counters = counters;
    this.#revision = prepared.what.revision;
  }

  /** Undefined when it no longer holds. */
  answer(ifNoneMatch: string | null, revision: number): Message | undefined {
    if (this.#markNow() !== this.#prepared.what.mark) return undefined;
    if (this.#revision !== revision) this.#renew(revision);
    if (ifNoneMatch !== null && tagMatches(ifNoneMatch, this.#prepared.etag)) {
      this.#counters.notModified.count++;
      this.#unchanged ??= new Message(304, this.#prepared.headers(revision), undefined);
      return this.#unchanged;
    }
    if (this.#body === undefined) return undefined;
    this.#counters.served.count++;
    this.#ok ??= new Message(200, { ...this.#headers, "Gazetteer-Revision": String(revision) }, this.#body);
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

export class HotAnswers {
  readonly #byTarget = new Map<string, HotAnswer[]>();
  readonly #asked = new Recent();
  #bytes = 0;

  find(request: Incoming): HotAnswer | undefined {
    const known = this.#byTarget.get(request.target);
    if (known === undefined) return undefined;
    const accept = request.header("accept");
    const acceptEncoding = request.header("accept-encoding");
    return known.find((hot) => hot.accept === accept && hot.acceptEncoding === acceptEncoding);
  }

  /** Whether it was asked before, a short while ago. */
  wants({ target }: Incoming): boolean {
    return target.length <= MOST_LENGTH && !this.#asked.isNew(target);
  }

  /** After this answer was given to it. */
  keep(request: Incoming, prepared: Prepared, answer: Answer, counters: Counters): void {
    const { markNow, mark } = prepared.what;
    const { target } = request;
    if (!markNow || markNow() !== mark) return;
    const made = answer.status === 200 ? answer.body : null;
    if (made !== null && typeof made === "object" && isFeed(made)) return;
    const body = typeof made === "string" ? Buffer.from(made) : (made ?? undefined);
    const hot = new HotAnswer(request, { prepared, body, headers: answer.headers, counters }, markNow);
    if (hot.bytes > MOST_BODY_BYTES) return;
    const before = this.#forget(target);
    const others = before.filter(
      (other) => other.accept !== hot.accept || other.acceptEncoding !== hot.acceptEncoding,
    );
    const kept = [...others.slice(1 - MOST_PER_ADDRESS), hot];
    for (const old of before) if (!kept.includes(old)) old.letGo();
    this.#remember(target, kept);
  }

  #remember(target: string, answers: HotAnswer[]): void {
    this.#byTarget.set(target, answers);
    for (const { bytes } of answers) this.#bytes += bytes;
    for (const eldest of this.#byTarget.keys()) {
      if (this.#bytes <= MOST_BYTES || eldest === target) break;
      for (const old of this.#forget(eldest)) old.letGo();
    }
  }

  #forget(target: string): readonly HotAnswer[] {
    const answers = this.#byTarget.get(target) ?? [];
    for (const { bytes } of answers) this.#bytes -= bytes;
    this.#byTarget.delete(target);
    return answers;
  }
}
