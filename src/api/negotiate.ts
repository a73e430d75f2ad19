/**
 * What the client takes: a representation by `format` or `Accept`, a content coding by `Accept-Encoding`. Real clients
 * send careless lists (Java's `*; q=.2`), so what cannot be read is passed over rather than refused.
 */
import { type Format, formatsOf, RESOURCES, type Resource } from "../formats/formats.ts";
import { didYouMean, quote } from "../lib/error-text.ts";
import { memo } from "../lib/memo.ts";
import { badParameter } from "../query/fault.ts";
import { Problem } from "./problem.ts";
import { problemOf } from "./query-problem.ts";

interface Range {
  readonly name: string;
  readonly q: number;
}

/** `a;q=0.5, b` as names in lower case with their weights. */
function ranges(header: string): Range[] {
  return header.split(",").flatMap((part) => {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    if (name === "") return [];
    const weight = parameters.find((text) => text.startsWith("q="))?.slice(2);
    const q = weight === undefined ? 1 : Number(weight);
    return q >= 0 && q <= 1 ? [{ name: name === "*" ? "*/*" : name, q }] : [];
  });
}

const THERE = new Map(RESOURCES.map((resource) => [resource, formatsOf(resource)]));
/** For each list of what there is: what an `Accept` chooses of it. */
const CHOICES = new Map<readonly Format[], (accept: string) => Format>();

/** `there`: what there is, JSON first; a single thing has fewer representations than its collection. */
export function negotiateFormat(
  resource: Resource,
  wanted: string | undefined,
  accept: string | null,
  there: readonly Format[] = THERE.get(resource) ?? [],
): Format {
  const json = there[0];
  if (!json) throw new Error(`${resource} has no representation`);
  if (wanted !== undefined) {
    const found = there.find((format) => format.name === wanted);
    if (found) return found;
    const names = there.map((format) => format.name);
    const reason = `is ${quote(wanted)}; ${didYouMean(wanted, names)}There are here: ${names.join(", ")}.`;
    throw problemOf(badParameter("format", reason));
  }
  if (accept === null || accept === "*/*") return json;
  let choice = CHOICES.get(there);
  if (!choice) {
    choice = memo((text) => chosen(there, json, text));
    CHOICES.set(there, choice);
  }
  return choice(accept);
}

function chosen(there: readonly Format[], json: Format, accept: string): Format {
  const asked = ranges(accept);
  if (asked.length === 0) return json;
  let best: Format | undefined;
  let bestQ = 0;
  for (const format of there) {
    const q = format.negotiable ? weightOf(format, asked) : 0;
    if (q > bestQ) {
      best = format;
      bestQ = q;
    }
  }
  if (best) return best;
  const types = there.map((format) => `${format.mediaType} (format=${format.name})`);
  throw new Problem(
    "not-acceptable",
    `Nothing in ${quote(accept)} exists here. There are: ${types.join(", ")}.`,
  );
}

/** The weight of the most specific range that covers a type. A stream never ends, so only its own name asks for it. */
function weightOf({ stream, mediaType }: Format, asked: readonly Range[]): number {
  const family = `${mediaType.slice(0, mediaType.indexOf("/"))}/*`;
  for (const name of stream ? [mediaType] : [mediaType, family, "*/*"]) {
    const found = asked.find((range) => range.name === name);
    if (found) return found.q;
  }
  return 0;
}

export type ContentEncoding = "identity" | "gzip" | "zstd" | "br";
/** Of equally welcome codings the first: gzip is kept page by page, so it costs least to keep fresh. */
const CODINGS = ["gzip", "zstd", "br"] as const;

/** Codings in the order the client wants them; identity unless it is ruled out. */
export const negotiateEncoding = (acceptEncoding: string | null): ContentEncoding =>
  acceptEncoding === null || acceptEncoding === "" ? "identity" : codingFor(acceptEncoding);

const codingFor = memo((acceptEncoding): ContentEncoding => {
  const asked = ranges(acceptEncoding.replace(/\bx-gzip\b/i, "gzip"));
  const weight = (name: string): number | undefined =>
    (asked.find((range) => range.name === name) ?? asked.find((range) => range.name === "*/*"))?.q;
  let best: ContentEncoding = "identity";
  const own = asked.find((range) => range.name === "identity")?.q;
  let bestQ = own ?? 0;
  for (const coding of CODINGS) {
    const q = weight(coding) ?? 0;
    if (q > bestQ) {
      best = coding;
      bestQ = q;
    }
  }
  return best;
});

/** Whether identity would do too: then a body too small to gain is sent as it is. */
export const allowsIdentity = (acceptEncoding: string | null): boolean =>
  acceptEncoding === null || identityTaken(acceptEncoding);

const identityTaken = memo((acceptEncoding): boolean => {
  const asked = ranges(acceptEncoding);
  const own = asked.find((range) => range.name === "identity") ?? asked.find((range) => range.name === "*/*");
  return own === undefined || own.q > 0;
});
