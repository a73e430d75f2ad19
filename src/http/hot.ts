/**
 * Answers at hand: what was asked before, in the same words, is answered again without reading the question. An answer
 * holds for as long as the mark of what it was made from is the same number; then the whole of a request is a look-up
 * for its credential, a look-up here, and one write.
 */
import type { Counter } from "./metrics.ts";
import { type Prepared, tagMatches } from "./represent.ts";

const MOST_ADDRESSES = 1_000;
const MOST_PER_ADDRESS = 8;
const MOST_LENGTH = 512;

interface Hot {
  readonly accept: string | null;
  readonly acceptEncoding: string | null;
  readonly prepared: Prepared;
  readonly markNow: () => number;
  readonly body: Blob;
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
  readonly #byAddress = new Map<string, Hot[]>();

  find(request: Request, address: string, revision: number): Response | undefined {
    const known = this.#byAddress.get(address);
    if (!known) return undefined;
    const { headers } = request;
    const accept = headers.get("accept");
    const acceptEncoding = headers.get("accept-encoding");
    for (const hot of known) {
      if (hot.accept !== accept || hot.acceptEncoding !== acceptEncoding) continue;
      if (hot.markNow() !== hot.prepared.what.mark) {
        known.splice(known.indexOf(hot), 1);
        return undefined;
      }
      if (hot.revision !== revision) renew(hot, revision);
      const ifNoneMatch = headers.get("if-none-match");
      if (ifNoneMatch !== null && tagMatches(ifNoneMatch, hot.prepared.etag)) {
        hot.notModified.count++;
        return new Response(null, hot.unchanged);
      }
      hot.served.count++;
      return new Response(hot.body, hot.ok);
    }
    return undefined;
  }

  /** `common` are the headers that every response has. */
  keep(
    request: Request,
    address: string,
    prepared: Prepared,
    common: Readonly<Record<string, string>>,
    counters: { readonly served: Counter; readonly notModified: Counter },
  ): void {
    const { markNow, mark, revision } = prepared.what;
    if (!markNow || markNow() !== mark || address.length > MOST_LENGTH) return;
    const { body, headers } = prepared.content();
    if (!(body instanceof Blob)) return;
    const others = this.#byAddress.get(address) ?? [];
    if (others.length >= MOST_PER_ADDRESS) others.shift();
    others.push({
      accept: request.headers.get("accept"),
      acceptEncoding: request.headers.get("accept-encoding"),
      prepared,
      markNow,
      body,
      ...counters,
      revision,
      ok: { status: 200, headers: new Headers({ ...common, ...prepared.headers, ...headers }) },
      unchanged: { status: 304, headers: new Headers({ ...common, ...prepared.headers }) },
    });
    this.#byAddress.delete(address);
    this.#byAddress.set(address, others);
    const [eldest] = this.#byAddress.keys();
    if (this.#byAddress.size > MOST_ADDRESSES && eldest !== undefined) this.#byAddress.delete(eldest);
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
