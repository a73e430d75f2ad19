/**
 * The part of a commit that concerns the plan: the drift of observed entities, and the collection `missing`, which has the
 * entities that are intended and not observed. An entity has a public value or is in `missing`, never both. The id in
 * `missing` is spelled as in the plan; the index `key` finds it by `idKey`.
 */
import type { LogEntry } from "../log/log.ts";
import type { ClaimTypes } from "../model/claim.ts";
import { type Entities, entityId } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
import { diffFields } from "./diff-fields.ts";
import { compareWithPlan, driftSince } from "./drift.ts";
import { missingKey, type StoredTypes } from "./indexes.ts";
import { type MergeContext, mergeClaims } from "./merge.ts";
import type { MergeRules } from "./merge-rules.ts";
import type { CommitContext, SourcedClaim, TouchedEntity } from "./touched-entity.ts";
import { type StoredValue, storedValueOf, type View } from "./view.ts";

export type PlanContext<K extends Kind> = CommitContext & Pick<MergeContext<K>, "flagsOf">;

/** The intended value of an entity that is not observed, before the commit. `key` is its `idKey`. */
export function findMissing<K extends Kind>(kind: K, view: View, key: string): StoredValue<K> | undefined {
  if (view.size("missing") === 0) return undefined;
  const [id] = view.indexes("missing").named("key").current(missingKey(kind, key));
  return id === undefined ? undefined : storedValueOf(kind, view.get("missing", id));
}

/** Sets the drift of a merged value, if its kind is compared with the plan. */
export function setDrift<K extends Kind>(
  kind: K,
  value: Entities[K],
  entity: TouchedEntity<K>,
  context: PlanContext<K>,
): void {
  const { timeText, rules, plansPortsOf } = context;
  if (!rules.judgedKinds.has(kind)) return;
  const shown: Entities[Kind] = value;
  const driftBefore = entity.before?.value.drift ?? entity.movedDrift;
  const claims = intendedClaims(entity, rules);
  if (claims.length > 0) {
    const intended = mergeIntended(kind, claims, entity, context);
    const fields = intended && compareWithPlan(kind, { claims, value: intended }, value);
    if (fields) shown.drift = driftSince("differs", timeText, driftBefore, fields);
  } else if (!("element" in shown) || plansPortsOf(shown.element))
    shown.drift = driftSince("unplanned", timeText, driftBefore);
}

/** Fields of a missing entity: an entity that is not observed is not in operation, even if the plan has other values. */
const NOT_SEEN: { readonly [K in Kind]: Partial<ClaimTypes[K]> } = {
  devices: { available: false },
  ports: { isEnabled: false },
  links: { state: "INACTIVE" },
  hosts: {},
};

/** The value in `missing`; undefined if the entity is observed, not intended, or not compared yet. */
export function mergeMissing<K extends Kind>(
  kind: K,
  entity: TouchedEntity<K>,
  context: PlanContext<K>,
): StoredValue<K> | undefined {
  if (entity.after || !context.rules.judgedKinds.has(kind)) return undefined;
  const claims = intendedClaims(entity, context.rules).map((claim) => ({ ...claim, ...NOT_SEEN[kind] }));
  const value = claims.length === 0 ? undefined : mergeIntended(kind, claims, entity, context);
  if (!value) return undefined;
  const before = entity.missingBefore;
  const missing: Entities[Kind] = value;
  missing.drift = driftSince("missing", context.timeText, before?.value.drift ?? entity.movedDrift);
  if (before && diffFields(before.value, value).length === 0) return before;
  return { text: JSON.stringify(value), value };
}

/** The intended value of the entity. It is never held back. */
function mergeIntended<K extends Kind>(
  kind: K,
  claims: readonly ClaimTypes[K][],
  entity: TouchedEntity<K>,
  { time, timeText, revision, plannedPort, rules, flagsOf }: PlanContext<K>,
): StoredTypes[K] | undefined {
  const { missingBefore } = entity;
  const firstSeen = missingBefore?.value.firstSeen ?? timeText;
  // The key of this claim is that of the entity if nothing is observed.
  const leader = entity.claims.find(({ source }) => rules.isIntended(source))?.claim;
  if (!leader) return undefined;
  return mergeClaims(kind, claims, {
    now: time,
    before: missingBefore?.value,
    tracking: { firstSeen, lastChanged: timeText, sources: [], revision },
    leader,
    formerIds: [],
    isOtherDevice: () => false,
    shownPort: plannedPort,
    flagsOf,
  });
}

/** The claims that the observed value is merged from, by rank. */
export function observedClaims<K extends Kind>(
  { claims }: TouchedEntity<K>,
  rules: MergeRules,
): readonly SourcedClaim<K>[] {
  if (rules.intendedSources.length === 0) return claims;
  return claims.filter(({ source }) => !rules.isIntended(source));
}

/** The claims of intended sources in order of precedence. */
const intendedClaims = <K extends Kind>({ claims }: TouchedEntity<K>, rules: MergeRules): ClaimTypes[K][] =>
  claims
    .filter(({ source }) => rules.isIntended(source))
    .sort((a, b) => rules.comparePrecedence(a.source, b.source))
    .map(({ claim }) => claim);

/** Replaces the value in the indexes of `missing`. */
export function updateMissing<K extends Kind>(
  kind: K,
  view: View,
  { missingBefore, missing }: TouchedEntity<K>,
  next: StoredValue<K> | undefined,
): void {
  const indexes = view.indexes("missing");
  const [baseId, oldId, newId] = [missingBefore, missing, next].map((stored) => idOf(kind, stored));
  const base = (id: string) => (id === baseId ? missingBefore?.value : undefined);
  if (oldId !== undefined && oldId !== newId) indexes.update(oldId, missing?.value, undefined, base(oldId));
  if (newId === undefined) return;
  indexes.update(newId, oldId === newId ? missing?.value : undefined, next?.value, base(newId));
}

/** The entry that removes an id from `missing`; undefined when it stays. */
export function missingRemoval<K extends Kind>(
  kind: K,
  before: StoredValue<K> | undefined,
  after: StoredValue<K> | undefined,
): LogEntry | undefined {
  const id = idOf(kind, before);
  if (!before || id === undefined || id === idOf(kind, after)) return undefined;
  return { kind: "missing", id, before: before.text, after: null, changed: [] };
}

/** The entry that adds an id to `missing` or changes its value. */
export function missingAddition<K extends Kind>(
  kind: K,
  before: StoredValue<K> | undefined,
  after: StoredValue<K> | undefined,
): LogEntry | undefined {
  const id = idOf(kind, after);
  if (!after || id === undefined || after === before) return undefined;
  const old = id === idOf(kind, before) ? before : undefined;
  const changed = old ? diffFields(old.value, after.value) : [];
  return { kind: "missing", id, before: old?.text ?? null, after: after.text, changed };
}

const idOf = <K extends Kind>(kind: K, stored: StoredValue<K> | undefined): string | undefined =>
  stored && missingKey(kind, entityId(stored.value));
