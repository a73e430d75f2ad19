/** What the parts of a commit share: an entity that it touches, what follows from its claims, and what all parts know. */
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
  /** See `idKey`. The ids that are shown before and after may be spelled in different ways. */
  readonly key: string;
  readonly before: StoredValue<K> | undefined;
  after: StoredValue<K> | undefined;
  /** Fields in which `after` differs from `before`. */
  changedFields: readonly string[];
  claims: readonly SourcedClaim<K>[];
  readonly claimsBefore: readonly SourcedClaim<K>[];
  /** Of the entities from which claims were moved here, the earliest. */
  firstSeen: string | undefined;
  /** The value of an entity from which claims were moved here, before the commit. */
  movedFrom: StoredValue<K> | undefined;
  /** Of an entity from which claims were moved here. */
  movedDrift: Drift | undefined;
  /** Ids that the device was shown with before: see `former-ids.ts`. */
  formerIds: readonly string[];
  /** The value in the `claims` collection; undefined when the claims can be recovered from the merged value. */
  readonly storedClaimsBefore: StoredValue<"claims"> | undefined;
  storedClaims: StoredValue<"claims"> | undefined;
  /** The value in the `missing` collection: what is intended of an entity that is not observed. */
  readonly missingBefore: StoredValue<K> | undefined;
  missing: StoredValue<K> | undefined;
}

/** What all working sets of a commit share. */
export interface CommitContext {
  readonly view: View;
  readonly revision: number;
  readonly time: number;
  readonly timeText: string;
  readonly rules: MergeRules;
  /** The id of a device as it is shown; undefined when the device does not exist. Includes the changes of the commit. */
  readonly shownDevice: (id: string) => string | undefined;
  /** A port as it is shown; undefined when the device does not exist. */
  readonly shownPort: (device: string, port: string) => ConnectPoint | undefined;
  /** The same for a port that the plan refers to: where its device is missing, with the intended id. */
  readonly plannedPort: (device: string, port: string) => ConnectPoint;
  /** Whether the id is claimed as a device of another entity. */
  readonly isOtherDevice: (id: string, entity: string) => boolean;
  /** Whether the plan lists ports of the device. `id` as it is shown. */
  readonly plansPortsOf: (id: string) => boolean;
  /** Where the commit pauses. The texts that working sets parse and encode are counted. */
  readonly pause: Pause;
}

/** When the entity, or one whose claims it has now, was first shown. */
export function firstSeenOf<K extends Kind>({ before, firstSeen }: TouchedEntity<K>): string | undefined {
  const own = before?.value.firstSeen;
  return own === undefined || (firstSeen !== undefined && firstSeen < own) ? firstSeen : own;
}

/** Each once: a source may claim one entity under two ids. */
export function sourcesOf<K extends Kind>(claims: readonly SourcedClaim<K>[]): string[] {
  const sources = claims.map(({ source }) => source);
  return sources.length < 2 ? sources : [...new Set(sources)];
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

/** The id that is shown. The key where both are the same text: maps have its hash already. */
export function shownIdOf<K extends Kind>(key: string, { value }: StoredValue<K>): string {
  const id = entityId(value);
  return id === key ? key : id;
}
