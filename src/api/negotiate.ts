/**
 * Content negotiation: the format by the `format` parameter or `Accept`, the content encoding by `Accept-Encoding`. Real
 * clients send malformed lists (Java's `*; q=.2`), so an element that cannot be parsed is skipped, not rejected.
 */
import { type Format, formatsOf, RESOURCES, type Resource } from "../formats/formats.ts";
import { memoizeText } from "../lib/bounded-cache.ts";
import { didYouMean, quote } from "../lib/error-text.ts";
import { badParameter } from "../query/fault.ts";
import { Problem } from "./problem.ts";
import { problemOf } from "./query-problem.ts";

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

const FORMATS_BY_RESOURCE = new Map(RESOURCES.map((resource) => [resource, formatsOf(resource)]));
/** For each list of formats the function that chooses one by an `Accept` header. There are only a few lists. */
const CHOOSERS = new Map<readonly Format[], (accept: string) => Format>();

/** `available` has JSON first. A single entity has fewer formats than its collection. */
export function negotiateFormat(
  resource: Resource,
  requested: string | undefined,
  accept: string | null,
  available: readonly Format[] = FORMATS_BY_RESOURCE.get(resource) ?? [],
): Format {
  const json = available[0];
  if (!json) throw new Error(`${resource} has no format`);
  if (requested !== undefined) return formatByName(requested, available);
  if (accept === null || accept === "*/*") return json;
  let choose = CHOOSERS.get(available);
  if (!choose) {
    choose = memoizeText((text) => chooseFormat(available, json, text));
    CHOOSERS.set(available, choose);
  }
  return choose(accept);
}

function formatByName(name: string, available: readonly Format[]): Format {
  const format = available.find((candidate) => candidate.name === name);
  if (format) return format;
  const names = available.map((candidate) => candidate.name);
  const reason = `is ${quote(name)}; ${didYouMean(name, names)}There are here: ${names.join(", ")}.`;
  throw problemOf(badParameter("format", reason));
}

function chooseFormat(available: readonly Format[], json: Format, accept: string): Format {
  const accepted = parseWeightedList(accept);
  if (accepted.length === 0) return json;
  let best: Format | undefined;
  let bestQ = 0;
  for (const format of available) {
    const q = format.negotiable ? weightOf(format, accepted) : 0;
    if (q > bestQ) {
      best = format;
      bestQ = q;
    }
  }
  if (best) return best;
  const types = available.map((format) => `${format.mediaType} (format=${format.name})`);
  throw new Problem(
    "not-acceptable",
    `Nothing in ${quote(accept)} exists here. There are: ${types.join(", ")}.`,
  );
}

/** The weight of the most specific media range that matches. A stream never ends, so wildcards do not match it. */
function weightOf({ stream, mediaType }: Format, accepted: readonly WeightedName[]): number {
  const typeWildcard = `${mediaType.slice(0, mediaType.indexOf("/"))}/*`;
  for (const range of stream ? [mediaType] : [mediaType, typeWildcard, "*/*"]) {
    const match = accepted.find(({ name }) => name === range);
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
