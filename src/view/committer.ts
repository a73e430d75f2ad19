/**
 * Turns claims into revisions. This is the only writer of the log and the view.
 *
 * A commit determines what the claims of one source change (an equal claim changes nothing) and everything that follows:
 * which entities are held back, which links have a reverse, which links and hosts are in conflict. It runs in steps on the
 * scheduler, separately from what readers see. Once the batch is durable, it becomes visible at once. One batch is prepared
 * at a time, and sources take turns. When the append fails, nothing has become visible, and the source gets the error.
 *
 * In a cluster other nodes append too. Their batches become visible between commits; a commit that was overtaken by one is
 * rolled back and computed again.
 */
import type { Clock } from "../lib/clock.ts";
import { FairSemaphore } from "../lib/fair-semaphore.ts";
import { sameJson } from "../lib/same-json.ts";
import { Scheduler } from "../lib/scheduler.ts";
import type { Steps } from "../lib/steps.ts";
import { yieldToLoop } from "../lib/yield-to-loop.ts";
import { type Batch, type Log, type LogEntry, LogError } from "../log/log.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import type { MergeSettings } from "../model/merge-settings.ts";
import { type CanonicalChange, Commit } from "./commit.ts";
import type { BatchListener } from "./history.ts";
import { plannedKindKey } from "./indexes.ts";
import { MergeRules, type SourceFacts } from "./merge-rules.ts";
import type { PreparedRevision } from "./prepare-revision.ts";
import {
  EVERYTHING,
  isNothing,
  keysOf,
  NOTHING,
  type Outdated,
  outdatedBy,
  recheckAll,
  unionOf,
} from "./rule-changes.ts";
import type { View } from "./view.ts";

/* The collection `settings`: the merge rules that are stored in the log, and the entries to write when they change. */

/** The key of the setting that the log has while some values may have been merged by earlier rules. */
const UNMERGED = "unmerged";

interface StoredSettings {
  readonly rules: MergeRules;
  /** Whether `UNMERGED` is set. */
  readonly isUnmerged: boolean;
}

/** The entries for the settings that differ from those in the log. */
function settingsEntries(view: View, { rules, isUnmerged }: StoredSettings): LogEntry[] {
  const next = new Map([...rules.stored()].map(([id, value]) => [id, JSON.stringify(value)]));
  if (isUnmerged) next.set(UNMERGED, "{}");
  const before = new Map(Array.from(view.range("settings", "", "\uffff"), ({ id, text }) => [id, text]));
  const entries: LogEntry[] = [];
  for (const id of new Set([...before.keys(), ...next.keys()])) {
    const [from = null, to = null] = [before.get(id), next.get(id)];
    if (from !== to) entries.push({ kind: "settings", id, before: from, after: to, changed: [] });
  }
  return entries;
}

/*
 * The kinds that the plan contains: those of which an intended source claims an entity. A source counts from its first
 * sync, because its plan is not complete before, and entities that it does not contain yet must not become `unplanned`.
 */

/** Must be called between commits. */
function plannedKindsOf(view: View, { intendedSources, facts }: MergeRules): ReadonlySet<Kind> {
  const index = view.indexes("claims").named("plannedKind");
  const complete = intendedSources.filter((source) => facts.get(source)?.hasSynced);
  return new Set(KINDS.filter((kind) => complete.some((source) => index.has(plannedKindKey(source, kind)))));
}

const RECHECKS_PER_BATCH = 500;
/** The owner of work that no source caused. */
const VIEW_OWNER = "view";

type RulesChange = (rules: MergeRules) => MergeRules;

interface PendingChange {
  readonly apply: RulesChange;
  /** The source that the change is about. Only the node that runs the source knows its state. */
  readonly source: string | undefined;
}

interface CommitOptions {
  /** The source whose claims are committed. */
  readonly source?: string;
  /** Called when all changes are known, before they are stored. Called again when the commit was overtaken. */
  readonly onMerged?: () => void;
}

