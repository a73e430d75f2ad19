/** Types that the parts of a commit share: a touched entity, and the context of the commit. */
import type { Pause } from "../lib/steps.ts";
import type { ClaimTypes } from "../model/claim.ts";
import { type Drift, entityId } from "../model/entity.ts";
import type { ConnectPoint, Kind } from "../model/ids.ts";
import type { MergeRules } from "./merge-rules.ts";
import type { StoredValue, View } from "./view.ts";

export interface SourcedClaim<K extends Kind> {
  readonly source: string;
  readonly claim: ClaimTypes[K];
}

/** An entity that this commit touches. */
export interface TouchedEntity<K extends Kind> {
  /** The `idKey` of the entity. The ids that are shown before and after may be spelled differently. */
  readonly key: string;
  readonly before: StoredValue<K> | undefined;
  after: StoredValue<K> | undefined;
  /** The fields in which `after` differs from `before`. */
  changedFields: readonly string[];
  claims: readonly SourcedClaim<K>[];
  readonly claimsBefore: readonly SourcedClaim<K>[];
  /** The earliest `firstSeen` of the entities from which claims were moved here. */
  firstSeen: string | undefined;
  /** The value of an entity from which claims were moved here, before the commit. */
  movedFrom: StoredValue<K> | undefined;
  /** The drift of an entity from which claims were moved here. */
  movedDrift: Drift | undefined;
  /** Ids with which the device was shown before: see `former-ids.ts`. */
  formerIds: readonly string[];
  /** The value in the `claims` collection; undefined when the claims can be recovered from the merged value. */
  readonly storedClaimsBefore: StoredValue<"claims"> | undefined;
  storedClaims: StoredValue<"claims"> | undefined;
  /** The value in the `missing` collection: the intended value of an entity that is not observed. */
  readonly missingBefore: StoredValue<K> | undefined;
  missing: StoredValue<K> | undefined;
}

/** The context that all working sets of a commit share. */
export interface CommitContext {
  readonly view: View;
  readonly revision: number;
  readonly time: number;
  readonly timeText: string;
  readonly rules: MergeRules;
  /** The shown id of a device; undefined when the device does not exist. Includes the changes of the commit. */
  readonly shownDevice: (id: string) => string | undefined;
  /** A port with its shown device and number; undefined when the device does not exist. */
  readonly shownPort: (device: string, port: string) => ConnectPoint | undefined;
  /** A port that the plan refers to, as it is shown; if its device is missing, with the intended id. */
  readonly plannedPort: (device: string, port: string) => ConnectPoint;
  /** Whether the id is claimed as a device of another entity. */
  readonly isOtherDevice: (id: string, entity: string) => boolean;
  /** Whether the plan lists ports of the device with this shown id. */
  readonly plansPortsOf: (id: string) => boolean;
  /** Decides when the commit pauses. The texts that working sets parse and encode are counted. */
  readonly pause: Pause;
}

/** The time at which the entity, or one whose claims it has now, was first shown. */
export function firstSeenOf<K extends Kind>({ before, firstSeen }: TouchedEntity<K>): string | undefined {
  const own = before?.value.firstSeen;
  return own === undefined || (firstSeen !== undefined && firstSeen < own) ? firstSeen : own;
}

/** The sources without duplicates, because a source may claim one entity under two ids. */
export function sourcesOf<K extends Kind>(claims: readonly SourcedClaim<K>[]): string[] {
  const [only] = claims;
  if (only && claims.length === 1) return [only.source];
  return [...new Set(claims.map(({ source }) => source))];
}

/** The claim that gives the entity its id. */
export function leaderOf<K extends Kind>(
  claims: readonly SourcedClaim<K>[],
  rules: MergeRules,
): ClaimTypes[K] | undefined {
  let leader = claims[0];
  if (claims.length < 2) return leader?.claim;
  for (const other of claims)
    if (leader && rules.compareLeaders(other.source, leader.source) < 0) leader = other;
  return leader?.claim;
}

/** The shown id. The key itself is returned if both are the same text, because maps have its hash already. */
export function shownIdOf<K extends Kind>(key: string, { value }: StoredValue<K>): string {
  const id = entityId(value);
  return id === key ? key : id;
}
