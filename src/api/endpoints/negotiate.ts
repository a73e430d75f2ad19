/**
 * Content negotiation: the parameter `format` or `Accept` selects the format, and `Accept-Encoding` the content encoding.
 * Real clients send malformed lists (Java's `*; q=.2`), so an element that cannot be parsed is skipped, not rejected.
 */
import type { DocumentFormat, Format } from "../../formats/formats.ts";
import { memoizeText } from "../../lib/bounded-cache.ts";
import { didYouMean, quote } from "../../lib/error-text.ts";
import { badParameter, type QueryFault } from "../../query/fault.ts";
import type { ParsedQuery } from "../../query/query.ts";
import { ProblemDetails, problemOf } from "../response/problem.ts";
import { JSON_TYPE } from "../response/representation.ts";

import type { Endpoint, Variant } from "./endpoint.ts";

interface WeightedName {
  readonly name: string;
  readonly q: number;
}

/** Parses `a;q=0.5, b`. Names become lower case; `*` becomes the wildcard of both parts. */
function parseWeightedList(header: string): WeightedName[] {
  return header.split(",").flatMap((element) => {
    const [name = "", ...parameters] = element.split(";").map((text) => text.trim().toLowerCase());
    if (name === "") return [];
    const weight = parameters.find((text) => text.startsWith("q="))?.slice(2);
    const q = weight === undefined ? 1 : Number(weight);
    return q >= 0 && q <= 1 ? [{ name: name === "*" ? "*/*" : name, q }] : [];
  });
}

interface SelectedDocument extends DocumentFormat {
  /** The parameter that selects the document. */
  readonly parameter: string;
}

/**
 * Chooses a format of one variant. The `documents` exist only with their parameter. The response to a request that accepts
 * only one of them and lacks the parameter is a 400 that names the parameter.
 */
class FormatNegotiator {
  readonly #formats: readonly Format[];
  readonly #json: Format;
  readonly #documents: readonly SelectedDocument[];
  readonly #choose = memoizeText((accept) => this.#chooseByAccept(accept));

  constructor(formats: Variant<unknown>["formats"], documents: readonly SelectedDocument[]) {
    this.#formats = formats;
    this.#json = formats[0];
    this.#documents = documents;
  }

  /** Chooses a format. `requested` is the value of the parameter `format`, which takes precedence over `Accept`. */
  negotiate(requested: string | undefined, accept: string | null): Format {
    if (requested !== undefined) return this.#chooseByName(requested);
    return accept === null || accept === "*/*" ? this.#json : this.#choose(accept);
  }

  #chooseByName(name: string): Format {
    const format = this.#formats.find((candidate) => candidate.name === name);
    if (format) return format;
    const names = this.#formats.map((candidate) => candidate.name);
    const reason = `is ${quote(name)}; ${didYouMean(name, names)}There are here: ${names.join(", ")}.`;
    throw problemOf(badParameter("format", reason));
  }

  #chooseByAccept(accept: string): Format {
    const accepted = parseWeightedList(accept);
    if (accepted.length === 0) return this.#json;
    let best: Format | undefined;
    let bestQ = 0;
    for (const format of this.#formats) {
      const q = format.negotiable ? weightOf(format, accepted) : 0;
      if (q > bestQ) {
        best = format;
        bestQ = q;
      }
    }
    if (best) return best;
    const document = this.#documents.find(({ mediaType }) =>
      accepted.some(({ name, q }) => name === mediaType && q > 0),
    );
    if (document) throw problemOf(needsParameter(document));
    const types = this.#formats.map((format) => `${format.mediaType} (format=${format.name})`);
    throw new ProblemDetails(
      "not-acceptable",
      `Nothing in ${quote(accept)} exists here. There are: ${types.join(", ")}.`,
    );
  }
}

const needsParameter = ({ parameter, mediaType, usage }: SelectedDocument): QueryFault =>
  badParameter(parameter, `is missing: ${mediaType} is what it returns. Give ${usage} too.`);

/** A variant with the negotiator of its formats. */
export interface NegotiatedVariant {
  readonly variant: Variant<unknown>;
  readonly negotiator: FormatNegotiator;
}

/** An endpoint with the negotiators of its variants, which are created once. */
export class NegotiatedEndpoint {
  readonly endpoint: Endpoint<unknown>;
  readonly #plain: NegotiatedVariant;
  readonly #others: readonly NegotiatedVariant[];

  constructor(endpoint: Endpoint<unknown>) {
    const { variants } = endpoint;
    const documents = variants.flatMap(({ parameter, formats: [json] }) =>
      parameter !== undefined && "usage" in json ? [{ ...json, parameter }] : [],
    );
    const negotiated = (variant: Variant<unknown>): NegotiatedVariant => ({
      variant,
      negotiator: new FormatNegotiator(variant.formats, documents),
    });
    const [plain, ...others] = variants;
    this.endpoint = endpoint;
    this.#plain = negotiated(plain);
    this.#others = others.map(negotiated);
  }

  /** The variant that a parameter of the query selects, or the plain one. */
  variantOf(query: ParsedQuery): NegotiatedVariant {
    for (const other of this.#others) {
      const { parameter } = other.variant;
      const value = parameter && query[parameter];
      if (value !== undefined && value !== false) return other;
    }
    return this.#plain;
  }
}

/**
 * The weight of the most specific media range that matches. `application/json` also matches a JSON document with another
 * media type. Wildcards do not match a stream, because it never ends.
 */
function weightOf({ name, stream, mediaType }: Format, accepted: readonly WeightedName[]): number {
  const typeWildcard = `${mediaType.slice(0, mediaType.indexOf("/"))}/*`;
  const json = name === "json" ? [JSON_TYPE] : [];
  for (const range of stream ? [mediaType] : [mediaType, ...json, typeWildcard, "*/*"]) {
    const match = accepted.find((element) => element.name === range);
    if (match) return match.q;
  }
  return 0;
}

export type ContentEncoding = "identity" | "gzip" | "zstd" | "br";
/** The compressions in order of preference at equal weights. gzip is cached page by page, so it costs least after a change. */
const COMPRESSIONS = ["gzip", "zstd", "br"] as const;

/** Returns identity if no compression is accepted, even if the client excludes identity. */
export const negotiateEncoding = (acceptEncoding: string | null): ContentEncoding =>
  acceptEncoding === null || acceptEncoding === "" ? "identity" : chooseEncoding(acceptEncoding);

const chooseEncoding = memoizeText((acceptEncoding): ContentEncoding => {
  const accepted = parseWeightedList(acceptEncoding.replace(/\bx-gzip\b/i, "gzip"));
  const weight = (encoding: string): number | undefined =>
    (accepted.find(({ name }) => name === encoding) ?? accepted.find(({ name }) => name === "*/*"))?.q;
  let best: ContentEncoding = "identity";
  let bestQ = accepted.find(({ name }) => name === "identity")?.q ?? 0;
  for (const encoding of COMPRESSIONS) {
    const q = weight(encoding) ?? 0;
    if (q > bestQ) {
      best = encoding;
      bestQ = q;
    }
  }
  return best;
});

/** Whether an uncompressed body is acceptable, so that a tiny body is not compressed. */
export const allowsIdentity = (acceptEncoding: string | null): boolean =>
  acceptEncoding === null || acceptsIdentity(acceptEncoding);

const acceptsIdentity = memoizeText((acceptEncoding): boolean => {
  const accepted = parseWeightedList(acceptEncoding);
  const match =
    accepted.find(({ name }) => name === "identity") ?? accepted.find(({ name }) => name === "*/*");
  return match === undefined || match.q > 0;
});
