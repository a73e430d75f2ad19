/**
 * Explains an entity: the claims of all sources in order of precedence, and for each field of the merged value which claim
 * gave it and why. The functions are pure. The value is the one in the state. The reasons are those that the merge records
 * (`provenance.ts`) when it merges the stored claims once more, by the rules stored in the state.
 */
import { claimedId, type DeviceClaim } from "../model/claim.ts";
import { type Entities, entityId } from "../model/entity.ts";
import {
  type ExplainedField,
  type Explanation,
  NOT_SHOWN,
  type SharedIdentity,
  WHY,
  type Why,
} from "../model/explanation.ts";
import { deviceKey, type Kind } from "../model/ids.ts";
import { formerIdsOf } from "./former-ids.ts";
import { joiningValues } from "./identity/find-group.ts";
import { claimsKey, missingKey, type StoredClaims } from "./indexes.ts";
import { mergeClaims } from "./merge.ts";
import { MergeRules } from "./merge-rules.ts";
import type { RevisionState } from "./network-state.ts";
import { type Origin, Provenance } from "./provenance.ts";
import { recoverClaim } from "./recover.ts";
import { leaderOf, type SourcedClaim } from "./touched-entity.ts";
import { parseStored } from "./view.ts";

/** `id` may have any spelling and may contain aliases of devices. Returns undefined for an entity that nothing claims. */
export function explainEntity(
  state: Pick<RevisionState, "get" | "shownId">,
  kind: Kind,
  id: string,
): Explanation | undefined {
  const shown = state.shownId(kind, id, false);
  const text = state.get(kind, shown);
  const value = text === undefined ? undefined : parseStored(kind, text);
  const stored = state.get("claims", claimsKey(kind, shown));
  const claims = stored === undefined ? recoverClaims(kind, value) : parseStored("claims", stored);
  const missing = value
    ? undefined
    : findMissing(state, kind, [shown, ...claims.map(([, claim]) => claimedId(claim))]);
  if (claims.length === 0 && !missing) return undefined;
  const rules = MergeRules.read(state);
  return explain({ kind, id: shown, claims, value, missing, rules });
}

/** Finds a missing entity, which has the id that the plan uses for it. */
function findMissing(
  state: Pick<RevisionState, "get">,
  kind: Kind,
  ids: readonly string[],
): Entities[Kind] | undefined {
  for (const id of ids) {
    const text = state.get("missing", missingKey(kind, id));
    if (text !== undefined) return parseStored(kind, text);
  }
  return undefined;
}

const recoverClaims = (kind: Kind, value: Entities[Kind] | undefined): StoredClaims =>
  value ? [[value.sources[0] ?? "", recoverClaim(kind, value)]] : [];

export interface ExplainInput {
  readonly kind: Kind;
  /** The id of an entity that is not shown; otherwise the id of the value is used. */
  readonly id: string;
  readonly claims: StoredClaims;
  readonly rules: MergeRules;
  readonly value: Entities[Kind] | undefined;
  /** The intended value, if nothing is observed. */
  readonly missing?: Entities[Kind] | undefined;
}

export function explain({ kind, id, claims, rules, value, missing }: ExplainInput): Explanation {
  const ordered = claims
    .map(([source, claim]) => ({ source, claim }))
    .sort(
      (a, b) =>
        Number(rules.isIntended(a.source)) - Number(rules.isIntended(b.source)) ||
        rules.comparePrecedence(a.source, b.source),
    );
  const observed = ordered.filter(({ source }) => !rules.isIntended(source));
  const shown = value ?? missing;
  const drift = shown?.drift;
  const identity = sharedIdentities(
    ordered.flatMap(({ source, claim }) => ("id" in claim ? [[source, claim] as const] : [])),
    rules,
  );
  return {
    kind,
    id: shown ? entityId(shown) : id,
    ...(shown && { revision: shown.revision }),
    ...(!value && { notShown: observed.length > 0 ? NOT_SHOWN.heldBack : NOT_SHOWN.missing }),
    ...(identity.length > 0 && { identity }),
    claims: ordered.map(({ source, claim }) => {
      const staleSince = rules.facts.get(source)?.staleSince;
      return {
        source,
        role: rules.isIntended(source) ? "intended" : "observed",
        ...(staleSince === undefined
          ? { status: "live" }
          : { status: "stale", staleSince: new Date(staleSince).toISOString() }),
        id: claimedId(claim),
        claim: { ...claim },
      };
    }),
    fields: value ? explainFields(kind, value, observed, formerIdsOf(claims), rules) : {},
    ...(drift && { drift }),
  };
}

