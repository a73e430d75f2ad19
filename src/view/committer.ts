/**
 * Turns claims into revisions: the only writer of the log and the view.
 *
 * A commit determines what the claims of one source change (an equal claim changes nothing) and everything that follows:
 * which entities are held back, which links have a reverse, which links and hosts are in conflict. It appends the batch to
 * the log and then applies it to the view, within one turn of the event loop, so that no reader sees half a revision.
 * Commits run one after the other. When the append fails, the view is unchanged and the source gets the error.
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
  #lastCommit: Promise<unknown> = Promise.resolve();

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

  /** Resolves to undefined when nothing changes. Rejects with `LogError` when the batch cannot be made durable. */
  commit(source: string, changes: Iterable<CanonicalChange>): Promise<Batch | undefined> {
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
      await this.#commit((commit) => {
        for (const key of stored.slice(start, start + ENTITIES_PER_SLICE)) {
          const [name = "", id = ""] = key.split(" ");
          const kind = KINDS.find((candidate) => candidate === name);
          if (kind) commit.recheck(kind, id);
        }
      });
      await yieldToLoop();
    }
  }

  #commit(apply: (commit: Commit) => void): Promise<Batch | undefined> {
    const batch = this.#lastCommit.then(() => this.#commitNow(apply));
    this.#lastCommit = batch.catch(() => {});
    return batch;
  }

  async #commitNow(apply: (commit: Commit) => void): Promise<Batch | undefined> {
    const batch = this.#prepare(apply);
    if (batch.entries.length === 0) return undefined;
    await this.log.append(batch);
    this.view.apply(batch);
    for (const listener of this.#listeners) listener(batch);
    return batch;
  }

  /** The view is as before when this returns: the batch is not durable yet, and so not visible. */
  #prepare(apply: (commit: Commit) => void): Batch {
    const { view } = this;
    const time = Math.max(this.#clock.now(), view.time);
    const revision = view.revision + 1;
    const commit = new Commit(view, this.#precedence, revision, time);
    try {
      apply(commit);
      return { revision, time, entries: commit.mergeAll() };
    } finally {
      commit.rollBack();
    }
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
