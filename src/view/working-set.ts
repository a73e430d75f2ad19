/**
 * The entities of one kind that a commit touches: the value before, the claims, and the merged value. Lookups during the
 * commit find its changes here, and everything else in the view, which does not change. The view's indexes include what the
 * commit adds, and readers still find what it removes (see `Indexes.update`). Each value is read and parsed once.
 */
import type { SortedIndex } from "../lib/sorted-index.ts";
import { COST, Pause, type Steps } from "../lib/steps.ts";
import type { LogEntry, StoreKind } from "../log/log.ts";
import type { ClaimTypes } from "../model/claim.ts";
import type { Entities } from "../model/entity.ts";
import { idKey, type Kind } from "../model/ids.ts";
import { diffFields } from "./diff-fields.ts";
import {
  findMissing,
  mergeMissing,
  missingAddition,
  missingRemoval,
  observedClaims,
  type PlanContext,
  setDrift,
  updateMissing,
} from "./drift.ts";
import { formerIdsOf, keptIds, NO_IDS, withFormerIds } from "./former-ids.ts";
import { claimsKey, INTENDED, parseClaimsKey, type StoredClaim } from "./indexes.ts";
import { type DerivedFlags, type FlagInput, mergeClaims } from "./merge.ts";
import type { MergeRules } from "./merge-rules.ts";
import { claimedKey, recoverClaim, sameClaim } from "./recover.ts";
import {
  type CommitContext,
  firstSeenOf,
  leaderOf,
  type SourcedClaim,
  shownIdOf,
  sourcesOf,
  type TouchedEntity,
} from "./touched-entity.ts";
import { type StoredValue, storedValueOf } from "./view.ts";

/* The log entry for the change of one value. */

function entryOf<K extends StoreKind>(
  kind: K,
  id: string,
  before: StoredValue<K> | undefined,
  after: StoredValue<K> | undefined,
  changed: readonly string[],
): LogEntry {
  return { kind, id, before: before?.text ?? null, after: after?.text ?? null, changed };
}

/** Claims of stale sources come last. Ids and `sources` do not depend on that, so a source that fails renames nothing. */
function byPrecedence<K extends Kind>(
  claims: readonly SourcedClaim<K>[],
  leader: ClaimTypes[K],
  rules: MergeRules,
): readonly ClaimTypes[K][] {
  if (claims.length === 1) return [leader];
  return claims.toSorted((a, b) => rules.comparePrecedence(a.source, b.source)).map(({ claim }) => claim);
}

/** `claims` are those of observed sources; there are none if the entity is only intended. */
type ComputeFlags<K extends Kind> = (
  entity: FlagInput[K],
  claims: readonly SourcedClaim<K>[],
) => DerivedFlags;
const NO_FIELDS: readonly string[] = [];
const NO_FLAGS: DerivedFlags = { hasReverse: false, conflict: undefined };

export class WorkingSet<K extends Kind> {
  /** Entities to merge. More may be added during the iteration. */
  readonly pending = new Set<TouchedEntity<K>>();
  readonly #kind: K;
  readonly #context: CommitContext;
  readonly #computeFlags: ComputeFlags<K>;
  readonly #entities = new Map<string, TouchedEntity<K>>();
  readonly #planContext: PlanContext<K>;
  readonly #claimedAs: SortedIndex;
  #changesMissing = false;

  constructor(kind: K, context: CommitContext, computeFlags: ComputeFlags<K> = () => NO_FLAGS) {
    this.#kind = kind;
    this.#context = context;
    this.#computeFlags = computeFlags;
    this.#claimedAs = context.view.indexes("claims").named("claimedAs");
    this.#planContext = { ...context, flagsOf: (input) => computeFlags(input, []) };
  }

