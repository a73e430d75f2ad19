/**
 * The working set of one commit for one kind of thing: each thing touched, with what it was, who says what of it, and
 * the value that follows. It works directly on the view, so that every look-up sees the newest state, and remembers
 * what there was: from that the ledger makes a batch, or undoes everything. A value is read and parsed once.
 */
import { sameJson } from "../lib/same-json.ts";
import type { Entry, StoreKind } from "../log/log.ts";
import type { ClaimTypes } from "../model/claim.ts";
import type { Kind } from "../model/ids.ts";
import { type Flaggable, type Flags, mergeClaims } from "./merge.ts";
import { recoverClaim, sameClaim } from "./recover.ts";
import { type Version, type View, versionOf } from "./view.ts";

export interface SourcedClaim<K extends Kind> {
  readonly source: string;
  readonly claim: ClaimTypes[K];
}

/** One thing in this commit. */
export interface TouchedEntity<K extends Kind> {
  readonly id: string;
  readonly before: Version<K> | undefined;
  now: Version<K> | undefined;
  /** Fields in which `now` differs from `before`. */
  changed: readonly string[];
  told: readonly SourcedClaim<K>[];
  readonly claimsBefore: Version<"claims"> | undefined;
  claims: Version<"claims"> | undefined;
}

/** What is the same for all of a commit. */
export interface CommitContext {
  readonly view: View;
  readonly revision: number;
  readonly time: number;
  readonly timeText: string;
  readonly rank: ReadonlyMap<string, number>;
}

type FlagsOf<K extends Kind> = (thing: Flaggable[K], told: readonly SourcedClaim<K>[]) => Flags;
const NO_FLAGS: Flags = { reverse: false, conflict: undefined };

/** Where the explicit claims of a thing are kept. Ids hold no white space, so the blank parts kind and id. */
export const claimsKey = (kind: Kind, id: string): string => `${kind} ${id}`;

export class WorkingSet<K extends Kind> {
  /** What must be worked out. May grow while it is walked through. */
  readonly due = new Set<TouchedEntity<K>>();
  readonly #kind: K;
  readonly #occasion: CommitContext;
  readonly #flagsOf: FlagsOf<K>;
  readonly #things = new Map<string, TouchedEntity<K>>();

  constructor(kind: K, occasion: CommitContext, flagsOf: FlagsOf<K> = () => NO_FLAGS) {
    this.#kind = kind;
    this.#occasion = occasion;
    this.#flagsOf = flagsOf;
  }

  /** Puts in, replaces or (undefined) withdraws one source's claim of one thing. */
  claim(source: string, id: string, claim: ClaimTypes[K] | undefined): void {
    const thing = this.thing(id);
    const mine = thing.told.find((one) => one.source === source);
    if (claim === undefined ? !mine : mine && sameClaim(mine.claim, claim)) return;
    const others = thing.told.filter((one) => one !== mine);
    thing.told = claim === undefined ? others : this.#ranked([...others, { source, claim }]);
    this.due.add(thing);
  }

  lookAgain(id: string): void {
    this.due.add(this.thing(id));
  }

