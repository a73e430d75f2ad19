/**
 * The entities of one kind that a commit touches: the value before, the claims, and the merged value. Look-ups during the
 * commit find what it has changed here, and everything else in the view, which does not change. The view's indexes have
 * what the commit adds, and readers still find what it takes out (see `Indexes.update`). Each value is read and parsed
 * once.
 */
import { sameJson } from "../lib/same-json.ts";
import type { Steps } from "../lib/steps.ts";
import type { LogEntry, StoreKind } from "../log/log.ts";
import type { ClaimTypes } from "../model/claim.ts";
import { entityId } from "../model/entity.ts";
import { idKey, type Kind } from "../model/ids.ts";
import { type DerivedFlags, type FlagInput, mergeClaims } from "./merge.ts";
import type { MergeRules } from "./merge-rules.ts";
import { recoverClaim, sameClaim } from "./recover.ts";
import { type StoredValue, storedValueOf, type View } from "./view.ts";

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
  /** Entities that are handled between two pauses. */
  readonly entitiesPerStep: number;
}

type ComputeFlags<K extends Kind> = (
  entity: FlagInput[K],
  claims: readonly SourcedClaim<K>[],
) => DerivedFlags;
const ENTRIES_PER_STEP = 500;
const NO_FLAGS: DerivedFlags = { hasReverse: false, conflict: undefined };

/** The key of an entity's stored claims. Ids contain no white space, so the space separates kind and id. */
export const claimsKey = (kind: Kind, id: string): string => `${kind} ${idKey(kind, id)}`;

export class WorkingSet<K extends Kind> {
  /** Entities to merge. More may be added during iteration. */
  readonly pending = new Set<TouchedEntity<K>>();
  readonly #kind: K;
  readonly #context: CommitContext;
  readonly #computeFlags: ComputeFlags<K>;
  readonly #entities = new Map<string, TouchedEntity<K>>();

  constructor(kind: K, context: CommitContext, computeFlags: ComputeFlags<K> = () => NO_FLAGS) {
    this.#kind = kind;
    this.#context = context;
    this.#computeFlags = computeFlags;
  }

  /** Adds or replaces the claim of one source about one entity; undefined withdraws it. */
  setClaim(source: string, id: string, claim: ClaimTypes[K] | undefined): void {
    const entity = this.entity(id);
    const current = entity.claims.find((candidate) => candidate.source === source);
    if (claim === undefined ? !current : current && sameClaim(current.claim, claim)) return;
    const others = entity.claims.filter((candidate) => candidate !== current);
    entity.claims = claim === undefined ? others : this.#sortByRank([...others, { source, claim }]);
    this.pending.add(entity);
  }

  /** Merges the entity again, because something it depends on has changed. */
  recheck(id: string): void {
    this.pending.add(this.entity(id));
  }

  /** The entity, if this commit touches it. */
  touched(key: string): TouchedEntity<K> | undefined {
    return this.#entities.get(key);
  }

