/**
 * The working set of one commit for one kind of thing: each thing touched, with what it was, who says what of it, and
 * the value that follows. It works directly on the view, so that every look-up sees the newest state, and remembers
 * what there was: from that the ledger makes a batch, or undoes everything. A value is read and parsed once.
 */
import { sameJson } from "../lib/same-json.ts";
import type { LogEntry, StoreKind } from "../log/log.ts";
import type { ClaimTypes } from "../model/claim.ts";
import type { Kind } from "../model/ids.ts";
import { type FlagInput, type DerivedFlags, mergeClaims } from "./merge.ts";
import { recoverClaim, sameClaim } from "./recover.ts";
import { type StoredValue, type View, storedValueOf } from "./view.ts";

export interface SourcedClaim<K extends Kind> {
  readonly source: string;
  readonly claim: ClaimTypes[K];
}

/** One thing in this commit. */
export interface TouchedEntity<K extends Kind> {
  readonly id: string;
  readonly before: StoredValue<K> | undefined;
  after: StoredValue<K> | undefined;
  /** Fields in which `now` differs from `before`. */
  changedFields: readonly string[];
  claims: readonly SourcedClaim<K>[];
  readonly storedClaimsBefore: StoredValue<"claims"> | undefined;
  storedClaims: StoredValue<"claims"> | undefined;
}

/** What is the same for all of a commit. */
export interface CommitContext {
  readonly view: View;
  readonly revision: number;
  readonly time: number;
  readonly timeText: string;
  readonly rank: ReadonlyMap<string, number>;
}

type ComputeFlags<K extends Kind> = (thing: FlagInput[K], told: readonly SourcedClaim<K>[]) => DerivedFlags;
const NO_FLAGS: DerivedFlags = { hasReverse: false, conflict: undefined };

/** Where the explicit claims of a thing are kept. Ids hold no white space, so the blank parts kind and id. */
export const claimsKey = (kind: Kind, id: string): string => `${kind} ${id}`;

export class WorkingSet<K extends Kind> {
  /** What must be worked out. May grow while it is walked through. */
  readonly pending = new Set<TouchedEntity<K>>();
  readonly #kind: K;
  readonly #context: CommitContext;
  readonly #computeFlags: ComputeFlags<K>;
  readonly #entities = new Map<string, TouchedEntity<K>>();

  constructor(kind: K, occasion: CommitContext, flagsOf: ComputeFlags<K> = () => NO_FLAGS) {
    this.#kind = kind;
    this.#context = occasion;
    this.#computeFlags = flagsOf;
  }

  /** Puts in, replaces or (undefined) withdraws one source's claim of one thing. */
  setClaim(source: string, id: string, claim: ClaimTypes[K] | undefined): void {
    const thing = this.entity(id);
    const mine = thing.claims.find((one) => one.source === source);
    if (claim === undefined ? !mine : mine && sameClaim(mine.claim, claim)) return;
    const others = thing.claims.filter((one) => one !== mine);
    thing.claims = claim === undefined ? others : this.#sortByPrecedence([...others, { source, claim }]);
    this.pending.add(thing);
  }

  recheck(id: string): void {
    this.pending.add(this.entity(id));
  }

