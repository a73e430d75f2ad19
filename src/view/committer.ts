/**
 * Turns claims into revisions: the only writer of the log and the view.
 *
 * A commit determines what the claims of one source change (an equal claim changes nothing) and everything that follows:
 * which entities are held back, which links have a reverse, which links and hosts are in conflict. It runs in steps on the
 * scheduler, beside what readers see. Once the batch is durable, it becomes visible at once. One batch is prepared at a
 * time, and sources take turns. When the append fails, nothing has become visible, and the source gets the error.
 */
import type { Clock } from "../lib/clock.ts";
import { FairSemaphore } from "../lib/fair-semaphore.ts";
import { sameJson } from "../lib/same-json.ts";
import { Scheduler } from "../lib/scheduler.ts";
import { ShardedSet } from "../lib/sharded-set.ts";
import type { Steps } from "../lib/steps.ts";
import type { Batch, Log, LogEntry } from "../log/log.ts";
import type { ClaimTypes } from "../model/claim.ts";
import { idKey, KINDS, type Kind } from "../model/ids.ts";
import type { MergeSettings } from "../model/merge-settings.ts";
import { type CanonicalChange, Commit } from "./commit.ts";
import type { BatchListener } from "./history.ts";
import { claimsKey, parseClaimsKey } from "./indexes.ts";
import { MergeRules, type SourceFacts } from "./merge-rules.ts";
import { plannedKindsOf } from "./planned-kinds.ts";
import { claimedKey, recoverClaim } from "./recover.ts";
import {
  EVERYTHING,
  isNothing,
  keysOf,
  NOTHING,
  type Outdated,
  outdatedBy,
  unionOf,
} from "./rule-changes.ts";
import { parseStored, type View } from "./view.ts";

const RECHECKS_PER_BATCH = 500;
const RECHECKS_PER_STEP = 32;
const KEYS_PER_STEP = 500;
/** The owner of work that no source caused. */
const VIEW_OWNER = "view";
/** The setting that the log has while values may have been merged by earlier rules. */
const UNMERGED = "unmerged";

/** The keys (see `idKey`) of the ids that a source uses. */
export type ClaimedKeys = Readonly<Record<Kind, ShardedSet>>;

export class Committer {
  readonly view: View;
  readonly log: Log;
  readonly scheduler: Scheduler;
  readonly #clock: Clock;
  #rules: MergeRules;
  /** The rules as the log has them, and whether it has `UNMERGED`. */
  #stored: { readonly rules: MergeRules | undefined; readonly isUnmerged: boolean };
  /** What may have been merged by earlier rules. */
  #outdated: Outdated;
  #beingMerged: Outdated = NOTHING;
  /** Whether the settings must be stored although no value changes. */
  #mustStore = false;
  #remerging: Promise<void> | undefined;
  readonly #listeners = new Set<BatchListener>();
  readonly #turns = new FairSemaphore(1);
  /** The default is that of `Commit`. */
  readonly #entitiesPerStep: number | undefined;

  constructor(
    view: View,
    log: Log,
    clock: Clock,
    settings: MergeSettings,
    scheduler: Scheduler = new Scheduler(),
    entitiesPerStep?: number,
  ) {
    this.#entitiesPerStep = entitiesPerStep;
    this.view = view;
    this.log = log;
    this.scheduler = scheduler;
    this.#clock = clock;
    const isUnmerged = view.has("settings", UNMERGED);
    const stored = view.has("settings", "merge") ? MergeRules.read(view) : undefined;
    this.#stored = { rules: stored, isUnmerged };
    this.#rules = (stored ?? new MergeRules(settings)).withSettings(settings);
    if (view.revision === 0) this.#outdated = NOTHING;
    else this.#outdated = stored && !isUnmerged ? outdatedBy(stored, this.#rules) : EVERYTHING;
  }

  /** The rules of the next commit. */
  get rules(): MergeRules {
    return this.#rules;
  }

