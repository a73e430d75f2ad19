/**
 * Receives the claims of one source: validates each record, drops, counts and logs the invalid ones, and commits the rest.
 *
 * A large set is committed in slices. Each slice is one revision, and the event loop runs between slices, so that a
 * million hosts do not block readers. Calls of one source are committed in order and never interleave.
 */
import type { Logger } from "../lib/logger.ts";
import { yieldToLoop } from "../lib/yield-to-loop.ts";
import { type ClaimChange, type Claims, type ClaimTypes, canonicalClaim } from "../model/claim.ts";
import { idKey, KINDS, type Kind } from "../model/ids.ts";
import type { CanonicalChange } from "./commit.ts";
import type { Committer } from "./committer.ts";

const CHANGES_PER_SLICE = 10_000;
/** After this many invalid records only the count rises: a broken source must not flood the log. */
const MAX_LOGGED_RECORDS = 10;

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

  /** Invalid records so far. */
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
    const ofKind = <K extends Kind>(kind: K) => [...this.#committer.claimsOf(this.#source, kind)];
    return {
      devices: ofKind("devices"),
      ports: ofKind("ports"),
      links: ofKind("links"),
      hosts: ofKind("hosts"),
    };
  }

  async #commitInOrder(changes: Iterable<CanonicalChange>): Promise<void> {
    const commit = this.#lastCommit.then(() => this.#commit(changes));
    this.#lastCommit = commit.catch(() => {});
    await commit;
  }

  async #commit(changes: Iterable<CanonicalChange>): Promise<void> {
    let slice: CanonicalChange[] = [];
    for (const change of changes) {
      slice.push(change);
      if (slice.length < CHANGES_PER_SLICE) continue;
      await this.#committer.commit(this.#source, slice);
      slice = [];
      await yieldToLoop();
    }
    if (slice.length > 0) await this.#committer.commit(this.#source, slice);
  }

  *#checkChanges(changes: readonly ClaimChange[]): Generator<CanonicalChange> {
    for (const change of changes) {
      if (change.op === "remove") yield { kind: change.kind, id: change.id, claim: undefined };
      else {
        const checked = this.#check(change.kind, change.claim);
        if (checked) yield checked;
      }
    }
  }

  /** Additions come before removals: an entity that changes its id must not be missing from the graph in between. */
  *#checkReplacement(all: Claims): Generator<CanonicalChange> {
    const removals: { kind: Kind; ids: Set<string> }[] = [];
    for (const kind of KINDS) {
      const ids = new Set(this.#committer.claimedKeys(this.#source, kind));
      for (const record of all[kind] ?? []) {
        const checked = this.#check(kind, record);
        if (!checked) continue;
        ids.delete(idKey(kind, checked.id));
        yield checked;
      }
      removals.unshift({ kind, ids });
    }
    for (const { kind, ids } of removals) for (const id of ids) yield { kind, id, claim: undefined };
  }

  #check<K extends Kind>(kind: K, record: ClaimTypes[K]): CanonicalChange | undefined {
    const result = canonicalClaim(kind, record);
    if (result.ok) return { kind, id: result.id, claim: result.claim } as CanonicalChange;
    if (++this.#rejectedCount <= MAX_LOGGED_RECORDS) {
      const { field, message } = result.fault;
      this.#log.warn("record refused", { source: this.#source, kind, field, why: message });
    }
    return undefined;
  }
}
