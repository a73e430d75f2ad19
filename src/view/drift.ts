/**
 * Compares what is observed with what is intended. The functions are pure: the working set provides both values, merged
 * from the claims of the observed and of the intended sources.
 *
 * Only fields that the plan contains are compared: a field that no intended claim has is free. Lists are compared as sets
 * and annotations key by key. Fields that identify the entity are not compared, because both values belong to the same
 * entity, and neither are fields that only an observation can have. A value by which devices or ports are matched is
 * compared in the form in which it is matched: another spelling of a MAC address or serial number is the same value.
 */
import { sameJson } from "../lib/same-json.ts";
import { canonicalMac } from "../model/address.ts";
import type { ClaimTypes } from "../model/claim.ts";
import type { Drift, DriftState, Entities } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
import { addressValue, chassisValue } from "./identity/identity-values.ts";
import { MAC_ANNOTATIONS, NAME_ANNOTATIONS } from "./port-matching.ts";

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
export interface Plan<K extends Kind> {
  readonly claims: readonly ClaimTypes[K][];
  readonly value: Entities[K];
}

/** The fields that the plan contains and that are observed with another value; undefined if there are none. */
export function compareWithPlan<K extends Kind>(
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
export function driftSince(
  state: DriftState,
  now: string,
  before: Drift | undefined,
  fields?: DriftFields,
): Drift {
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