  /** The listener is called with each batch, in order, once the batch is durable and visible. */
  onBatch(listener: BatchListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Runs a computation for a source. */
  async run<Result>(source: string, steps: Steps<Result>): Promise<Result> {
    return this.scheduler.run(ownerOf(source), steps);
  }

  /** Runs a computation that must not overlap with a commit. */
  runBetweenCommits<Result>(source: string, steps: Steps<Result>): Promise<Result> {
    return this.#turns.run(ownerOf(source), () => this.run(source, steps));
  }

  /** Resolves to undefined when nothing changes. Rejects with `LogError` when the batch cannot be made durable. */
  commit(source: string, changes: Iterable<CanonicalChange>): Promise<Batch | undefined> {
    return this.#commit(ownerOf(source), (commit) => commit.applyChanges(source, changes));
  }

  /**
   * Replaces the settings. A source that is not in them any more keeps its role until `forgetSource`. This and the other
   * changes of the rules hold for every commit that begins after the call, and are stored with the next batch. They resolve
   * when what they concern is merged again.
   */
  async setSettings(settings: MergeSettings): Promise<void> {
    const next = this.#rules.withSettings(settings);
    if (!sameJson(next.settings, this.#rules.settings)) await this.#changeRules(next, false);
  }

  /** Ignored for a source that is not configured. */
  async setSourceFacts(source: string, facts: SourceFacts): Promise<void> {
    const before = this.#rules.facts.get(source);
    if (!this.#rules.isConfigured(source) || sameJson(before, facts)) return;
    // A time must not be lost by a restart. That it has synced once is known again soon.
    const isStatusChange = before?.staleSince !== facts.staleSince;
    await this.#changeRules(this.#rules.withFacts(source, facts), isStatusChange);
  }

  /** Whether `mergeAgain` is due: by what the plan contains, or because a batch of it could not be stored. */
  get isMergeDue(): boolean {
    return this.#hasOtherPlannedKinds || (this.#isOutdated && this.#remerging === undefined);
  }

  /** Whether the plan contains other kinds than those that values were compared with. */
  get #hasOtherPlannedKinds(): boolean {
    const { plannedKinds, intendedSources } = this.#rules;
    if (plannedKinds.size + intendedSources.length === 0) return false;
    return plannedKindsOf(this.view, this.#rules).symmetricDifference(plannedKinds).size > 0;
  }

  /** Removes what is stored of a source that has no claims any more. */
  async forgetSource(source: string): Promise<void> {
    if (this.#rules.isConfigured(source)) await this.#changeRules(this.#rules.withoutSource(source), true);
  }

  async #changeRules(next: MergeRules, mustStore: boolean): Promise<void> {
    this.#setRules(next, mustStore);
    await this.mergeAgain();
  }

  #setRules(next: MergeRules, mustStore: boolean): void {
    this.#outdated = unionOf(this.#outdated, outdatedBy(this.#rules, next));
    this.#rules = next;
    this.#mustStore ||= mustStore;
  }

  /**
   * Merges again what was merged by earlier rules, also those of before a restart. This takes several revisions where it is
   * much, so that the commits of sources are not delayed. Changes of the rules meanwhile are included.
   */
  async mergeAgain(): Promise<void> {
    if (this.isMergeDue) this.#remerging ??= this.#mergeOutdated();
    await this.#remerging;
  }

  get #isOutdated(): boolean {
    return this.#mustStore || !isNothing(this.#outdated);
  }

  async #mergeOutdated(): Promise<void> {
    try {
      for (;;) {
        if (this.#hasOtherPlannedKinds)
          this.#setRules(this.#rules.withPlannedKinds(plannedKindsOf(this.view, this.#rules)), true);
        if (!this.#isOutdated) break;
        this.#beingMerged = this.#outdated;
        this.#outdated = NOTHING;
        await this.#mergeAll(this.#beingMerged);
      }
    } finally {
      // Nothing, unless a batch could not be stored.
      this.#outdated = unionOf(this.#outdated, this.#beingMerged);
      this.#beingMerged = NOTHING;
      this.#remerging = undefined;
    }
  }

  async #mergeAll(outdated: Outdated): Promise<void> {
    let keys: readonly string[] | undefined;
    for (let start = 0; keys === undefined || start < keys.length; start += RECHECKS_PER_BATCH) {
      const end = start + RECHECKS_PER_BATCH;
      const apply = function* (this: Committer, commit: Commit): Steps<void> {
        keys ??= yield* keysOf(this.view, outdated);
        yield* recheckAll(commit, keys.slice(start, end));
      };
      try {
        await this.#commit(VIEW_OWNER, apply.bind(this), () => {
          if (end >= (keys?.length ?? 0)) this.#beingMerged = NOTHING;
        });
      } catch (error) {
        this.#beingMerged = outdated;
        throw error;
      }
    }
  }

