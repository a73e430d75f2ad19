/**
 * The working set of one commit for one kind of thing: its claims as they are now, what is due to be worked out anew,
 * and the value that follows. It works directly on the view, so that every look-up sees the newest state; `Scratch`
 * remembers what each value was, from which the ledger makes a batch, or undoes everything.
 */
import type { Entry, StoreKind } from "../log/log.ts";
import type { ClaimTypes } from "../model/claim.ts";
import type { Entities } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
import { type Body, mergeClaims } from "./merge.ts";
import { claimText, recoverClaim } from "./recover.ts";
import { parseStored, type View } from "./view.ts";

export interface Told<K extends Kind> {
  readonly source: string;
  readonly claim: ClaimTypes[K];
}

/** What the rest of the network says about a thing. */
export interface Flags {
  readonly reverse: boolean;
  readonly conflict: string | undefined;
}
/** Asked with the thing's value as it would be without flags. */
type FlagsOf<K extends Kind> = (body: Body<K>, told: readonly Told<K>[]) => Flags;
const NO_FLAGS: Flags = { reverse: false, conflict: undefined };

/** Where the explicit claims of a thing are kept. Ids hold no white space, so the blank parts kind and id. */
export const claimsKey = (kind: Kind, id: string): string => `${kind} ${id}`;

export class Scratch {
  readonly view: View;
  readonly revision: number;
  readonly time: number;
  readonly timeText: string;
  readonly #before = new Map<StoreKind, Map<string, string | null>>();

  constructor(view: View, revision: number, time: number) {
    this.view = view;
    this.revision = revision;
    this.time = time;
    this.timeText = new Date(time).toISOString();
  }

  /** The value before this commit. */
  before(kind: StoreKind, id: string): string | null {
    let values = this.#before.get(kind);
    if (!values) {
      values = new Map();
      this.#before.set(kind, values);
    }
    let before = values.get(id);
    if (before === undefined) {
      before = this.view.get(kind, id) ?? null;
      values.set(id, before);
    }
    return before;
  }

  put(kind: StoreKind, id: string, value: string | null): void {
    this.before(kind, id);
    this.view.put(kind, id, value, this.revision, this.time);
  }

  entries(): Entry[] {
    const entries: Entry[] = [];
    for (const [kind, values] of this.#before) {
      for (const [id, before] of values) {
        const after = this.view.get(kind, id) ?? null;
        if (before === after) continue;
        const changed =
          before !== null && after !== null && kind !== "claims" ? changedFields(before, after) : [];
        entries.push({ kind, id, before, after, changed });
      }
    }
    return entries;
  }
}

export class Working<K extends Kind> {
  readonly kind: K;
  readonly due = new Set<string>();
  readonly #scratch: Scratch;
  readonly #rank: ReadonlyMap<string, number>;
  readonly #told = new Map<string, readonly Told<K>[]>();
  readonly #flagsOf: FlagsOf<K>;

  constructor(
    kind: K,
    scratch: Scratch,
    rank: ReadonlyMap<string, number>,
    flagsOf: FlagsOf<K> = () => NO_FLAGS,
  ) {
    this.kind = kind;
    this.#scratch = scratch;
    this.#rank = rank;
    this.#flagsOf = flagsOf;
  }

  /** Puts in, replaces or (undefined) withdraws one source's claim of one thing. */
  claim(source: string, id: string, claim: ClaimTypes[K] | undefined): void {
    const told = this.told(id);
    const mine = told.find((one) => one.source === source);
    if (claim === undefined ? !mine : mine && this.#same(mine.claim, claim)) return;
    const others = told.filter((one) => one !== mine);
    this.#told.set(id, claim === undefined ? others : this.#ranked([...others, { source, claim }]));
    this.due.add(id);
  }

  lookAgain(id: string): void {
    this.#told.set(id, this.told(id));
    this.due.add(id);
  }

  value(id: string): Entities[K] | undefined {
    const text = this.#scratch.view.get(this.kind, id);
    return text === undefined ? undefined : parseStored(this.kind, text);
  }

  /** Works out the value of one thing from its claims and from what is around it now. */
  refresh(id: string): void {
    const told = this.told(id);
    this.#told.set(id, told);
    this.#scratch.put(this.kind, id, told.length === 0 ? null : this.#encode(id, told));
  }

  /** Keeps the claims of all that was touched, where they cannot be read off the value. */
  keepClaims(): void {
    for (const [id, told] of this.#told) {
      const [first] = told;
      const value = this.value(id);
      const readable =
        first && told.length === 1 && value && this.#same(recoverClaim(this.kind, value), first.claim);
      const explicit = JSON.stringify(told.map((one) => [one.source, one.claim]));
      this.#scratch.put("claims", claimsKey(this.kind, id), !first || readable ? null : explicit);
    }
  }

  told(id: string): readonly Told<K>[] {
    const known = this.#told.get(id);
    if (known) return known;
    const explicit = this.#scratch.view.get("claims", claimsKey(this.kind, id));
    if (explicit !== undefined) {
      const pairs: [string, ClaimTypes[K]][] = JSON.parse(explicit);
      return this.#ranked(pairs.map(([source, claim]) => ({ source, claim })));
    }
    const value = this.value(id);
    return value ? [{ source: value.sources[0] ?? "", claim: recoverClaim(this.kind, value) }] : [];
  }

  #same(a: ClaimTypes[K], b: ClaimTypes[K]): boolean {
    return claimText(this.kind, a) === claimText(this.kind, b);
  }

  #ranked(told: Told<K>[]): Told<K>[] {
    if (told.length < 2) return told;
    const rank = (one: Told<K>) => this.#rank.get(one.source) ?? this.#rank.size;
    return told.sort((a, b) => rank(a) - rank(b) || (a.source < b.source ? -1 : 1));
  }

  #encode(id: string, told: readonly Told<K>[]): string | null {
    const { view, time, timeText, revision } = this.#scratch;
    const before = this.#scratch.before(this.kind, id);
    const surroundings = {
      now: time,
      before: this.kind === "devices" && before !== null ? parseStored("devices", before) : undefined,
      deviceExists: (device: string) => view.has("devices", device),
    };
    const claims = told.map((one) => one.claim);
    const bare = mergeClaims(this.kind, claims, { ...surroundings, ...NO_FLAGS });
    if (!bare) return null;
    const sources = told.map((one) => one.source);
    const flags = this.#flagsOf(bare, told);
    const body = flags === NO_FLAGS ? bare : mergeClaims(this.kind, claims, { ...surroundings, ...flags });
    const head = JSON.stringify(body).slice(0, -1);
    const sourcesText = `"sources":${JSON.stringify(sources)},"revision":`;
    const at = before?.lastIndexOf(',"firstSeen":"') ?? -1;
    if (
      before !== null &&
      at === head.length &&
      before.startsWith(head) &&
      before.indexOf(sourcesText, at) > 0
    ) {
      return before;
    }
    const firstSeen = before === null ? timeText : before.slice(at + 14, before.indexOf('"', at + 14));
    return `${head},"firstSeen":"${firstSeen}","lastChanged":"${timeText}",${sourcesText}${revision}}`;
  }
}

/** The top-level fields that differ between two values, leaving out what changes with every change. */
function changedFields(before: string, after: string): string[] {
  const was: Record<string, unknown> = JSON.parse(before);
  const is: Record<string, unknown> = JSON.parse(after);
  const fields = new Set([...Object.keys(was), ...Object.keys(is)]);
  fields.delete("revision");
  fields.delete("lastChanged");
  return [...fields].filter((field) => !Bun.deepEquals(was[field], is[field]));
}