  entity(id: string): TouchedEntity<K> {
    let thing = this.#entities.get(id);
    if (!thing) {
      const { view } = this.#context;
      const before = storedValueOf(this.#kind, view.get(this.#kind, id));
      const claims =
        view.size("claims") === 0
          ? undefined
          : storedValueOf("claims", view.get("claims", claimsKey(this.#kind, id)));
      const told = this.#claimsFrom(before, claims);
      thing = { id, before, after: before, changedFields: [], claims: told, storedClaimsBefore: claims, storedClaims: claims };
      this.#entities.set(id, thing);
    }
    return thing;
  }

  #claimsFrom(value: StoredValue<K> | undefined, claims: StoredValue<"claims"> | undefined): readonly SourcedClaim<K>[] {
    if (claims) {
      const pairs: readonly (readonly [string, ClaimTypes[K]])[] = JSON.parse(claims.text);
      return this.#sortByPrecedence(pairs.map(([source, claim]) => ({ source, claim })));
    }
    if (!value) return [];
    return [{ source: value.value.sources[0] ?? "", claim: recoverClaim(this.#kind, value.value) }];
  }

  #sortByPrecedence(told: SourcedClaim<K>[]): SourcedClaim<K>[] {
    if (told.length < 2) return told;
    const { rank } = this.#context;
    const place = (one: SourcedClaim<K>) => rank.get(one.source) ?? rank.size;
    return told.sort((a, b) => place(a) - place(b) || (a.source < b.source ? -1 : 1));
  }

  /** Works out the value of one thing from its claims and from what is around it now. */
  remerge(thing: TouchedEntity<K>): void {
    const next = this.#merge(thing);
    if (next === thing.after) return;
    this.#context.view.replaceValue(this.#kind, thing.id, thing.after, next);
    thing.after = next;
  }

  #merge(thing: TouchedEntity<K>): StoredValue<K> | undefined {
    const { claims, before } = thing;
    if (claims.length === 0) return undefined;
    const { view, time, timeText, revision } = this.#context;
    const values = claims.map((one) => one.claim);
    const value = mergeClaims(this.#kind, values, {
      now: time,
      before: before?.value,
      tracking: {
        firstSeen: before?.value.firstSeen ?? timeText,
        lastChanged: timeText,
        sources: claims.map((one) => one.source),
        revision,
      },
      deviceExists: (id) => view.graph.hasDevice(id),
      flagsOf: (known) => this.#computeFlags(known, claims),
    });
    if (!value) return undefined;
    thing.changedFields = before ? diffFields(before.value, value) : [];
    if (before && thing.changedFields.length === 0) return before;
    return { text: JSON.stringify(value), value };
  }

  /** Keeps the claims of all that was touched, where they cannot be read off the value. */
  storeClaims(): void {
    for (const thing of this.#entities.values()) {
      const { id, after, claims } = thing;
      const [first] = claims;
      const readable =
        first && claims.length === 1 && after && sameClaim(recoverClaim(this.#kind, after.value), first.claim);
      if (!first || readable) this.#setStoredClaims(id, thing, undefined);
      else {
        const value = claims.map((one) => [one.source, one.claim] as const);
        this.#setStoredClaims(id, thing, { text: JSON.stringify(value), value });
      }
    }
  }

  #setStoredClaims(id: string, thing: TouchedEntity<K>, claims: StoredValue<"claims"> | undefined): void {
    if (claims?.text === thing.storedClaims?.text) return;
    this.#context.view.replaceValue("claims", claimsKey(this.#kind, id), thing.storedClaims, claims);
    thing.storedClaims = claims;
  }

  /** What changed of the things themselves, and of the claims kept beside them. */
  *entries(): Generator<LogEntry> {
    for (const { id, before, after, changedFields } of this.#entities.values()) {
      if (before !== after) yield entryOf(this.#kind, id, before, after, before && after ? changedFields : []);
    }
    for (const { id, storedClaimsBefore, storedClaims } of this.#entities.values()) {
      if (storedClaimsBefore?.text !== storedClaims?.text) {
        yield entryOf("claims", claimsKey(this.#kind, id), storedClaimsBefore, storedClaims, []);
      }
    }
  }

  rollBack(): void {
    const { view } = this.#context;
    for (const { id, before, after, storedClaimsBefore, storedClaims } of this.#entities.values()) {
      if (before !== after) view.replaceValue(this.#kind, id, after, before);
      if (storedClaimsBefore !== storedClaims) view.replaceValue("claims", claimsKey(this.#kind, id), storedClaims, storedClaimsBefore);
    }
  }
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

/** The top-level fields that differ between two values, leaving out what changes with every change. */
function diffFields<T extends object>(before: T, after: T): string[] {
  const changed: string[] = [];
  for (const field in after) {
    const was = before[field];
    const is = after[field];
    if (was === is || field === "revision" || field === "lastChanged") continue;
    if (typeof is !== "object" || !sameJson(was, is)) changed.push(field);
  }
  for (const field in before) if (!(field in after)) changed.push(field);
  return changed;
}
