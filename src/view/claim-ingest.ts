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
  readonly #committer: Committer;
  readonly #source: string;
  readonly #log: Logger;
  #lastCommit: Promise<void> = Promise.resolve();
  #rejectedCount = 0;

  constructor(committer: Committer, source: string, log: Logger) {
    this.#committer = committer;
    this.#source = source;
    this.#log = log;
  }

  /** Records refused so far. */
  get rejectedCount(): number {
    return this.#rejectedCount;
  }

  replace(all: Claims): Promise<void> {
    return this.#commitInOrder(this.#checkReplacement(all));
  }

  apply(changes: readonly ClaimChange[]): Promise<void> {
    return this.#commitInOrder(this.#checkChanges(changes));
  }

  /** The claims of this source in the view, including those from before a restart of the service. */
  async lastClaims(): Promise<Claims> {
    await this.#lastCommit;
    const of = <K extends Kind>(kind: K) => [...this.#committer.claimsOf(this.#source, kind)];
    return { devices: of("devices"), ports: of("ports"), links: of("links"), hosts: of("hosts") };
  }

  async #commitInOrder(changes: Iterable<CheckedChange>): Promise<void> {
    const turn = this.#lastCommit.then(() => this.#commit(changes));
    this.#lastCommit = turn.catch(() => {});
    await turn;
  }

  async #commit(changes: Iterable<CheckedChange>): Promise<void> {
    let slice: CheckedChange[] = [];
    for (const change of changes) {
      slice.push(change);
      if (slice.length < SLICE) continue;
      this.#committer.commit(this.#source, slice);
      slice = [];
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (slice.length > 0) this.#committer.commit(this.#source, slice);
  }

  *#checkChanges(changes: readonly ClaimChange[]): Generator<CheckedChange> {
    for (const change of changes) {
      if (change.op === "remove") yield { kind: change.kind, id: change.id, claim: undefined };
      else {
        const checked = this.#check(change.kind, change.claim);
        if (checked) yield checked;
      }
    }
  }

  /** Sets before removals, so that what moved between two names never leaves a gap in the graph. */
  *#checkReplacement(all: Claims): Generator<CheckedChange> {
    const gone: { kind: Kind; ids: Set<string> }[] = [];
    for (const kind of KINDS) {
      const ids = new Set(this.#committer.claimedIds(this.#source, kind));
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
    if (++this.#rejectedCount <= MAX_LOGGED) {
      const { field, message } = result.fault;
      this.#log.warn("record refused", { source: this.#source, kind, field, why: message });
    }
    return undefined;
  }
}
