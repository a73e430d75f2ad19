/**
 * Where a source's claims come in: checks each record, drops, counts and logs the bad ones, and commits the rest.
 *
 * A large set is committed in slices, each a revision of its own, and the event loop runs between them: a million
 * hosts that arrive at once must not make readers wait. Two calls of one source never interleave.
 */
import type { Logger } from "../lib/logger.ts";
import { type ClaimChange, type Claims, type ClaimTypes, canonicalClaim } from "../model/claim.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import type { CheckedChange, Committer } from "./committer.ts";

const SLICE = 10_000;
/** Bad records logged one by one before only the count goes on: a broken source must not flood the diary. */
const MAX_LOGGED = 10;

export class ClaimIngest {
  readonly #ledger: Committer;
  readonly #source: string;
  readonly #log: Logger;
  #busy: Promise<void> = Promise.resolve();
  #refused = 0;

  constructor(ledger: Committer, source: string, log: Logger) {
    this.#ledger = ledger;
    this.#source = source;
    this.#log = log;
  }

  /** Records refused so far. */
  get refused(): number {
    return this.#refused;
  }

  replace(all: Claims): Promise<void> {
    return this.#inTurn(this.#replacement(all));
  }

  apply(changes: readonly ClaimChange[]): Promise<void> {
    return this.#inTurn(this.#checked(changes));
  }

  /** What this source claims now, as far as the view remembers: also from before a restart of the service. */
  async recall(): Promise<Claims> {
    await this.#busy;
    const of = <K extends Kind>(kind: K) => [...this.#ledger.claimsOf(this.#source, kind)];
    return { devices: of("devices"), ports: of("ports"), links: of("links"), hosts: of("hosts") };
  }

  async #inTurn(changes: Iterable<CheckedChange>): Promise<void> {
    const turn = this.#busy.then(() => this.#commit(changes));
    this.#busy = turn.catch(() => {});
    await turn;
  }

  async #commit(changes: Iterable<CheckedChange>): Promise<void> {
    let slice: CheckedChange[] = [];
    for (const change of changes) {
      slice.push(change);
      if (slice.length < SLICE) continue;
      this.#ledger.commit(this.#source, slice);
      slice = [];
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (slice.length > 0) this.#ledger.commit(this.#source, slice);
  }

  *#checked(changes: readonly ClaimChange[]): Generator<CheckedChange> {
    for (const change of changes) {
      if (change.op === "remove") yield { kind: change.kind, id: change.id, claim: undefined };
      else {
        const checked = this.#check(change.kind, change.claim);
        if (checked) yield checked;
      }
    }
  }

  /** Sets before removals, so that what moved between two names never leaves a gap in the graph. */
  *#replacement(all: Claims): Generator<CheckedChange> {
    const gone: { kind: Kind; ids: Set<string> }[] = [];
    for (const kind of KINDS) {
      const ids = new Set(this.#ledger.claimedBy(this.#source, kind));
      for (const record of all[kind] ?? []) {
        const checked = this.#check(kind, record);
        if (!checked) continue;
        ids.delete(checked.id);
        yield checked;
      }
      gone.unshift({ kind, ids });
    }
    for (const { kind, ids } of gone) for (const id of ids) yield { kind, id, claim: undefined };
  }

  #check<K extends Kind>(kind: K, record: ClaimTypes[K]): CheckedChange | undefined {
    const result = canonicalClaim(kind, record);
    if (result.ok) return { kind, id: result.id, claim: result.claim } as CheckedChange;
    if (++this.#refused <= MAX_LOGGED) {
      const { field, message } = result.fault;
      this.#log.warn("record refused", { source: this.#source, kind, field, why: message });
    }
    return undefined;
  }
}
