/**
 * Decides which devices of several sources are one. A device is known by the key of the id that sources use for it. Two
 * devices are joined when two sources claim the same value of a rule, unless a source has that value twice. All devices
 * that are connected in this way are one device, unless two of them belong to one source: then none of them is joined,
 * because a text that one device copies from another must not make it that other device.
 *
 * No search visits more devices than there are sources, because a larger group contains two devices of one source.
 */
import type { MergeRules } from "../merge-rules.ts";
import { claimedDevices } from "../recover.ts";
import type { SourcedClaim } from "../touched-entity.ts";
import { type IdentityValue, identityValues } from "./identity-values.ts";

/** A value that more devices of one source have is assumed to be shared by a product line, and they are not flagged. */
export const MAX_SHARED = 4;
/** Number of devices that the text of a conflict names. */
const MAX_NAMED = 3;
const MAX_TEXT_LENGTH = 64;

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

/**
 * The devices that are one with this one, including itself; undefined when it matches several devices of one source. If
 * only the plan is ambiguous, the result is the group by observed values, because an error in the plan must not separate
 * observed devices.
 */
export function findGroup(lookups: GroupLookups, key: string): ReadonlySet<string> | undefined {
  const { rules, claimsOf } = lookups;
  const group = search(lookups, key, rules.joiningSources);
  if (group || rules.intendedSources.length === 0) return group;
  const observed = rules.joiningSources.filter((source) => !rules.isIntended(source));
  return claimsOf(key).some(({ source }) => observed.includes(source))
    ? search(lookups, key, observed)
    : undefined;
}

/** The devices that are connected by values of these sources. */
function search(
  lookups: GroupLookups,
  key: string,
  sources: readonly string[],
): ReadonlySet<string> | undefined {
  const { rules } = lookups;
  const group = new Set([key]);
  const max = Math.max(1, sources.length);
  const bySource = new Map<string, string>();
  for (const member of group) {
    for (const sourced of lookups.claimsOf(member)) {
      const other = bySource.get(sourced.source);
      if (other !== undefined && other !== member) return undefined;
      bySource.set(sourced.source, member);
      if (!sources.includes(sourced.source)) continue;
      for (const value of joiningValues(rules, sourced)) {
        for (const match of matchesOf(lookups, sourced.source, value, sources)) group.add(match);
        if (group.size > max) return undefined;
      }
    }
  }
  return group;
}

/** The devices that the value of a source joins; none when that source or an observed one has the value twice. */
function matchesOf(
  { rules, devicesWith }: GroupLookups,
  own: string,
  value: IdentityValue,
  sources: readonly string[],
): string[] {
  const matches: string[] = [];
  for (const source of sources) {
    const devices = devicesWith(source, value);
    if (devices.length < 2) matches.push(...devices);
    else if (source === own || !rules.isIntended(source)) return [];
  }
  return matches;
}

/** The reasons why the claims of a device, or some of them, are not joined with those of other sources. */
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
      const text = value.value.slice(0, MAX_TEXT_LENGTH);
      yield `${value.rule} ${text} is that of several devices of ${repeated.join(", ")}`;
    }
  }
  const keys = claimedDevices(claims);
  for (const key of keys) {
    if (search(lookups, key, rules.joiningSources)) continue;
    yield describeAmbiguity(lookups, claims, keys);
    return;
  }
}

/**
 * Names only the direct matches of the claims, not the matches of those. So these claims are merged again with every change
 * that the text depends on.
 */
function describeAmbiguity(
  lookups: GroupLookups,
  claims: readonly SourcedClaim<"devices">[],
  keys: ReadonlySet<string>,
): string {
  const { rules, claimsOf, devicesWith } = lookups;
  const names = new Set<string>();
  const matched = new Set<string>();
  for (const sourced of claims) {
    for (const value of joiningValues(rules, sourced)) {
      for (const key of matchesOf(lookups, sourced.source, value, rules.joiningSources)) {
        if (keys.has(key)) continue;
        matched.add(key);
        for (const source of rules.joiningSources)
          if (devicesWith(source, value).includes(key))
            names.add(`${key.slice(0, MAX_TEXT_LENGTH)} of ${source}`);
      }
    }
  }
  const sources = [...keys, ...matched].flatMap((key) => [...new Set(claimsOf(key).map((c) => c.source))]);
  const repeated = new Set(sources.filter((source, i) => sources.indexOf(source) !== i));
  const whose = repeated.size > 0 ? listed(repeated) : "one source";
  return `not joined with ${listed(names)}: two devices of ${whose} would be one`;
}

/** The names are sorted, so that the text does not depend on the order of the sources. */
function listed(names: ReadonlySet<string>): string {
  const more = names.size - MAX_NAMED;
  return [...names].sort().slice(0, MAX_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