export class Committer {
  readonly view: View;
  readonly log: Log;
  readonly scheduler: Scheduler;
  readonly #clock: Clock;
  #rules: MergeRules;
  /** The rules as the log has them, and whether it has `UNMERGED`. */
  #stored: Partial<StoredSettings>;
  /** The changes of the rules that the log does not have yet. */
  #pendingChanges: readonly PendingChange[] = [];
  /** The entities that may have been merged by earlier rules. */
  #outdated: Outdated;
  #beingMerged: Outdated = NOTHING;
  /** Whether the settings must be stored although no value changes. */
  #mustStore = false;
  #remerging: Promise<void> | undefined;
  #isTakingForeign = false;
  /** Whether another node merges by changed rules: it has set `UNMERGED`, and removes it when it has merged by all rules. */
  #isMergingElsewhere = false;
  readonly #listeners = new Set<BatchListener>();
  readonly #turns = new FairSemaphore(1);
  /** Cost of a step; undefined for the default of `Commit`. */
  readonly #stepCost: number | undefined;

  constructor(
    view: View,
    log: Log,
    clock: Clock,
    settings: MergeSettings,
    scheduler: Scheduler = new Scheduler(),
    stepCost?: number,
  ) {
    this.#stepCost = stepCost;
    this.view = view;
    this.log = log;
    this.scheduler = scheduler;
    this.#clock = clock;
    const isUnmerged = view.has("settings", UNMERGED);
    const stored = view.has("settings", "merge") ? MergeRules.read(view) : undefined;
    this.#stored = { ...(stored && { rules: stored }), isUnmerged };
    this.#rules = (stored ?? new MergeRules(settings)).withSettings(settings);
    if (view.revision === 0) this.#outdated = NOTHING;
    else this.#outdated = stored && !isUnmerged ? outdatedBy(stored, this.#rules) : EVERYTHING;
    log.foreign?.onArrival(() => void this.#takeForeign());
  }

  /** The rules of the next commit. */
  get rules(): MergeRules {
    return this.#rules;
  }

  /** Calls the listener with each batch, in order, once the batch is durable and visible. */
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
  commit(source: string, changes: readonly CanonicalChange[]): Promise<Batch | undefined> {
    return this.#commit(ownerOf(source), (commit) => commit.applyChanges(source, changes), { source });
  }

  /**
   * Replaces the settings. A source that is no longer in them keeps its role until `forgetSource`. This and the other
   * changes of the rules apply to every commit that begins after the call, and are stored with the next batch. They resolve
   * when the affected entities are merged again.
   */
  async setSettings(settings: MergeSettings): Promise<void> {
    await this.changeSettings(() => settings);
  }

  /** Replaces the settings by a function of the previous ones. */
  async changeSettings(change: (settings: MergeSettings) => MergeSettings): Promise<void> {
    const apply: RulesChange = (rules) => rules.withSettings(change(rules.settings));
    if (!sameJson(apply(this.#rules).settings, this.#rules.settings))
      await this.#changeRules(apply, this.#isShared);
  }

  /** Sets the state of a source. It is ignored for a source that is not configured. */
  async setSourceFacts(source: string, facts: SourceFacts): Promise<void> {
    const before = this.#rules.facts.get(source);
    if (!this.#rules.isConfigured(source) || sameJson(before, facts)) return;
    // The times must survive a restart. `hasSynced` is known again soon after one.
    const isTimeSame = before?.staleSince === facts.staleSince && before?.failedSince === facts.failedSince;
    // Entities that are held back may become problems once every source has reported, and problems belong to a revision.
    const isAwaited = !before?.hasSynced && KINDS.some((kind) => this.view.heldBack[kind] > 0);
    const mustStore = !isTimeSame || before?.error !== facts.error || isAwaited || this.#isShared;
    await this.#changeRules((rules) => rules.withFacts(source, facts, this.view.revision), mustStore, source);
  }

  /** Whether other nodes merge by the rules in the log. On a single node it is enough to store them with the next batch. */
  get #isShared(): boolean {
    return this.log.foreign !== undefined;
  }

  /** Whether `mergeAgain` is due, because the plan contains other kinds, or because a batch of it could not be stored. */
  get isMergeDue(): boolean {
    return this.#hasOtherPlannedKinds || (this.#isOutdated && this.#remerging === undefined);
  }

  /** Whether the plan contains other kinds than those with which values were compared. */
  get #hasOtherPlannedKinds(): boolean {
    const { plannedKinds, intendedSources } = this.#rules;
    if (plannedKinds.size + intendedSources.length === 0) return false;
    return plannedKindsOf(this.view, this.#rules).symmetricDifference(plannedKinds).size > 0;
  }

  /** Removes the settings of a source that has no claims any more. */
  async forgetSource(source: string): Promise<void> {
    if (this.#rules.isConfigured(source))
      await this.#changeRules((rules) => rules.withoutSource(source), true);
  }

  async #changeRules(change: RulesChange, mustStore: boolean, source?: string): Promise<void> {
    this.#setRules(change, mustStore, source);
    await this.mergeAgain();
  }

  #setRules(apply: RulesChange, mustStore: boolean, source?: string): void {
    const next = apply(this.#rules);
    this.#outdated = unionOf(this.#outdated, outdatedBy(this.#rules, next));
    this.#rules = next;
    this.#pendingChanges = [...this.#pendingChanges, { apply, source }];
    this.#mustStore ||= mustStore;
  }

  /** Reads the rules of another node from the log and applies this node's changes that are not stored yet to them. */
  #rebaseRules(): void {
    const stored = MergeRules.read(this.view);
    const next = this.#pendingChanges.reduce((rules, { apply }) => apply(rules), stored);
    this.#stored = { rules: stored, isUnmerged: this.view.has("settings", UNMERGED) };
    this.#outdated = unionOf(this.#outdated, outdatedBy(stored, next));
    this.#rules = this.#pendingChanges.length > 0 ? next : stored;
  }

  /** Drops the pending changes about sources that another node runs now. */
  #dropChangesOfOthers(): void {
    const { foreign } = this.log;
    const own = this.#pendingChanges.filter(({ source }) => source === undefined || foreign?.holds(source));
    if (!foreign || own.length === this.#pendingChanges.length) return;
    this.#pendingChanges = own;
    this.#rebaseRules();
  }

  /**
   * Merges again the entities that were merged by earlier rules, including rules from before a restart. If there are many,
   * this takes several revisions, so that the commits of sources are not delayed. Changes of the rules meanwhile are
   * included.
   */
  async mergeAgain(): Promise<void> {
    if (this.isMergeDue) this.#remerging ??= this.#mergeOutdated();
    await this.#remerging;
  }

  /** Whether another node is merging by changed rules. */
  get isMergingElsewhere(): boolean {
    return this.#isMergingElsewhere;
  }

  /** Merges what another node has begun to merge and may not finish. */
  async mergeForOthers(): Promise<void> {
    if (!this.#isMergingElsewhere) return;
    this.#isMergingElsewhere = false;
    this.#outdated = EVERYTHING;
    await this.mergeAgain();
  }

  get #isOutdated(): boolean {
    return this.#mustStore || !isNothing(this.#outdated);
  }

  async #mergeOutdated(): Promise<void> {
    try {
      for (;;) {
        if (this.#hasOtherPlannedKinds)
          this.#setRules((rules) => rules.withPlannedKinds(plannedKindsOf(this.view, rules)), true);
        if (!this.#isOutdated) break;
        this.#beingMerged = this.#outdated;
        this.#outdated = NOTHING;
        await this.#mergeAll(this.#beingMerged);
      }
    } finally {
      // This is empty unless a batch could not be stored.
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
        // If the first batch was overtaken, the keys are read again: other nodes merge by the previous rules until it is stored.
        if (start === 0 || !keys) keys = yield* keysOf(this.view, outdated);
        yield* recheckAll(commit, keys.slice(start, end));
      };
      try {
        await this.#commit(VIEW_OWNER, apply.bind(this), {
          onMerged: () => {
            if (end >= (keys?.length ?? 0)) this.#beingMerged = NOTHING;
          },
        });
      } catch (error) {
        this.#beingMerged = outdated;
        throw error;
      }
    }
  }

  #commit(
    owner: string,
    apply: (commit: Commit) => Steps<void>,
    options: CommitOptions = {},
  ): Promise<Batch | undefined> {
    return this.#turns.run(owner, async () => {
      for (;;) {
        await this.#applyForeign(owner);
        this.#dropChangesOfOthers();
        try {
          return await this.#commitNow(owner, apply, options);
        } catch (error) {
          if (!(error instanceof LogError) || error.code !== "overtaken") throw error;
        }
      }
    });
  }

  async #commitNow(
    owner: string,
    apply: (commit: Commit) => Steps<void>,
    { source, onMerged }: CommitOptions,
  ): Promise<Batch | undefined> {
    const { view, log, scheduler } = this;
    const time = Math.max(this.#clock.now(), view.time);
    const revision = view.revision + 1;
    const rules = this.#rules;
    const included = this.#pendingChanges;
    const commit = new Commit(view, rules, revision, time, this.#stepCost);
    try {
      const entries = await scheduler.run(owner, mergeChanges(commit, apply));
      onMerged?.();
      const isMerged = isNothing(this.#outdated) && isNothing(this.#beingMerged) && !this.#isMergingElsewhere;
      const settings = { rules, isUnmerged: !isMerged };
      const mustStore = this.#mustStore || (this.#stored.isUnmerged && !settings.isUnmerged);
      const isOther = rules !== this.#stored.rules || settings.isUnmerged !== this.#stored.isUnmerged;
      if (isOther && (entries.length > 0 || mustStore)) entries.push(...settingsEntries(view, settings));
      if (entries.length > 0) {
        const batch = { revision, time, entries };
        // The batch is on its way before the next state is prepared, in the turn after: the log works meanwhile.
        const [, prepared] = await Promise.all([
          log.append(batch, source),
          yieldToLoop().then(() => scheduler.run(owner, view.prepare(batch))),
        ]);
        this.#publish(batch, prepared);
        this.#stored = settings;
        this.#onRulesStored(rules, included);
        await scheduler.run(owner, view.tidyIndexes());
        return batch;
      }
    } catch (error) {
      await scheduler.run(owner, commit.rollBack());
      throw error;
    }
    this.#onRulesStored(rules, included);
    view.endIndexChange();
    return undefined;
  }

  #publish(batch: Batch, prepared: PreparedRevision): void {
    this.view.publish(prepared);
    for (const listener of this.#listeners) listener(batch, prepared.bytes);
  }

  /** The log has these rules now, or they change nothing in it. */
  #onRulesStored(rules: MergeRules, included: readonly PendingChange[]): void {
    this.#pendingChanges = this.#pendingChanges.filter((change) => !included.includes(change));
    if (rules === this.#rules) this.#mustStore = false;
  }

  /** Makes the batches of other nodes visible. */
  async #takeForeign(): Promise<void> {
    if (this.#isTakingForeign) return;
    this.#isTakingForeign = true;
    try {
      await this.#turns.run(VIEW_OWNER, () => {
        this.#isTakingForeign = false;
        return this.#applyForeign(VIEW_OWNER);
      });
    } catch (error) {
      // The log is closed. A batch that was not stored is read again at the next start.
      if (!(error instanceof LogError)) throw error;
    }
  }

  async #applyForeign(owner: string): Promise<void> {
    const { log, scheduler } = this;
    for (let batch = await log.foreign?.take(); batch; batch = await log.foreign?.take()) {
      await scheduler.run(owner, this.#followSteps(batch));
    }
  }

  *#followSteps(batch: Batch): Steps<void> {
    const { view } = this;
    this.#publish(batch, yield* view.indexAndPrepare(batch));
    const settings = batch.entries.filter(({ kind }) => kind === "settings");
    if (settings.length > 0) this.#onForeignSettings(settings);
    yield* view.tidyIndexes();
  }

  #onForeignSettings(settings: readonly LogEntry[]): void {
    const { rules, isUnmerged } = this.#stored;
    const isMergingHere = isUnmerged && !this.#isMergingElsewhere;
    const unmerged = settings.find(({ id }) => id === UNMERGED);
    if (unmerged) this.#isMergingElsewhere = unmerged.after !== null;
    this.#rebaseRules();
    // The other node may stop before it has merged by these rules.
    if (isMergingHere && rules)
      this.#outdated = unionOf(this.#outdated, outdatedBy(rules, MergeRules.read(this.view)));
  }
}

const ownerOf = (source: string): string => `source:${source}`;

function* mergeChanges(commit: Commit, apply: (commit: Commit) => Steps<void>): Steps<LogEntry[]> {
  yield* apply(commit);
  return yield* commit.mergeAll();
}