  /** `onMerged` is called when all changes are known, before they are stored. */
  #commit(
    owner: string,
    apply: (commit: Commit) => Steps<void>,
    onMerged = () => {},
  ): Promise<Batch | undefined> {
    return this.#turns.run(owner, () => this.#commitNow(owner, apply, onMerged));
  }

  async #commitNow(
    owner: string,
    apply: (commit: Commit) => Steps<void>,
    onMerged: () => void,
  ): Promise<Batch | undefined> {
    const { view, log, scheduler } = this;
    const time = Math.max(this.#clock.now(), view.time);
    const revision = view.revision + 1;
    const rules = this.#rules;
    const commit = new Commit(view, rules, revision, time, this.#entitiesPerStep);
    try {
      const entries = await scheduler.run(owner, mergeChanges(commit, apply));
      onMerged();
      const settings = { rules, isUnmerged: !isNothing(this.#outdated) || !isNothing(this.#beingMerged) };
      const mustStore = this.#mustStore || (this.#stored.isUnmerged && !settings.isUnmerged);
      if (entries.length > 0 || mustStore) this.#addSettings(entries, settings);
      if (entries.length > 0) {
        const batch = { revision, time, entries };
        const [prepared] = await Promise.all([scheduler.run(owner, view.prepare(batch)), log.append(batch)]);
        view.publish(prepared);
        this.#stored = settings;
        if (rules === this.#rules) this.#mustStore = false;
        for (const listener of this.#listeners) listener(batch, prepared.bytes);
        await scheduler.run(owner, view.tidyIndexes());
        return batch;
      }
    } catch (error) {
      await scheduler.run(owner, commit.rollBack());
      throw error;
    }
    if (rules === this.#rules) this.#mustStore = false;
    view.endIndexChange();
    return undefined;
  }

  /** Adds what differs from the settings that the log has. */
  #addSettings(entries: LogEntry[], { rules, isUnmerged }: { rules: MergeRules; isUnmerged: boolean }): void {
    if (rules === this.#stored.rules && isUnmerged === this.#stored.isUnmerged) return;
    const next = new Map([...rules.stored()].map(([id, value]) => [id, JSON.stringify(value)]));
    if (isUnmerged) next.set(UNMERGED, "{}");
    const before = new Map(
      Array.from(this.view.range("settings", "", "\uffff"), ({ id, text }) => [id, text]),
    );
    for (const id of new Set([...before.keys(), ...next.keys()])) {
      const [from = null, to = null] = [before.get(id), next.get(id)];
      if (from !== to) entries.push({ kind: "settings", id, before: from, after: to, changed: [] });
    }
  }

  /** The entities that `source` claims, both shown and held back. */
  claimedKeys(source: string): Promise<ClaimedKeys> {
    return this.runBetweenCommits(source, this.#claimedKeys(source));
  }

  *#claimedKeys(source: string): Steps<ClaimedKeys> {
    const keys = {
      devices: new ShardedSet(),
      ports: new ShardedSet(),
      links: new ShardedSet(),
      hosts: new ShardedSet(),
    };
    for (const kind of KINDS) {
      yield* this.#addEntityKeys(keys[kind], source, kind);
      yield* this.#toClaimedKeys(keys[kind], source, kind);
    }
    return keys;
  }

  *#addEntityKeys(keys: ShardedSet, source: string, kind: Kind): Steps<void> {
    const { view } = this;
    let left = KEYS_PER_STEP;
    for (const id of view.indexes(kind).named("source").current(source)) {
      keys.add(idKey(kind, id));
      if (--left > 0) continue;
      left = KEYS_PER_STEP;
      yield;
    }
    for (const stored of view.indexes("claims").named("source").current(source)) {
      const parsed = parseClaimsKey(stored);
      // Those that are shown are in the set already.
      if (parsed?.kind === kind) keys.add(parsed.key);
      if (--left > 0) continue;
      left = KEYS_PER_STEP;
      yield;
    }
  }

  /** Replaces the entities with claims under other ids by these ids. */
  *#toClaimedKeys(keys: ShardedSet, source: string, kind: Kind): Steps<void> {
    const { view } = this;
    const claimedKeys: string[] = [];
    let left = KEYS_PER_STEP;
    for (const stored of view.indexes("claims").named("movedFrom").current(source)) {
      const parsed = parseClaimsKey(stored);
      if (parsed?.kind !== kind) continue;
      keys.delete(parsed.key);
      for (const [name, claim] of parseStored("claims", view.get("claims", stored) ?? "[]"))
        if (name === source) claimedKeys.push(claimedKey(kind, claim));
      if (--left > 0) continue;
      left = KEYS_PER_STEP;
      yield;
    }
    for (const key of claimedKeys) keys.add(key);
  }

  /** The claims of `source` of one kind, in canonical form. */
  claimsOf<K extends Kind>(source: string, kind: K): Promise<ClaimTypes[K][]> {
    return this.runBetweenCommits(source, this.#claimsOf(source, kind));
  }

  *#claimsOf<K extends Kind>(source: string, kind: K): Steps<ClaimTypes[K][]> {
    const { view } = this;
    const found: ClaimTypes[K][] = [];
    let left = KEYS_PER_STEP;
    const keys = new ShardedSet();
    yield* this.#addEntityKeys(keys, source, kind);
    for (const key of keys) {
      const storedClaims = view.get("claims", claimsKey(kind, key));
      const text = view.get(kind, view.spelledId(kind, key));
      if (storedClaims !== undefined) {
        const claims: readonly [string, ClaimTypes[K]][] = JSON.parse(storedClaims);
        for (const [name, claim] of claims) if (name === source) found.push(claim);
      } else if (text !== undefined) found.push(recoverClaim(kind, parseStored(kind, text)));
      if (--left > 0) continue;
      left = KEYS_PER_STEP;
      yield;
    }
    return found;
  }
}

const ownerOf = (source: string): string => `source:${source}`;

function* mergeChanges(commit: Commit, apply: (commit: Commit) => Steps<void>): Steps<LogEntry[]> {
  yield* apply(commit);
  return yield* commit.mergeAll();
}

function* recheckAll(commit: Commit, keys: readonly string[]): Steps<void> {
  let rechecked = 0;
  for (const stored of keys) {
    const parsed = parseClaimsKey(stored);
    if (parsed) commit.applyRules(parsed.kind, parsed.key);
    if (++rechecked % RECHECKS_PER_STEP === 0) yield;
  }
}