/** `claims` are those of the observed sources in order of precedence; there is at least one. */
function explainFields(
  kind: Kind,
  value: Entities[Kind],
  claims: readonly SourcedClaim<Kind>[],
  formerIds: readonly string[],
  rules: MergeRules,
): Record<string, ExplainedField> {
  const leader = leaderOf(claims, rules);
  if (!leader) return {};
  const merged = claims.map(({ claim }) => claim);
  const aliases = "aliases" in value ? value.aliases : undefined;
  const provenance = new Provenance(kind, merged);
  const { firstSeen, lastChanged, sources, revision } = value;
  const { annotations = {} } =
    mergeClaims(kind, merged, {
      now: 0,
      before: value,
      tracking: { firstSeen, lastChanged, sources, revision },
      leader,
      formerIds,
      isOtherDevice: (alias) => !aliases?.includes(alias),
      // Fields that depend on the rest of the network do not influence other fields.
      shownPort: (device, port) => ({ device, port }),
      flagsOf: () => ({ hasReverse: false, conflict: undefined }),
      provenance,
    }) ?? {};
  const explained: [name: string, field: ExplainedField][] = [];
  const explainAs = (name: string, content: unknown, { claim, why, claimants }: Origin) => {
    const source = claims[claim ?? -1]?.source ?? null;
    explained.push([name, { value: content, source, why: why ?? whyFirst(claims, claimants ?? [], rules) }]);
  };
  for (const [name, content] of Object.entries(value)) {
    const origin = provenance.originOf(name);
    if (origin) explainAs(name, content, origin);
  }
  for (const [key, text] of Object.entries<string>(value.annotations ?? {})) {
    // Conflicts are described in an annotation. Some annotations of a device are empty if nothing claims them.
    const isMerged = Object.hasOwn(annotations, key) && annotations[key] === text;
    const origin = isMerged ? provenance.originOf(`annotations.${key}`) : undefined;
    explainAs(`annotations.${key}`, text, origin ?? { why: WHY.network });
  }
  return Object.fromEntries(explained);
}

/** The reason why the first of the claims that have a field has precedence over the others. */
function whyFirst(
  claims: readonly SourcedClaim<Kind>[],
  claimants: readonly number[],
  rules: MergeRules,
): Why {
  const [first = 0, ...others] = claimants;
  const rankOf = (claim: number) => rules.rankOf(claims[claim]?.source ?? "");
  if (others.some((other) => rankOf(other) < rankOf(first))) return WHY.live;
  return first === 0 ? WHY.first : WHY.firstThatClaims;
}

/** Why devices of several sources are one: the identity values that claims with different ids share. */
function sharedIdentities(
  claims: readonly (readonly [source: string, claim: DeviceClaim])[],
  rules: MergeRules,
): SharedIdentity[] {
  const ids = new Map(claims.map(([, { id }]) => [deviceKey(id), id]));
  if (ids.size < 2) return [];
  /** The ids of the claims that have a value, by rule and value. */
  const shared = new Map<string, SharedIdentity>();
  for (const [source, claim] of claims) {
    for (const { rule, value } of joiningValues(rules, { source, claim })) {
      const known = shared.get(`${rule} ${value}`) ?? { rule, value, ids: [] };
      const id = ids.get(deviceKey(claim.id)) ?? claim.id;
      shared.set(`${rule} ${value}`, { rule, value, ids: [...new Set([...known.ids, id])] });
    }
  }
  return [...shared.values()].filter((entry) => entry.ids.length > 1);
}
