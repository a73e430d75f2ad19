/**
 * The part of a commit that concerns the plan: the drift of observed entities, and the collection `missing`, which has the
 * entities that are intended and not observed. An entity has a public value or is in `missing`, never both. The id in
 * `missing` is spelled as in the plan; the index `key` finds it by `idKey`.
 */
import { sameJson } from "../lib/same-json.ts";
import type { LogEntry } from "../log/log.ts";
import { canonicalMac } from "../model/address.ts";
import type { ClaimTypes } from "../model/claim.ts";
import { type Drift, type DriftState, type Entities, entityId } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
import { diffFields } from "./diff-fields.ts";
import { addressValue, chassisValue } from "./identity/identity-values.ts";
import { missingKey, type StoredTypes } from "./indexes.ts";
import { type MergeContext, mergeClaims } from "./merge.ts";
import type { MergeRules } from "./merge-rules.ts";
import { MAC_ANNOTATIONS, NAME_ANNOTATIONS } from "./port-matching.ts";
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
  if (!rules.comparedKinds.has(kind)) return;
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
  if (entity.after || !context.rules.comparedKinds.has(kind)) return undefined;
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

/*
 * Compares what is observed with what is intended, both merged from their claims. Only fields that the plan contains are
 * compared: a field that no intended claim has is free. Lists are compared as sets and annotations key by key. Fields that
 * identify the entity are not compared, because both values belong to the same entity, and neither are fields that only an
 * observation can have. A value by which devices or ports are matched is compared in the form in which it is matched:
 * another spelling of a MAC address or serial number is the same value.
 */

type DriftFields = NonNullable<Drift["fields"]>;

const NOT_COMPARED: { readonly [K in Kind]: ReadonlySet<string> } = {
  devices: new Set(["id", "aliases", "lastUpdate"]),
  ports: new Set(["element", "port"]),
  links: new Set(["src", "dst"]),
  hosts: new Set(["mac", "vlan"]),
};

/** Functions by field that convert a lower-case text to the form in which every spelling of a value is the same. */
type Spellings = ReadonlyMap<string, (text: string) => string | undefined>;
const lowerCase = (text: string) => text;
const SPELLINGS: { readonly [K in Kind]?: Spellings } = {
  devices: new Map<string, (text: string) => string | undefined>([
    ["chassisId", chassisValue],
    ["serial", lowerCase],
    ["annotations.managementAddress", addressValue],
    ["annotations.name", lowerCase],
    ["annotations.sysName", lowerCase],
  ]),
  ports: new Map([
    ...MAC_ANNOTATIONS.map((key) => [`annotations.${key}`, canonicalMac] as const),
    ...NAME_ANNOTATIONS.map((key) => [`annotations.${key}`, lowerCase] as const),
  ]),
};

/** The claims of intended sources in order of precedence, and the value that they are merged into. */
interface Plan<K extends Kind> {
  readonly claims: readonly ClaimTypes[K][];
  readonly value: Entities[K];
}

/** The fields that the plan contains and that are observed with another value; undefined if there are none. */
function compareWithPlan<K extends Kind>(
  kind: K,
  { claims, value }: Plan<K>,
  observed: Entities[K],
): DriftFields | undefined {
  // The fields are collected as entries, because an assignment to the key __proto__ would set the prototype.
  const differing: [string, DriftFields[string]][] = [];
  const compare = (name: string, intended: unknown, actual: unknown) => {
    if (isSame(intended, actual) || isSameText(SPELLINGS[kind]?.get(name), intended, actual)) return;
    differing.push([name, { intended, ...(actual !== undefined && { observed: actual }) }]);
  };
  for (const field of namedIn(claims)) {
    if (field === "annotations" || NOT_COMPARED[kind].has(field)) continue;
    compare(field, fieldOf(value, field), fieldOf(observed, field));
  }
  for (const key of namedIn(claims.map(({ annotations }) => annotations ?? {})))
    compare(`annotations.${key}`, fieldOf(value.annotations, key), fieldOf(observed.annotations, key));
  return differing.length === 0 ? undefined : Object.fromEntries(differing);
}

/** Creates the drift of an entity. `since` is kept while the state stays the same. */
function driftSince(state: DriftState, now: string, before: Drift | undefined, fields?: DriftFields): Drift {
  const since = before?.state === state ? before.since : now;
  return { state, since, ...(fields && { fields }) };
}

/** The names of all fields that at least one of the objects has, sorted. An empty text counts as not claimed. */
function namedIn(objects: readonly object[]): string[] {
  const names = new Set<string>();
  for (const object of objects)
    for (const [name, value] of Object.entries(object))
      if (value !== undefined && value !== "") names.add(name);
  return [...names].sort();
}

const fieldOf = (object: object | undefined, name: string): unknown =>
  object && Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined;

function isSameText(
  toForm: ((text: string) => string | undefined) | undefined,
  intended: unknown,
  observed: unknown,
): boolean {
  if (!toForm || typeof intended !== "string" || typeof observed !== "string") return false;
  const [a, b] = [intended, observed].map((text) => text.trim().toLowerCase());
  return a !== undefined && b !== undefined && (toForm(a) ?? a) === (toForm(b) ?? b);
}

function isSame(intended: unknown, observed: unknown): boolean {
  if (!Array.isArray(intended)) return sameJson(intended, observed);
  const items = new Set(intended.map((item) => JSON.stringify(item)));
  const observedItems = Array.isArray(observed) ? observed.map((item) => JSON.stringify(item)) : [];
  return items.size === new Set(observedItems).size && observedItems.every((item) => items.has(item));
}
