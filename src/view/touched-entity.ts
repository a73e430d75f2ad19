/** The types that the parts of a commit share: an entity that it touches, and what all of its parts know. */
import type { ClaimTypes } from "../model/claim.ts";
import type { Kind } from "../model/ids.ts";
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
  /** The same for a device that the plan refers to: where it is missing, its intended id. */
  readonly plannedDevice: (id: string) => string;
  /** Whether the plan lists ports of the device. `id` as it is shown. */
  readonly plansPortsOf: (id: string) => boolean;
  /** Entities that are handled between two pauses. */
  readonly entitiesPerStep: number;
}
