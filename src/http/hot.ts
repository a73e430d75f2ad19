/**
 * Answers at hand: what was asked before, in the same words, is answered again without reading the question. An answer
 * holds for as long as the mark of what it was made from is the same number; then the whole of a request is a look-up
 * for its credential, a look-up here, and one write.
 */
import { Recent } from "../lib/recent.ts";
import type { Counter } from "./metrics.ts";
import { type Bytes, type Prepared, sizeOf, tagMatches } from "./represent.ts";

const MOST_PER_ADDRESS = 8;
const MOST_LENGTH = 1024;
/** A larger body is not worth it: sending it costs far more than finding it. */
const MOST_BODY_BYTES = 512 * 1024;
const MOST_BYTES = 32 * 1024 * 1024;

interface Hot {
  readonly accept: string | null;
  readonly acceptEncoding: string | null;
  readonly prepared: Prepared;
  readonly markNow: () => number;
  /** Undefined while everybody who asked had it already. */
  readonly body: Bytes | undefined;
  readonly bytes: number;
  readonly served: Counter;
  readonly notModified: Counter;
  revision: number;
  ok: Init;
  unchanged: Init;
}

/** Headers as an object of the runtime's own: handed over as they are, not read name by name. */
interface Init {
  readonly status: number;
  readonly headers: Headers;
}

export class HotAnswers {
  /** By whole address, scheme and host included: cutting them off would cost more than the look-up. */
  readonly #byUrl = new Map<string, Hot[]>();
  readonly #asked = new Recent();
  #bytes = 0;

  find(url: string, headers: Headers, revision: number): Response | undefined {
    const known = this.#byUrl.get(url);
    if (known === undefined) return undefined;
    const accept = headers.get("accept");
    const acceptEncoding = headers.get("accept-encoding");
    for (const hot of known) {
      if (hot.accept !== accept || hot.acceptEncoding !== acceptEncoding) continue;
      if (hot.markNow() !== hot.prepared.what.mark) return undefined;
      if (hot.revision !== revision) renew(hot, revision);
      const ifNoneMatch = headers.get("if-none-match");
      if (ifNoneMatch !== null && tagMatches(ifNoneMatch, hot.prepared.etag)) {
        hot.notModified.count++;
        return new Response(null, hot.unchanged);
      }
      if (hot.body === undefined) return undefined;
      hot.served.count++;
      return new Response(hot.body, hot.ok);
    }
    return undefined;
  }

  /** After an answer with this `status`. `common` are the headers that every response has. */
  keep(
    { url, headers }: Request,
    prepared: Prepared,
    status: number,
    common: Readonly<Record<string, string>>,
    counters: { readonly served: Counter; readonly notModified: Counter },
  ): void {
    const { markNow, mark, revision } = prepared.what;
    if (!markNow || markNow() !== mark || url.length > MOST_LENGTH || this.#asked.isNew(url)) return;
    const { body, headers: own } = status === 200 ? prepared.content() : { body: undefined, headers: {} };
    if (body instanceof ReadableStream) return;
    const bytes = MOST_LENGTH + (body === undefined ? 0 : sizeOf(body));
    if (bytes > MOST_BODY_BYTES) return;
    const accept = headers.get("accept");
    const acceptEncoding = headers.get("accept-encoding");
    const others = (this.#byUrl.get(url) ?? []).filter(
      (hot) => hot.accept !== accept || hot.acceptEncoding !== acceptEncoding,
    );
    this.#forget(url);
    const all = { ...common, ...prepared.headers };
    const ok = { status: 200, headers: new Headers({ ...all, ...own }) };
    const unchanged = { status: 304, headers: new Headers(all) };
    const hot: Hot = {
      accept,
      acceptEncoding,
      prepared,
      markNow,
      body,
      bytes,
      ...counters,
      revision,
      ok,
      unchanged,
    };
    this.#remember(url, [...others.slice(1 - MOST_PER_ADDRESS), hot]);
  }

  #remember(url: string, answers: Hot[]): void {
    this.#byUrl.set(url, answers);
    for (const { bytes } of answers) this.#bytes += bytes;
    for (const eldest of this.#byUrl.keys()) {
      if (this.#bytes <= MOST_BYTES || eldest === url) break;
      this.#forget(eldest);
    }
  }

  #forget(url: string): void {
    for (const { bytes } of this.#byUrl.get(url) ?? []) this.#bytes -= bytes;
    this.#byUrl.delete(url);
  }
}

/** The network moved on but this did not change: the same bytes are now of the new revision. */
function renew(hot: Hot, revision: number): void {
  hot.revision = revision;
  hot.ok = withRevision(hot.ok, revision);
  hot.unchanged = withRevision(hot.unchanged, revision);
}

function withRevision({ status, headers }: Init, revision: number): Init {
  const renewed = new Headers(headers);
  renewed.set("Gazetteer-Revision", String(revision));
  return { status, headers: renewed };
}