  thing(id: string): TouchedEntity<K> {
    let thing = this.#things.get(id);
    if (!thing) {
      const { view } = this.#occasion;
      const before = versionOf(this.#kind, view.get(this.#kind, id));
      const claims =
        view.size("claims") === 0
          ? undefined
          : versionOf("claims", view.get("claims", claimsKey(this.#kind, id)));
      const told = this.#toldBy(before, claims);
      thing = { id, before, now: before, changed: [], told, claimsBefore: claims, claims };
      this.#things.set(id, thing);
    }
    return thing;
  }

  #toldBy(value: Version<K> | undefined, claims: Version<"claims"> | undefined): readonly SourcedClaim<K>[] {
    if (claims) {
      const pairs: readonly (readonly [string, ClaimTypes[K]])[] = JSON.parse(claims.text);
      return this.#ranked(pairs.map(([source, claim]) => ({ source, claim })));
    }
    if (!value) return [];
    return [{ source: value.value.sources[0] ?? "", claim: recoverClaim(this.#kind, value.value) }];
  }

  #ranked(told: SourcedClaim<K>[]): SourcedClaim<K>[] {
    if (told.length < 2) return told;
    const { rank } = this.#occasion;
    const place = (one: SourcedClaim<K>) => rank.get(one.source) ?? rank.size;
    return told.sort((a, b) => place(a) - place(b) || (a.source < b.source ? -1 : 1));
  }

  /** Works out the value of one thing from its claims and from what is around it now. */
  refresh(thing: TouchedEntity<K>): void {
    const next = this.#work(thing);
    if (next === thing.now) return;
    this.#occasion.view.change(this.#kind, thing.id, thing.now, next);
    thing.now = next;
  }

  #work(thing: TouchedEntity<K>): Version<K> | undefined {
    const { told, before } = thing;
    if (told.length === 0) return undefined;
    const { view, time, timeText, revision } = this.#occasion;
    const claims = told.map((one) => one.claim);
    const value = mergeClaims(this.#kind, claims, {
      now: time,
      before: before?.value,
      tracking: {
        firstSeen: before?.value.firstSeen ?? timeText,
        lastChanged: timeText,
        sources: told.map((one) => one.source),
        revision,
      },
      deviceExists: (id) => view.graph.hasDevice(id),
      flagsOf: (known) => this.#flagsOf(known, told),
    });
    if (!value) return undefined;
    thing.changed = before ? changedFields(before.value, value) : [];
    if (before && thing.changed.length === 0) return before;
    return { text: JSON.stringify(value), value };
  }

  /** Keeps the claims of all that was touched, where they cannot be read off the value. */
  keepClaims(): void {
    for (const thing of this.#things.values()) {
      const { id, now, told } = thing;
      const [first] = told;
      const readable =
        first && told.length === 1 && now && sameClaim(recoverClaim(this.#kind, now.value), first.claim);
      if (!first || readable) this.#keep(id, thing, undefined);
      else {
        const value = told.map((one) => [one.source, one.claim] as const);
        this.#keep(id, thing, { text: JSON.stringify(value), value });
      }
    }
  }

  #keep(id: string, thing: TouchedEntity<K>, claims: Version<"claims"> | undefined): void {
    if (claims?.text === thing.claims?.text) return;
    this.#occasion.view.change("claims", claimsKey(this.#kind, id), thing.claims, claims);
    thing.claims = claims;
  }

  /** What changed of the things themselves, and of the claims kept beside them. */
  *entries(): Generator<Entry> {
    for (const { id, before, now, changed } of this.#things.values()) {
      if (before !== now) yield entryOf(this.#kind, id, before, now, before && now ? changed : []);
    }
    for (const { id, claimsBefore, claims } of this.#things.values()) {
      if (claimsBefore?.text !== claims?.text) {
        yield entryOf("claims", claimsKey(this.#kind, id), claimsBefore, claims, []);
      }
    }
  }

  undo(): void {
    const { view } = this.#occasion;
    for (const { id, before, now, claimsBefore, claims } of this.#things.values()) {
      if (before !== now) view.change(this.#kind, id, now, before);
      if (claimsBefore !== claims) view.change("claims", claimsKey(this.#kind, id), claims, claimsBefore);
    }
  }
}

function entryOf<K extends StoreKind>(
  kind: K,
  id: string,
  before: Version<K> | undefined,
  after: Version<K> | undefined,
  changed: readonly string[],
): Entry {
  return { kind, id, before: before?.text ?? null, after: after?.text ?? null, changed };
}

/** The top-level fields that differ between two values, leaving out what changes with every change. */
function changedFields<T extends object>(before: T, after: T): string[] {
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
