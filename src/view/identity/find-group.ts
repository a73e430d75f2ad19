/**
 * Decides which devices of several sources are one. A device is known by the key of the id that sources use for it. Two
 * are joined when two sources claim the same value of a rule, unless a source has that value twice. What is connected in
 * this way is one device, unless it contains two devices of one source: then nothing of it is joined, because a text that
 * one device copies from another must not make it that other.
 *
 * No search is longer than the number of sources: more devices than sources contain two of one source.
 */
import type { MergeRules } from "../merge-rules.ts";
import type { SourcedClaim } from "../touched-entity.ts";
import { type IdentityValue, identityValues } from "./identity-values.ts";

/** Above this number of devices of one source, a value is taken for one that a product line shares: they are not flagged. */
export const MAX_SHARED = 4;
const MAX_VALUE_LENGTH = 64;

export interface GroupLookups {
  readonly rules: MergeRules;
  /** The claims of all sources about a device, by the key of the id that they use. */
  claimsOf(key: string): readonly SourcedClaim<"devices">[];
  /** The keys of the devices of one source with the value, at most `MAX_SHARED + 1`. */
  devicesWith(source: string, value: IdentityValue): readonly string[];
}

/** The values that may join the device with those of other sources. */
export function joiningValues(
  rules: MergeRules,
  { source, claim }: SourcedClaim<"devices">,
): IdentityValue[] {
  if (!rules.joinsByIdentity(source)) return [];
  return identityValues(claim).filter(({ rule }) => rules.identity.includes(rule));
}

/** The devices that are one with this one, itself included; undefined when it matches several of one source. */
export function findGroup(lookups: GroupLookups, key: string): ReadonlySet<string> | undefined {
  const { rules } = lookups;
  const group = new Set([key]);
  const max = Math.max(1, rules.joiningSources.length);
  const bySource = new Map<string, string>();
  for (const member of group) {
    for (const sourced of lookups.claimsOf(member)) {
      const other = bySource.get(sourced.source);
      if (other !== undefined && other !== member) return undefined;
      bySource.set(sourced.source, member);
      for (const value of joiningValues(rules, sourced)) {
        for (const match of matchesOf(lookups, value)) group.add(match);
        if (group.size > max) return undefined;
      }
    }
  }
  return group;
}

/** The devices that the value joins: none when a source has it twice. */
function matchesOf({ rules, devicesWith }: GroupLookups, value: IdentityValue): string[] {
  const bySource = rules.joiningSources.map((source) => devicesWith(source, value));
  return bySource.some((devices) => devices.length > 1) ? [] : bySource.flat();
}

/** Why the claims of a device, or some of them, are not joined with those of other sources. */
export function* groupConflicts(
  lookups: GroupLookups,
  claims: readonly SourcedClaim<"devices">[],
): Generator<string> {
  const { rules, devicesWith } = lookups;
  for (const sourced of claims) {
    for (const value of joiningValues(rules, sourced)) {
      const holders = rules.joiningSources.filter((source) => devicesWith(source, value).length > 0);
      const repeated = holders.filter((source) => devicesWith(source, value).length > 1);
      const isOneOfMany = devicesWith(sourced.source, value).length > MAX_SHARED;
      if (repeated.length === 0 || holders.length < 2 || isOneOfMany) continue;
      const text = value.value.slice(0, MAX_VALUE_LENGTH);
      yield `${value.rule} ${text} is that of several devices of ${repeated.join(", ")}`;
    }
  }
  const keys = new Set(claims.map(({ claim }) => claim.id.toLowerCase()));
  for (const key of keys) {
    if (findGroup(lookups, key)) continue;
    yield "matches several devices of one source";
    return;
  }
}
