/** Reads the claims of one source from the view: the ids it uses, and its claims. */
import { ShardedSet } from "../lib/sharded-set.ts";
import { COST, Pause, type Steps } from "../lib/steps.ts";
import type { ClaimTypes } from "../model/claim.ts";
import { idKey, KINDS, type Kind } from "../model/ids.ts";
import { claimsKey, parseClaimsKey } from "./indexes.ts";
import { claimedKey, recoverClaim } from "./recover.ts";
import { parseStored, type View } from "./view.ts";

/** The keys (see `idKey`) of the ids that a source uses. */
export type ClaimedKeys = Readonly<Record<Kind, ShardedSet>>;

/** The keys of the entities that `source` claims, both shown and held back. */
export function* claimedKeysOf(view: View, source: string): Steps<ClaimedKeys> {
  const keys = {
    devices: new ShardedSet(),
    ports: new ShardedSet(),
    links: new ShardedSet(),
    hosts: new ShardedSet(),
  };
  for (const kind of KINDS) {
    yield* addEntityKeys(view, keys[kind], source, kind);
    yield* toClaimedKeys(view, keys[kind], source, kind);
  }
  return keys;
}

function* addEntityKeys(view: View, keys: ShardedSet, source: string, kind: Kind): Steps<void> {
  const pause = new Pause();
  for (const id of view.indexes(kind).named("source").current(source)) {
    keys.add(idKey(kind, id));
    if (pause.due(COST.key)) yield;
  }
  for (const stored of view.indexes("claims").named("source").current(source)) {
    const parsed = parseClaimsKey(stored);
    // Entities that are shown are in the set already.
    if (parsed?.kind === kind) keys.add(parsed.key);
    if (pause.due(COST.key)) yield;
  }
}

/** Replaces the keys of entities that the source claims under other ids by the keys of those ids. */
function* toClaimedKeys(view: View, keys: ShardedSet, source: string, kind: Kind): Steps<void> {
  const claimedKeys: string[] = [];
  const pause = new Pause();
  for (const stored of view.indexes("claims").named("movedFrom").current(source)) {
    const parsed = parseClaimsKey(stored);
    if (parsed?.kind !== kind) continue;
    keys.delete(parsed.key);
    const text = view.get("claims", stored) ?? "[]";
    for (const [name, claim] of parseStored("claims", text))
      if (name === source) claimedKeys.push(claimedKey(kind, claim));
    if (pause.due(COST.key, text.length)) yield;
  }
  for (const key of claimedKeys) keys.add(key);
}

/** The claims of `source` of one kind, in canonical form. */
export function* claimsOf<K extends Kind>(view: View, source: string, kind: K): Steps<ClaimTypes[K][]> {
  const found: ClaimTypes[K][] = [];
  const pause = new Pause();
  const keys = new ShardedSet();
  yield* addEntityKeys(view, keys, source, kind);
  for (const key of keys) {
    const storedClaims = view.get("claims", claimsKey(kind, key));
    const text = view.get(kind, view.spelledId(kind, key));
    if (storedClaims !== undefined) {
      const claims: readonly [string, ClaimTypes[K]][] = JSON.parse(storedClaims);
      for (const [name, claim] of claims) if (name === source) found.push(claim);
    } else if (text !== undefined) found.push(recoverClaim(kind, parseStored(kind, text)));
    if (pause.due(COST.key, (storedClaims ?? text)?.length)) yield;
  }
  return found;
}
