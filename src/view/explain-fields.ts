/** Explains the fields of a merged value: which claim gave each of them, and why that one. */
import { sameJson } from "../lib/same-json.ts";
import type { Claim, DeviceClaim } from "../model/claim.ts";
import type { Annotations, Entities } from "../model/entity.ts";
import { type ExplainedField, WHY, type Why } from "../model/explanation.ts";
import type { Kind } from "../model/ids.ts";
import { type FieldRule, fieldRuleOf } from "./field-rules.ts";
import { effectiveClaims } from "./merge.ts";
import type { MergeRules } from "./merge-rules.ts";

/** The fields or annotations of a claim: those of all kinds are read in the same way. */
type Members = ReadonlyMap<string, unknown>;

interface Contribution {
  readonly source: string;
  /** As the source claims them. */
  readonly claimed: Members;
  /** As they are merged. */
  readonly merged: Members;
}

/** `claims` are those of the observed sources in order of precedence, at least one. */
export function explainFields(
  kind: Kind,
  value: Entities[Kind],
  claims: readonly { readonly source: string; readonly claim: Claim }[],
  rules: MergeRules,
): Record<string, ExplainedField> {
  const merged = mergedClaims(claims.map(({ claim }) => claim));
  const contributions = (membersOf: (claim: Claim) => Members): Contribution[] =>
    claims.map(({ source, claim }, i) => ({
      source,
      claimed: membersOf(claim),
      merged: membersOf(merged[i] ?? claim),
    }));
  const fields = contributions((claim) => membersOf(claim));
  const explained: [name: string, field: ExplainedField][] = [];
  for (const [name, content] of Object.entries(value)) {
    const rule = fieldRuleOf(kind, name);
    if (rule && rule !== "byKey") explained.push([name, explainField(rule, name, content, fields, rules)]);
  }
  const annotations = contributions((claim) => membersOf(claim.annotations ?? {}));
  for (const [key, text] of Object.entries<string>(value.annotations ?? {}))
    explained.push([`annotations.${key}`, explainAnnotation(key, text, annotations, rules)]);
  return Object.fromEntries(explained);
}

const membersOf = (object: Claim | Annotations): Members =>
  new Map(Object.entries(object).filter(([, content]) => content !== undefined));

/** The claims without the statements that the merge leaves out, in the same order. */
function mergedClaims(claims: readonly Claim[]): readonly Claim[] {
  const ofDevices = claims.filter((claim): claim is DeviceClaim => "id" in claim);
  return ofDevices.length === claims.length ? effectiveClaims(ofDevices) : claims;
}

function explainField(
  rule: Exclude<FieldRule, "byKey">,
  name: string,
  value: unknown,
  claims: readonly Contribution[],
  rules: MergeRules,
): ExplainedField {
  const ofNone = (why: Why): ExplainedField => ({ value, source: null, why });
  const [only, second] = claims;
  const ofOnlySource = only && !second ? { value, source: only.source, why: WHY.only } : undefined;
  switch (rule) {
    case "first":
    case "firstOrTracked": {
      const first = firstClaimed(name, claims, rules);
      // An empty text counts as not claimed.
      if (first?.content === "" || !first) return ofNone(rule === "first" ? WHY.defaultValue : WHY.tracked);
      return { value, source: first.source, why: first.why };
    }
    case "union": {
      const [claimant, another] = claims.filter(({ claimed }) => hasContent(claimed.get(name)));
      if (!claimant) return ofNone(WHY.defaultValue);
      return another ? ofNone(WHY.union) : { value, source: claimant.source, why: WHY.only };
    }
    case "aliases":
      return ofOnlySource && sameJson(only?.claimed.get(name), value) ? ofOnlySource : ofNone(WHY.aliases);
    case "verified": {
      const isClaimed = claims.some(({ claimed }) => claimed.has(name));
      if (!isClaimed) return ofNone(WHY.defaultValue);
      if (ofOnlySource) return ofOnlySource;
      const verifier = claims.find(({ claimed }) => claimed.get(name) !== false);
      return verifier ? { value, source: verifier.source, why: WHY.verified } : ofNone(WHY.union);
    }
    case "id": {
      const [first] = [...claims].sort((a, b) => rules.compareRank(a.source, b.source));
      return ofOnlySource ?? { value, source: first?.source ?? null, why: WHY.id };
    }
    case "identifies":
      return ofOnlySource ?? ofNone(WHY.identifies);
    case "ends":
    case "derived":
    case "network":
    case "tracked":
      return ofNone(WHY[rule]);
  }
}

function explainAnnotation(
  key: string,
  value: string,
  claims: readonly Contribution[],
  rules: MergeRules,
): ExplainedField {
  const first = firstClaimed(key, claims, rules);
  if (first?.content === value) return { value, source: first.source, why: first.why };
  // Conflicts are described in an annotation; some annotations of a device are empty where nothing claims them.
  return { value, source: null, why: first || value !== "" ? WHY.network : WHY.defaultValue };
}

/** Of these, a placeholder is left out of the merge. */
const IDENTIFYING: ReadonlySet<string> = new Set(["serial", "chassisId"]);

interface FirstClaimed {
  /** Null where the only claim is left out of the merge. */
  readonly source: string | null;
  readonly content: unknown;
  readonly why: Why;
}

/** The first claim that has the member, and why it goes before others that have it. */
function firstClaimed(
  name: string,
  claims: readonly Contribution[],
  rules: MergeRules,
): FirstClaimed | undefined {
  const claimants = claims.filter(({ claimed }) => claimed.has(name));
  const [best] = claimants;
  if (!best) return undefined;
  const first = claims.find(({ merged }) => merged.has(name));
  if (!first) return { source: null, content: undefined, why: WHY.answering };
  const { source } = first;
  const ofClaimant = (why: Why) => ({ source, content: first.merged.get(name), why });
  if (claimants.length === 1) return ofClaimant(WHY.only);
  if (first !== best) return ofClaimant(IDENTIFYING.has(name) ? WHY.real : WHY.answering);
  if (claimants.some((other) => rules.compareRank(other.source, source) < 0)) return ofClaimant(WHY.live);
  return ofClaimant(first === claims[0] ? WHY.first : WHY.firstThatClaims);
}

const hasContent = (content: unknown): boolean => Array.isArray(content) && content.length > 0;
