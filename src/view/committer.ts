/**
 * Turns claims into revisions: the only writer of the log and the view.
 *
 * A commit determines what the claims of one source change (an equal claim changes nothing) and everything that follows:
 * which entities are held back, which links have a reverse, which links and hosts are in conflict. It appends the batch to
 * the log and then finishes the revision. All of it runs in one turn of the event loop, so that no reader sees half a
 * revision. When the append fails, the view is rolled back and the source gets the error.
 */
import type { Clock } from "../lib/clock.ts";
import { sameJson } from "../lib/same-json.ts";
import { yieldToLoop } from "../lib/yield-to-loop.ts";
import type { Batch, Log } from "../log/log.ts";
import type { ClaimTypes } from "../model/claim.ts";
import { idKey, KINDS, type Kind } from "../model/ids.ts";
import { type CanonicalChange, Commit } from "./commit.ts";
import { recoverClaim } from "./recover.ts";
import { parseStored, type View } from "./view.ts";
import { claimsKey } from "./working-set.ts";

const ENTITIES_PER_SLICE = 1000;

export type BatchListener = (batch: Batch) => void;

export class Committer {
  readonly view: View;
  readonly log: Log;
  readonly #clock: Clock;
  #precedence: readonly string[];
  readonly #listeners = new Set<BatchListener>();

  constructor(view: View, log: Log, clock: Clock, precedence: readonly string[]) {
    this.view = view;
    this.log = log;
    this.#clock = clock;
    this.#precedence = precedence;
  }

  /** The listener is called with each batch, in order, once the batch is durable and visible. */
  onBatch(listener: BatchListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns undefined when nothing changes. Throws `LogError` when the batch cannot be made durable. */
  commit(source: string, changes: Iterable<CanonicalChange>): Batch | undefined {
    return this.#commit((commit) => {
      for (const change of changes) commit.applyChange(source, change);
    });
  }

  /**
   * Replaces the order of precedence. What several sources claim is merged again in this order, in slices, so that a
   * large network does not block requests.
   */
  async setPrecedence(precedence: readonly string[]): Promise<void> {
    if (sameJson(precedence, this.#precedence)) return;
    this.#precedence = precedence;
    const stored = this.view.rangeWithIds("claims", "", "\uffff").map(({ id }) => id);
    for (let start = 0; start < stored.length; start += ENTITIES_PER_SLICE) {
      this.#commit((commit) => {
        for (const key of stored.slice(start, start + ENTITIES_PER_SLICE)) {
          const [name = "", id = ""] = key.split(" ");
          const kind = KINDS.find((candidate) => candidate === name);
          if (kind) commit.recheck(kind, id);
        }
      });
      await yieldToLoop();
    }
  }

  #commit(apply: (commit: Commit) => void): Batch | undefined {
    const { view } = this;
    const time = Math.max(this.#clock.now(), view.time);
    const revision = view.revision + 1;
    const commit = new Commit(view, this.#precedence, revision, time);
    let batch: Batch;
    try {
      apply(commit);
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

  /** The keys (see `idKey`) of the entities of one kind that `source` claims, both shown and held back. */
  *claimedKeys(source: string, kind: Kind): Generator<string> {
    const { view } = this;
    for (const id of view.indexes(kind).named("source").get(source)) yield idKey(kind, id);
    const prefix = claimsKey(kind, "");
    for (const stored of view.indexes("claims").named("source").get(source)) {
      if (!stored.startsWith(prefix)) continue;
      const key = stored.slice(prefix.length);
      if (!view.has(kind, view.shownId(kind, key))) yield key;
    }
  }

  /** The claims of `source` of one kind, in canonical form. */
  *claimsOf<K extends Kind>(source: string, kind: K): Generator<ClaimTypes[K]> {
    for (const key of this.claimedKeys(source, kind)) {
      const storedClaims = this.view.get("claims", claimsKey(kind, key));
      const text = this.view.get(kind, this.view.shownId(kind, key));
      if (storedClaims !== undefined) {
        const claims: readonly [string, ClaimTypes[K]][] = JSON.parse(storedClaims);
        for (const [name, claim] of claims) if (name === source) yield claim;
      } else if (text !== undefined) yield recoverClaim(kind, parseStored(kind, text));
    }
  }
}
