/**
 * Turns claims into revisions: the one writer of the log and the view.
 *
 * A commit takes what one source says, finds out what that really changes (the same claim again is nothing), works
 * out every consequence (a link is held back until both its ends are there, knows whether its other direction is
 * known, is flagged when it shares a port with another; a host is held back without a place, and flagged when its
 * address is another's too), writes the batch to the log, and only then lets readers see it. All of it happens
 * within one turn of the event loop: nobody reads half a revision. When the log cannot be written, the view is put
 * back as it was and the source learns of it.
 */
import type { Clock } from "../lib/clock.ts";
import type { Batch, Log } from "../log/log.ts";
import type { ClaimTypes } from "../model/claim.ts";
import type { Kind } from "../model/ids.ts";
import { Commit } from "./commit.ts";
import { recoverClaim } from "./recover.ts";
import { parseStored, type View } from "./view.ts";
import { claimsKey } from "./working-set.ts";

/** A claim that has been through `canonicalClaim`, or a withdrawal. */
export type CheckedChange = {
  [K in Kind]: { readonly kind: K; readonly id: string; readonly claim: ClaimTypes[K] | undefined };
}[Kind];

export type BatchListener = (batch: Batch) => void;

export class Committer {
  readonly view: View;
  readonly log: Log;
  readonly #clock: Clock;
  readonly #precedence: readonly string[];
  readonly #listeners = new Set<BatchListener>();

  constructor(view: View, log: Log, clock: Clock, precedence: readonly string[]) {
    this.view = view;
    this.log = log;
    this.#clock = clock;
    this.#precedence = precedence;
  }

  /** Called with each batch once it is kept and visible, in order. */
  onBatch(listener: BatchListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Makes a batch of what really changes; undefined when nothing does. Throws `LogError` when it cannot be kept. */
  commit(source: string, changes: Iterable<CheckedChange>): Batch | undefined {
    const { view } = this;
    const time = Math.max(this.#clock.now(), view.time);
    const revision = view.revision + 1;
    const commit = new Commit(view, this.#precedence, revision, time);
    let batch: Batch;
    try {
      for (const change of changes) commit.addClaim(source, change);
      batch = { revision, time, entries: commit.mergeAll() };
      if (batch.entries.length === 0) return undefined;
      this.log.append(batch);
    } catch (error) {
      commit.rollBack();
      throw error;
    }
    view.finishRevision(batch);
    for (const listener of this.#listeners) listener(batch);
    return batch;
  }

  /** Ids of one kind that `source` claims, shown or held back. */
  *claimedIds(source: string, kind: Kind): Generator<string> {
    yield* this.view.indexes(kind).named("source").get(source);
    const prefix = claimsKey(kind, "");
    for (const key of this.view.indexes("claims").named("source").get(source)) {
      if (key.startsWith(prefix) && !this.view.has(kind, key.slice(prefix.length)))
        yield key.slice(prefix.length);
    }
  }

  /** What `source` claims of one kind, as it said it. */
  *claimsOf<K extends Kind>(source: string, kind: K): Generator<ClaimTypes[K]> {
    for (const id of this.claimedIds(source, kind)) {
      const explicit = this.view.get("claims", claimsKey(kind, id));
      const text = this.view.get(kind, id);
      if (explicit !== undefined) {
        const told: readonly [string, ClaimTypes[K]][] = JSON.parse(explicit);
        for (const [name, claim] of told) if (name === source) yield claim;
      } else if (text !== undefined) yield recoverClaim(kind, parseStored(kind, text));
    }
  }
}