  /** The value with the changes of the commit. `id` in any spelling. */
  current(id: string): StoredValue<K>["value"] | undefined {
    const key = idKey(this.#kind, id);
    const touched = this.#entities.get(key);
    if (touched) return touched.after?.value;
    const { view } = this.#context;
    return storedValueOf(this.#kind, view.get(this.#kind, view.shownId(this.#kind, key)))?.value;
  }

  /** Whether there is a value, with the changes of the commit. `id` in any spelling. */
  has(id: string): boolean {
    const key = idKey(this.#kind, id);
    const touched = this.#entities.get(key);
    if (touched) return touched.after !== undefined;
    const { view } = this.#context;
    return view.has(this.#kind, view.shownId(this.#kind, key));
  }

  /** `id` in any spelling. */
  entity(id: string): TouchedEntity<K> {
    const key = idKey(this.#kind, id);
    let entity = this.#entities.get(key);
    if (!entity) {
      const { view } = this.#context;
      const before = storedValueOf(this.#kind, view.get(this.#kind, view.shownId(this.#kind, key)));
      const storedClaims =
        view.size("claims") === 0
          ? undefined
          : storedValueOf("claims", view.get("claims", claimsKey(this.#kind, key)));
      entity = {
        key,
        before,
        after: before,
        changedFields: [],
        claims: this.#claimsFrom(before, storedClaims),
        storedClaimsBefore: storedClaims,
        storedClaims,
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
      const pairs: readonly (readonly [string, ClaimTypes[K]])[] = JSON.parse(storedClaims.text);
      return this.#sortByRank(pairs.map(([source, claim]) => ({ source, claim })));
    }
    if (!value) return [];
    return [{ source: value.value.sources[0] ?? "", claim: recoverClaim(this.#kind, value.value) }];
  }

  #sortByRank(claims: SourcedClaim<K>[]): SourcedClaim<K>[] {
    if (claims.length < 2) return claims;
    const { rules } = this.#context;
    return claims.sort((a, b) => rules.compareRank(a.source, b.source));
  }

  /** Merges the claims of one entity again. */
  remerge(entity: TouchedEntity<K>): void {
    const next = this.#merge(entity);
    if (next === entity.after) return;
    this.#updateIndexes(entity, next);
    entity.after = next;
  }

  /** Where the id is spelled in another way, the old id is removed and the new one added. */
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
    const { claims, before } = entity;
    if (claims.length === 0) return undefined;
    const { time, timeText, revision, shownDevice, rules } = this.#context;
    // Claims of stale sources come last. Ids and `sources` do not depend on that: a source that fails renames nothing.
    const byPrecedence =
      claims.length < 2 ? claims : claims.toSorted((a, b) => rules.comparePrecedence(a.source, b.source));
    const value = mergeClaims(
      this.#kind,
      byPrecedence.map(({ claim }) => claim),
      {
        now: time,
        before: before?.value,
        leader: claims[0]?.claim,
        tracking: {
          firstSeen: before?.value.firstSeen ?? timeText,
          lastChanged: timeText,
          sources: claims.map(({ source }) => source),
          revision,
        },
        shownDevice,
        flagsOf: (input) => this.#computeFlags(input, claims),
      },
    );
    if (!value) return undefined;
    entity.changedFields = before ? diffFields(before.value, value) : [];
    if (before && entity.changedFields.length === 0) return before;
    return { text: JSON.stringify(value), value };
  }

  /** Stores the claims of every touched entity where they cannot be recovered from its value. */
  *storeClaims(): Steps<void> {
    let left = this.#context.entitiesPerStep;
    for (const entity of this.#entities.values()) {
      if (--left === 0) {
        left = this.#context.entitiesPerStep;
        yield;
      }
      const { after, claims } = entity;
      const [first] = claims;
      const recoverable =
        first &&
        claims.length === 1 &&
        after &&
        sameClaim(recoverClaim(this.#kind, after.value), first.claim);
      if (!first || recoverable) this.#setStoredClaims(entity, undefined);
      else {
        const value = claims.map(({ source, claim }) => [source, claim] as const);
        this.#setStoredClaims(entity, { text: JSON.stringify(value), value });
      }
    }
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

  /** Adds the changes of the entities and of their stored claims to `entries`. */
  *collectEntries(entries: LogEntry[]): Steps<void> {
    let left = ENTRIES_PER_STEP;
    for (const { key, before, after, changedFields } of this.#entities.values()) {
      if (--left === 0) {
        left = ENTRIES_PER_STEP;
        yield;
      }
      if (before === after) continue;
      const oldId = before && shownIdOf(key, before);
      const newId = after && shownIdOf(key, after);
      if (oldId === newId) entries.push(entryOf(this.#kind, newId ?? key, before, after, changedFields));
      else {
        if (oldId !== undefined) entries.push(entryOf(this.#kind, oldId, before, undefined, []));
        if (newId !== undefined) entries.push(entryOf(this.#kind, newId, undefined, after, []));
      }
    }
    for (const { key, storedClaimsBefore, storedClaims } of this.#entities.values()) {
      if (--left === 0) {
        left = ENTRIES_PER_STEP;
        yield;
      }
      if (storedClaimsBefore?.text !== storedClaims?.text) {
        entries.push(entryOf("claims", claimsKey(this.#kind, key), storedClaimsBefore, storedClaims, []));
      }
    }
  }

  /** Restores the indexes to what they were before the commit. */
  *rollBack(): Steps<void> {
    let left = this.#context.entitiesPerStep;
    for (const entity of this.#entities.values()) {
      const { before, after, storedClaimsBefore, storedClaims } = entity;
      if (before !== after) this.#updateIndexes(entity, before);
      if (storedClaimsBefore !== storedClaims) this.#updateClaimsIndexes(entity, storedClaimsBefore);
      entity.after = before;
      entity.storedClaims = storedClaimsBefore;
      if (--left > 0) continue;
      left = this.#context.entitiesPerStep;
      yield;
    }
  }
}

/** The id that is shown. The key where both are the same text: maps have its hash already. */
function shownIdOf<K extends Kind>(key: string, { value }: StoredValue<K>): string {
  const id = entityId(value);
  return id === key ? key : id;
}

function entryOf<K extends StoreKind>(
  kind: K,
  id: string,
  before: StoredValue<K> | undefined,
  after: StoredValue<K> | undefined,
  changed: readonly string[],
): LogEntry {
  return { kind, id, before: before?.text ?? null, after: after?.text ?? null, changed };
}

/** The top-level fields that differ, without `revision` and `lastChanged`, which change every time. */
function diffFields<T extends object>(before: T, after: T): string[] {
  const changed: string[] = [];
  for (const field in after) {
    const oldValue = before[field];
    const newValue = after[field];
    if (oldValue === newValue || field === "revision" || field === "lastChanged") continue;
    if (typeof newValue !== "object" || !sameJson(oldValue, newValue)) changed.push(field);
  }
  for (const field in before) if (!(field in after)) changed.push(field);
  return changed;
}
