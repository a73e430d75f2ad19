/**
 * The ids with which a device was shown before it got another one. They stay aliases of it until another device is claimed
 * with such an id, or the device is gone. Claims do not contain them, so they are stored with the first stored claim of a
 * device that was renamed.
 */
import { CLAIM_LIMITS, type DeviceClaim } from "../model/claim.ts";
import { deviceKey } from "../model/ids.ts";
import type { StoredClaim, StoredClaims } from "./indexes.ts";

export const NO_IDS: readonly string[] = [];

/** The former ids of a device in its stored claims, the latest first. */
export const formerIdsOf = (stored: StoredClaims | undefined): readonly string[] =>
  stored?.[0]?.[3] ?? NO_IDS;

/** The ids of a device in its claims, and the aliases in them. */
export const aliasesIn = (claims: readonly DeviceClaim[]): string[] => [
  ...claims.map((claim) => claim.id),
  ...claims.flatMap((claim) => claim.aliases ?? []),
];

/** The former ids of a device, without the id of its entity and without those that are ids of other devices now. */
export function keptIds(
  { key, formerIds }: { readonly key: string; readonly formerIds: readonly string[] },
  isOtherDevice: (id: string) => boolean,
): readonly string[] {
  if (formerIds.length === 0) return formerIds;
  return formerIds.filter((id) => deviceKey(id) !== key && !isOtherDevice(id));
}

/** The former ids to keep: at most as many as a claim has aliases, without the entity's own and without other spellings. */
export function boundedIds(entity: string, ids: Iterable<string>): readonly string[] {
  const byKey = new Map<string, string>();
  for (const id of ids) if (!byKey.has(deviceKey(id))) byKey.set(deviceKey(id), id);
  byKey.delete(entity);
  return [...byKey.values()].slice(0, CLAIM_LIMITS.aliases);
}

/** The claims as they are stored, with the former ids of their device. */
export function withFormerIds(claims: readonly StoredClaim[], formerIds: readonly string[]): StoredClaims {
  const [first, ...others] = claims;
  if (!first || formerIds.length === 0) return claims;
  const [source, claim, role = null] = first;
  return [[source, claim, role, formerIds], ...others];
}
