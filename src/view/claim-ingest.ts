/**
 * Receives the claims of one source: validates each record, drops, counts and logs the invalid ones, and commits the rest.
 *
 * Records are validated in steps on the scheduler. A large set is committed as several batches, each of which is one
 * revision, and other sources commit between them. Calls of one source are committed in order and never interleave.
 */
import type { Logger } from "../lib/logger.ts";
import { COST, Pause, type Steps } from "../lib/steps.ts";
import {
  type ClaimChange,
  type ClaimFault,
  type Claims,
  type ClaimTypes,
  canonicalClaim,
  maxLengthOf,
} from "../model/claim.ts";
import { idKey, KINDS, type Kind } from "../model/ids.ts";
import type { ClaimedKeys } from "./claims-of-source.ts";
import type { CanonicalChange } from "./commit.ts";
import type { Committer } from "./committer.ts";

const CHANGES_PER_BATCH = 1000;
/** A batch of large claims is complete earlier, because it is in memory several times until it is stored. */
const BYTES_PER_BATCH = 4 * 1024 * 1024;
/** After this many invalid records only the count increases, so that a broken source does not flood the log. */
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

  /** Number of invalid records so far. */
  get rejectedCount(): number {
    return this.#rejectedCount;
  }

  replace(all: Claims): Promise<void> {
    return this.#inOrder(() => this.#replace(all));
  }

  apply(changes: readonly ClaimChange[]): Promise<void> {
    return this.#inOrder(() => this.#commitAll(this.#checkChanges(changes)));
  }

  /** Counts and logs a record that is not committed. */
  reject(kind: Kind, { field, message, record }: ClaimFault): void {
    if (++this.#rejectedCount > MAX_LOGGED_RECORDS) return;
    this.#log.warn("record refused", { source: this.#source, kind, record, field, why: message });
  }

  /** The claims of this source in the view, including those from before a restart of the service. */
  async lastClaims(): Promise<Claims> {
    await this.#lastCommit;
    const committer = this.#committer;
    return {
      devices: await committer.claimsOf(this.#source, "devices"),
      ports: await committer.claimsOf(this.#source, "ports"),
      links: await committer.claimsOf(this.#source, "links"),
      hosts: await committer.claimsOf(this.#source, "hosts"),
    };
  }

  async #inOrder(commit: () => Promise<void>): Promise<void> {
    const committed = this.#lastCommit.then(commit);
    this.#lastCommit = committed.catch(() => {});
    await committed;
  }

  async #replace(all: Claims): Promise<void> {
    const claimed = await this.#committer.claimedKeys(this.#source);
    await this.#commitAll(this.#checkReplacement(all, claimed));
  }

  async #commitAll(changes: Iterable<CanonicalChange | undefined>): Promise<void> {
    const iterator = changes[Symbol.iterator]();
    for (;;) {
      const { batch, isLast } = await this.#committer.run(this.#source, nextBatch(iterator));
      if (batch.length > 0) await this.#committer.commit(this.#source, batch);
      if (isLast) break;
    }
    if (this.#committer.isMergeDue) await this.#committer.mergeAgain();
  }

  /** Validates changes. Undefined stands for a record that was rejected. */
  *#checkChanges(changes: readonly ClaimChange[]): Generator<CanonicalChange | undefined> {
    for (const change of changes) {
      if (change.op === "remove") yield { kind: change.kind, id: change.id, claim: undefined };
      else yield this.#check(change.kind, change.claim);
    }
  }

  /** Validates a replacement. Additions come first, so that an entity whose id changes is never missing from the graph. */
  *#checkReplacement(all: Claims, claimed: ClaimedKeys): Generator<CanonicalChange | undefined> {
    for (const kind of KINDS) {
      for (const record of all[kind] ?? []) {
        const checked = this.#check(kind, record);
        if (checked) claimed[kind].delete(idKey(kind, checked.id));
        yield checked;
      }
    }
    for (const kind of KINDS.toReversed())
      for (const id of claimed[kind]) yield { kind, id, claim: undefined };
  }

  #check<K extends Kind>(kind: K, record: ClaimTypes[K]): CanonicalChange | undefined {
    const result = canonicalClaim(kind, record);
    if (result.ok) return { kind, id: result.id, claim: result.claim } as CanonicalChange;
    this.reject(kind, result.fault);
    return undefined;
  }
}

interface NextBatch {
  readonly batch: readonly CanonicalChange[];
  readonly isLast: boolean;
}

function* nextBatch(changes: Iterator<CanonicalChange | undefined>): Steps<NextBatch> {
  const batch: CanonicalChange[] = [];
  const pause = new Pause();
  for (let bytes = 0; batch.length < CHANGES_PER_BATCH && bytes < BYTES_PER_BATCH; ) {
    const { value, done } = changes.next();
    if (done) return { batch, isLast: true };
    const length = value?.claim ? maxLengthOf(value.claim) : 0;
    if (value) batch.push(value);
    bytes += length;
    if (pause.due(COST.entity, length)) yield;
  }
  return { batch, isLast: false };
}
