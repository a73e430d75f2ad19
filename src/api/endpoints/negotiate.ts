/**
 * Content negotiation: the format by the `format` parameter or `Accept`, the content encoding by `Accept-Encoding`. Real
 * clients send malformed lists (Java's `*; q=.2`), so an element that cannot be parsed is skipped, not rejected.
 */
import {
  type DocumentFormat,
  type DocumentParameter,
  documentFormatsOf,
  EXPLANATION_FORMAT,
  type Format,
  formatsOf,
  HITS_FORMAT,
  PATH_EXPLANATION_FORMAT,
  PROBLEMS_FORMAT,
  PROBLEMS_FORMATS,
  RESOURCES,
  type Resource,
} from "../../formats/formats.ts";
import { memoizeText } from "../../lib/bounded-cache.ts";
import { didYouMean, quote } from "../../lib/error-text.ts";
import { badParameter, type QueryFault } from "../../query/fault.ts";
import type { Query } from "../../query/query.ts";
import { JSON_TYPE } from "../response/media-types.ts";
import { Problem } from "../response/problem.ts";
import { problemOf } from "../response/query-problem.ts";

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

/**
 * Chooses a format of one kind of read. `formats` has JSON first. A document of `documents` exists only with its
 * parameter: a request that accepts nothing else is a 400 that names the parameter.
 */
export class FormatNegotiator {
  readonly #formats: readonly Format[];
  readonly #json: Format;
  readonly #documents: readonly DocumentFormat<string>[];
  readonly #choose = memoizeText((accept) => this.#chooseByAccept(accept));

  constructor(json: Format, others: readonly Format[], documents: readonly DocumentFormat<string>[] = []) {
    this.#formats = [json, ...others];
    this.#json = json;
    this.#documents = documents;
  }

  /** `requested` is the value of the parameter `format`, which wins over `Accept`. */
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
    throw new Problem(
      "not-acceptable",
      `Nothing in ${quote(accept)} exists here. There are: ${types.join(", ")}.`,
    );
  }
}

const needsParameter = ({ parameter, mediaType, usage }: DocumentFormat<string>): QueryFault =>
  badParameter(parameter, `is missing: ${mediaType} is what it returns. Give ${usage} too.`);

interface ResourceNegotiators {
  readonly plain: FormatNegotiator;
  readonly byParameter: ReadonlyMap<DocumentParameter, FormatNegotiator>;
}

const NEGOTIATORS: ReadonlyMap<Resource, ResourceNegotiators> = new Map(
  RESOURCES.map((resource) => [resource, createNegotiators(resource)]),
);

function jsonFirst(resource: Resource): [json: Format, ...others: Format[]] {
  const [json, ...others] = formatsOf(resource);
  if (!json) throw new Error(`${resource} has no format`);
  return [json, ...others];
}

function createNegotiators(resource: Resource): ResourceNegotiators {
  const [json, ...others] = jsonFirst(resource);
  const documents = documentFormatsOf(resource);
  // Changes exist as a stream too; the other documents as JSON only.
  const streams = others.filter((format) => format.stream);
  const byParameter = documents.map((document) => {
    const alternatives = document.parameter === "since" ? streams : [];
    return [document.parameter, new FormatNegotiator(document, alternatives, documents)] as const;
  });
  return { plain: new FormatNegotiator(json, others, documents), byParameter: new Map(byParameter) };
}

/** A single entity, its ports and the clusters exist as JSON only. */
export const ITEM_NEGOTIATOR = new FormatNegotiator(jsonFirst("topology")[0], []);
export const SEARCH_NEGOTIATOR = new FormatNegotiator(HITS_FORMAT, []);
const ENTITY_NEGOTIATOR = new FormatNegotiator(jsonFirst("topology")[0], [], [EXPLANATION_FORMAT]);
const EXPLANATION_NEGOTIATOR = new FormatNegotiator(EXPLANATION_FORMAT, []);

export const PROBLEMS_NEGOTIATOR = new FormatNegotiator(
  PROBLEMS_FORMAT,
  PROBLEMS_FORMATS.filter((format) => format.stream),
);
const PATHS_NEGOTIATOR = new FormatNegotiator(jsonFirst("topology")[0], [], [PATH_EXPLANATION_FORMAT]);
const PATH_EXPLANATION_NEGOTIATOR = new FormatNegotiator(PATH_EXPLANATION_FORMAT, []);

/** The format of the paths between two ends, or of their explanation. */
export const negotiatePaths = ({ explain, format }: Query, accept: string | null): Format =>
  (explain ? PATH_EXPLANATION_NEGOTIATOR : PATHS_NEGOTIATOR).negotiate(format, accept);

/** The format of one entity, or of its explanation. */
export const negotiateEntity = ({ explain, format }: Query, accept: string | null): Format =>
  (explain ? EXPLANATION_NEGOTIATOR : ENTITY_NEGOTIATOR).negotiate(format, accept);

/** The format of a collection or the topology, or of the document that `parameter` selects. */
export function negotiateFormat(
  resource: Resource,
  parameter: DocumentParameter | undefined,
  requested: string | undefined,
  accept: string | null,
): Format {
  const negotiators = NEGOTIATORS.get(resource);
  const negotiator = parameter === undefined ? negotiators?.plain : negotiators?.byParameter.get(parameter);
  if (!negotiator) throw new Error(`${resource} has no ${parameter}`);
  return negotiator.negotiate(requested, accept);
}

/**
 * The weight of the most specific media range that matches. `application/json` admits a document too, although its type
 * is another. A stream never ends, so wildcards do not match it.
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
/** With equal weights the first wins. gzip is cached page by page, so it costs least after a change. */
const COMPRESSIONS = ["gzip", "zstd", "br"] as const;

/** Returns identity when no compression is accepted, even where the client excludes identity. */
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

/** Whether an uncompressed body is acceptable too. Then a tiny body is not compressed. */
export const allowsIdentity = (acceptEncoding: string | null): boolean =>
  acceptEncoding === null || acceptsIdentity(acceptEncoding);

const acceptsIdentity = memoizeText((acceptEncoding): boolean => {
  const accepted = parseWeightedList(acceptEncoding);
  const match =
    accepted.find(({ name }) => name === "identity") ?? accepted.find(({ name }) => name === "*/*");
  return match === undefined || match.q > 0;
});