  /** Adds or replaces the claim of one source about one entity; undefined withdraws it. */
  setClaim(source: string, id: string, claim: ClaimTypes[K] | undefined): void {
    const key = idKey(this.#kind, id);
    const entity = this.entity(this.#entityWith(key));
    const { claims } = entity;
    const current =
      claims.length === 0
        ? undefined
        : claims.find((candidate) => candidate.source === source && this.#isAbout(candidate, key));
    if (claim === undefined ? !current : current && sameClaim(current.claim, claim)) return;
    const others = current ? claims.filter((candidate) => candidate !== current) : claims;
    entity.claims = claim === undefined ? others : this.#sortByRank([...others, { source, claim }]);
    this.pending.add(entity);
    // The roles are marked at once, because the merge depends on what the plan contains.
    if (this.#context.rules.isIntended(source)) this.markRoles(entity);
  }

  /** The entity that had the claims about an id before the commit. */
  #entityWith(key: string): string {
    if (this.#kind === "hosts" || this.#claimedAs.size === 0) return key;
    for (const stored of this.#claimedAs.get(claimsKey(this.#kind, key)))
      return parseClaimsKey(stored)?.key ?? key;
    return key;
  }

  /** Whether a claim of an entity is about this id. A host only has claims of its own id. */
  #isAbout(claim: SourcedClaim<K>, key: string): boolean {
    return this.#kind === "hosts" || this.#claimedKey(claim) === key;
  }

  #claimedKey({ claim }: SourcedClaim<K>): string {
    return claimedKey(this.#kind, claim);
  }

  /** Moves claims to another entity, which gets the earliest `firstSeen`. */
  moveClaims(
    from: TouchedEntity<K>,
    to: TouchedEntity<K>,
    isMoved: (claim: SourcedClaim<K>) => boolean,
  ): void {
    const moved = from.claims.filter(isMoved);
    if (moved.length === 0) return;
    from.claims = from.claims.filter((claim) => !moved.includes(claim));
    to.claims = this.#sortByRank([...to.claims, ...moved]);
    for (const time of [from.before?.value.firstSeen, from.firstSeen])
      if (time !== undefined && (to.firstSeen === undefined || time < to.firstSeen)) to.firstSeen = time;
    to.movedFrom ??= from.before ?? from.movedFrom;
    to.movedDrift ??= from.before?.value.drift ?? from.missingBefore?.value.drift ?? from.movedDrift;
    this.pending.add(from).add(to);
  }

  /** Moves the claims of a pending entity to the entities that they belong to. */
  place(entity: TouchedEntity<K>, keyOf: (claim: ClaimTypes[K]) => string): void {
    for (const sourced of entity.claims) {
      const key = keyOf(sourced.claim);
      if (key !== entity.key) this.moveClaims(entity, this.entity(key), (claim) => claim === sourced);
    }
  }

  /** Merges the entity again, because something it depends on has changed. */
  recheck(id: string): void {
    this.pending.add(this.entity(id));
  }

  /** The entity, if this commit touches it. */
  touched(key: string): TouchedEntity<K> | undefined {
    return this.#entities.size === 0 ? undefined : this.#entities.get(key);
  }

  touchedEntities(): Iterable<TouchedEntity<K>> {
    return this.#entities.values();
  }

  /** The value including the changes of the commit. `id` may have any spelling. */
  current(id: string): StoredValue<K>["value"] | undefined {
    const key = idKey(this.#kind, id);
    const touched = this.#entities.get(key);
    if (touched) return touched.after?.value;
    const { view } = this.#context;
    return storedValueOf(this.#kind, view.get(this.#kind, view.spelledId(this.#kind, key)))?.value;
  }

  /** Whether there is a value, including the changes of the commit. `id` may have any spelling. */
  has(id: string): boolean {
    const key = idKey(this.#kind, id);
    const touched = this.#entities.get(key);
    if (touched) return touched.after !== undefined;
    const { view } = this.#context;
    return view.has(this.#kind, view.spelledId(this.#kind, key));
  }

  /** The touched entity, which is read from the view on first use. `id` may have any spelling. */
  entity(id: string): TouchedEntity<K> {
    const key = idKey(this.#kind, id);
    let entity = this.#entities.get(key);
    if (!entity) {
      const { view } = this.#context;
      const before = storedValueOf(this.#kind, view.get(this.#kind, view.spelledId(this.#kind, key)));
      const storedClaims =
        view.storedClaims[this.#kind] === 0
          ? undefined
          : storedValueOf("claims", view.get("claims", claimsKey(this.#kind, key)));
      const claims = this.#claimsFrom(before, storedClaims);
      const missingBefore = findMissing(this.#kind, view, key);
      this.#context.pause.count((before?.text.length ?? 0) + (storedClaims?.text.length ?? 0));
      entity = {
        key,
        before,
        after: before,
        changedFields: NO_FIELDS,
        claims,
        claimsBefore: claims,
        firstSeen: undefined,
        movedFrom: undefined,
        movedDrift: undefined,
        formerIds: before ? formerIdsOf(storedClaims?.value) : NO_IDS,
        storedClaimsBefore: storedClaims,
        storedClaims,
        missingBefore,
        missing: missingBefore,
      };
      this.#entities.set(key, entity);
    }
    return entity;
  }

  #claimsFrom(
    value: StoredValue<K> | undefined,
    storedClaims: StoredValue<"claims"> | undefined,
  ): readonly SourcedClaim<K>[] {
    if (storedClaims) {
      const pairs: readonly StoredClaim<K>[] = JSON.parse(storedClaims.text);
      return this.#sortByRank(pairs.map(([source, claim]) => ({ source, claim })));
    }
    if (!value) return [];
    return [{ source: value.value.sources[0] ?? "", claim: recoverClaim(this.#kind, value.value) }];
  }

  /** The intended value of an entity that is not observed, including the changes of the commit. `id` may have any spelling. */
  missing(id: string): Entities[K] | undefined {
    const key = idKey(this.#kind, id);
    const touched = this.#entities.get(key);
    return (touched ? touched.missing : findMissing(this.#kind, this.#context.view, key))?.value;
  }

  #sortByRank(claims: SourcedClaim<K>[]): SourcedClaim<K>[] {
    if (claims.length < 2) return claims;
    const { rules } = this.#context;
    return claims.sort(
      (a, b) => rules.compareRank(a.source, b.source) || (this.#claimedKey(a) < this.#claimedKey(b) ? -1 : 1),
    );
  }

  /** Merges the claims of one entity again. */
  remerge(entity: TouchedEntity<K>): void {
    const next = this.#merge(entity);
    if (next !== entity.after) {
      this.#updateIndexes(entity, next);
      entity.after = next;
    }
    if (!entity.missing && !this.#context.rules.comparedKinds.has(this.#kind)) return;
    const missing = mergeMissing(this.#kind, entity, this.#planContext);
    if (missing === entity.missing) return;
    updateMissing(this.#kind, this.#context.view, entity, missing);
    entity.missing = missing;
    this.#changesMissing = true;
  }

  /** Updates the indexes. If the spelling of the id changes, the old id is removed and the new one added. */
  #updateIndexes({ key, before, after }: TouchedEntity<K>, next: StoredValue<K> | undefined): void {
    const indexes = this.#context.view.indexes(this.#kind);
    const baseId = before && shownIdOf(key, before);
    const oldId = after && shownIdOf(key, after);
    const newId = next && shownIdOf(key, next);
    const update = (id: string, from: StoredValue<K> | undefined, to: StoredValue<K> | undefined) =>
      indexes.update(id, from?.value, to?.value, id === baseId ? before?.value : undefined);
    if (oldId === undefined || newId === undefined || oldId === newId)
      update(newId ?? oldId ?? key, after, next);
    else {
      update(oldId, after, undefined);
      update(newId, undefined, next);
    }
  }

  #merge(entity: TouchedEntity<K>): StoredValue<K> | undefined {
    const { before } = entity;
    const { time, timeText, revision, shownPort, isOtherDevice, rules } = this.#context;
    const claims = observedClaims(entity, rules);
    const leader = leaderOf(claims, rules);
    const isOther = (id: string) => isOtherDevice(id, entity.key);
    entity.formerIds = leader ? keptIds(entity, isOther) : NO_IDS;
    if (!leader) return undefined;
    const value = mergeClaims(this.#kind, byPrecedence(claims, leader, rules), {
      now: time,
      before: (before ?? entity.movedFrom)?.value,
      tracking: {
        firstSeen: firstSeenOf(entity) ?? timeText,
        lastChanged: timeText,
        sources: sourcesOf(claims),
        revision,
      },
      leader,
      isOtherDevice: isOther,
      formerIds: entity.formerIds,
      shownPort,
      flagsOf: (input) => this.#computeFlags(input, claims),
    });
    if (!value) return undefined;
    setDrift(this.#kind, value, entity, this.#planContext);
    entity.changedFields = before ? diffFields(before.value, value) : NO_FIELDS;
    if (before && entity.changedFields.length === 0) return before;
    const text = JSON.stringify(value);
    this.#context.pause.count(text.length);
    return { text, value };
  }

  /** Stores the claims of each touched entity whose claims cannot be recovered from its value. */
  *storeClaims(): Steps<void> {
    for (const entity of this.#entities.values()) {
      if (this.#context.pause.due(COST.entity, entity.after?.text.length)) yield;
      const { after, claims, formerIds } = entity;
      const [first] = claims;
      const recoverable =
        first &&
        claims.length === 1 &&
        formerIds.length === 0 &&
        !this.#context.rules.isIntended(first.source) &&
        after &&
        sameClaim(recoverClaim(this.#kind, after.value), first.claim);
      this.#setStoredClaims(entity, recoverable ? undefined : this.#storedClaimsOf(entity));
    }
  }

  #storedClaimsOf({ claims, formerIds }: TouchedEntity<K>): StoredValue<"claims"> | undefined {
    if (claims.length === 0) return undefined;
    const { rules } = this.#context;
    const stored = claims.map(
      ({ source, claim }): StoredClaim =>
        rules.isIntended(source) ? [source, claim, INTENDED] : [source, claim],
    );
    const value = withFormerIds(stored, formerIds);
    const text = JSON.stringify(value);
    this.#context.pause.count(text.length);
    return { text, value };
  }

  /** Stores the claims with the roles of their sources under the rules of the commit. */
  markRoles(entity: TouchedEntity<K>): void {
    const { rules } = this.#context;
    if (entity.storedClaims || entity.claims.some(({ source }) => rules.isIntended(source)))
      this.#setStoredClaims(entity, this.#storedClaimsOf(entity));
  }

  #setStoredClaims(entity: TouchedEntity<K>, next: StoredValue<"claims"> | undefined): void {
    if (next?.text === entity.storedClaims?.text) return;
    this.#updateClaimsIndexes(entity, next);
    entity.storedClaims = next;
  }

  #updateClaimsIndexes(
    { key, storedClaimsBefore, storedClaims }: TouchedEntity<K>,
    next: StoredValue<"claims"> | undefined,
  ): void {
    const indexes = this.#context.view.indexes("claims");
    indexes.update(claimsKey(this.#kind, key), storedClaims?.value, next?.value, storedClaimsBefore?.value);
  }

  /** Adds the log entries of the entities and of their stored claims to `entries`. */
  *collectEntries(entries: LogEntry[]): Steps<void> {
    const pause = new Pause();
    for (const { key, before, after, changedFields } of this.#entities.values()) {
      if (pause.due(COST.key)) yield;
      if (before === after) continue;
      const oldId = before && shownIdOf(key, before);
      const newId = after && shownIdOf(key, after);
      if (oldId === newId) entries.push(entryOf(this.#kind, newId ?? key, before, after, changedFields));
      else {
        if (oldId !== undefined) entries.push(entryOf(this.#kind, oldId, before, undefined, NO_FIELDS));
        if (newId !== undefined) entries.push(entryOf(this.#kind, newId, undefined, after, NO_FIELDS));
      }
    }
    for (const { key, storedClaimsBefore, storedClaims } of this.#entities.values()) {
      if (pause.due(COST.key)) yield;
      if (storedClaimsBefore?.text !== storedClaims?.text) {
        entries.push(
          entryOf("claims", claimsKey(this.#kind, key), storedClaimsBefore, storedClaims, NO_FIELDS),
        );
      }
    }
  }

  /** Adds the log entries of the `missing` collection: the removals, or all others. */
  *collectMissing(entries: LogEntry[], removals: boolean): Steps<void> {
    if (!this.#changesMissing) return;
    const pause = new Pause();
    for (const { missingBefore, missing } of this.#entities.values()) {
      if (pause.due(COST.key)) yield;
      const entry = removals
        ? missingRemoval(this.#kind, missingBefore, missing)
        : missingAddition(this.#kind, missingBefore, missing);
      if (entry) entries.push(entry);
    }
  }

  /** Restores the indexes to their state before the commit. */
  *rollBack(): Steps<void> {
    for (const entity of this.#entities.values()) {
      const { before, after, storedClaimsBefore, storedClaims } = entity;
      if (before !== after) this.#updateIndexes(entity, before);
      if (storedClaimsBefore !== storedClaims) this.#updateClaimsIndexes(entity, storedClaimsBefore);
      if (entity.missingBefore !== entity.missing)
        updateMissing(this.#kind, this.#context.view, entity, entity.missingBefore);
      entity.after = before;
      entity.storedClaims = storedClaimsBefore;
      entity.missing = entity.missingBefore;
      if (this.#context.pause.due(COST.entity)) yield;
    }
  }
}
