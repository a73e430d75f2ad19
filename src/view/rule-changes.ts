/**
 * Finds the entities that have to be merged again when the merge rules change: those whose value may depend on the
 * difference. An entity that stays the same when it is merged again is no change.
 */
import { COST, Pause, type Steps } from "../lib/steps.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import type { Commit } from "./commit.ts";
import { claimsKey, parseClaimsKey } from "./indexes.ts";
import type { MergeRules } from "./merge-rules.ts";
import type { View } from "./view.ts";

export interface Outdated {
  /** Kinds of which all entities are outdated. */
  readonly kinds: ReadonlySet<Kind>;
  /** Sources of which all entities are outdated. */
  readonly sources: ReadonlySet<string>;
  /** Sources of which the entities with stored claims are outdated, such as those that they share with others. */
  readonly sharedBy: ReadonlySet<string>;
  /** Whether all entities with stored claims are outdated. */
  readonly shared: boolean;
}

const NO_NAMES: ReadonlySet<string> = new Set();
export const NOTHING: Outdated = { kinds: new Set(), sources: NO_NAMES, sharedBy: NO_NAMES, shared: false };
export const EVERYTHING: Outdated = { ...NOTHING, kinds: new Set(KINDS) };

export const isNothing = ({ kinds, sources, sharedBy, shared }: Outdated): boolean =>
  kinds.size + sources.size + sharedBy.size === 0 && !shared;

export const unionOf = (a: Outdated, b: Outdated): Outdated => ({
  kinds: a.kinds.union(b.kinds),
  sources: a.sources.union(b.sources),
  sharedBy: a.sharedBy.union(b.sharedBy),
  shared: a.shared || b.shared,
});

export function outdatedBy(before: MergeRules, after: MergeRules): Outdated {
  const known = new Map(before.settings.sources.map((source) => [source.name, source]));
  const both = after.settings.sources.filter(({ name }) => known.has(name));
  const changed = both.filter(({ name, role, merge }) => {
    const source = known.get(name);
    return source?.role !== role || source.merge !== merge;
  });
  const isReordered = both.some(({ name }, i) => {
    const next = both[i + 1];
    return next !== undefined && before.compareRank(name, next.name) > 0;
  });
  const names = new Set([...before.facts.keys(), ...after.facts.keys()]);
  const sameRules =
    before.identity.length === after.identity.length &&
    before.identity.every((r) => after.identity.includes(r));
  const isRoleChanged = changed.some(({ name, role }) => known.get(name)?.role !== role);
  const [comparedBefore, compared] = [before.comparedKinds, after.comparedKinds];
  return {
    kinds: new Set([
      ...(isRoleChanged ? comparedBefore.union(compared) : comparedBefore.symmetricDifference(compared)),
      ...(sameRules && canJoin(before) === canJoin(after) ? [] : (["devices"] as const)),
    ]),
    sources: new Set(changed.map(({ name }) => name)),
    sharedBy: new Set([...names].filter((name) => before.isStale(name) !== after.isStale(name))),
    shared: isReordered,
  };
}

/** Whether devices can be joined. This decides whether an id that is claimed as a device may be an alias of another one. */
const canJoin = ({ joiningSources }: MergeRules): boolean => joiningSources.length > 0;

/** The keys of the outdated entities (see `claimsKey`). An entity may occur twice. */
export function* keysOf(view: View, { kinds, sources, sharedBy, shared }: Outdated): Steps<string[]> {
  const keys: string[] = [];
  const pause = new Pause();
  const add = function* (ids: Iterable<string>, keyOf: (id: string) => string | undefined): Steps<void> {
    for (const id of ids) {
      const key = keyOf(id);
      if (key !== undefined) keys.push(key);
      if (pause.due(COST.key)) yield;
    }
  };
  const state = view.capture();
  const asStored = (key: string): string => key;
  for (const kind of kinds) {
    for (const page of yield* state.pages(kind)) yield* add(page.ids(), (id) => claimsKey(kind, id));
  }
  /** The key of a stored claim whose entity is of `kinds` and not shown. */
  const ifNotShown = (stored: string): string | undefined => {
    const { kind, key } = parseClaimsKey(stored) ?? {};
    if (kind === undefined || key === undefined || !kinds.has(kind)) return undefined;
    return state.has(kind, state.spelledId(kind, key)) ? undefined : stored;
  };
  if (shared || kinds.size > 0) {
    for (const page of yield* state.pages("claims")) yield* add(page.ids(), shared ? asStored : ifNotShown);
  }
  for (const source of sources) {
    for (const kind of KINDS) {
      const ids = view.indexes(kind).named("source").current(source);
      yield* add(ids, (id) => claimsKey(kind, id));
    }
  }
  for (const source of sources.union(sharedBy)) {
    if (!shared) yield* add(view.indexes("claims").named("source").current(source), asStored);
  }
  return keys;
}

/** Merges these entities again by the rules of the commit. */
export function* recheckAll(commit: Commit, keys: readonly string[]): Steps<void> {
  const pause = new Pause();
  for (const stored of keys) {
    const parsed = parseClaimsKey(stored);
    if (parsed) commit.applyRules(parsed.kind, parsed.key);
    if (pause.due(COST.entity)) yield;
  }
}
