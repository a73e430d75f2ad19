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
import { parseClaimsKey } from "./held-back.ts";
import type { BatchListener } from "./history.ts";
import { MergeRules, type SourceFacts } from "./merge-rules.ts";
import { PLAN_SETTING, plannedKindsOf, planSetting, readPlan } from "./plan-setting.ts";
import { recoverClaim } from "./recover.ts";
import { parseStored, type View } from "./view.ts";
import { claimsKey } from "./working-set.ts";

const RECHECKS_PER_BATCH = 500;
const RECHECKS_PER_STEP = 32;
const KEYS_PER_STEP = 500;
/** The owner of work that no source caused. */
const VIEW_OWNER = "view";

/** The keys (see `idKey`) of entities. */
export type ClaimedKeys = Readonly<Record<Kind, ShardedSet>>;

export class Committer {
  readonly view: View;
  readonly log: Log;
  readonly scheduler: Scheduler;
  readonly #clock: Clock;
  #rules: MergeRules;
  readonly #listeners = new Set<BatchListener>();
  readonly #turns = new FairSemaphore(1);
  /** The kinds that are to be merged again, because they are compared with the plan in another way. */
  readonly #toJudge: Set<Kind>;
  #settling: Promise<void> = Promise.resolve();
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
    const plan = readPlan(view);
    this.#rules = new MergeRules(settings, new Map(), plannedKindsOf(view));
    this.#toJudge = new Set(plan.pending);
    for (const kind of this.#rules.judgedKinds.symmetricDifference(new Set(plan.judged)))
      this.#toJudge.add(kind);
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
   * Replaces the settings. What several sources claim is merged again by them, in several revisions, so that the commits
   * of sources are not delayed by a large network.
   */
  async setSettings(settings: MergeSettings): Promise<void> {
    const { facts, plannedKinds } = this.#rules;
    if (sameJson(settings, this.#rules.settings)) return;
    this.#setRules(new MergeRules(settings, facts, plannedKinds));
    for (const page of await this.scheduler.run(VIEW_OWNER, this.view.capture().pages("claims")))
      await this.#recheckInBatches(page.ids);
    await this.settlePlan();
  }

  /** Sets what is known of a source. */
  async setSourceFacts(source: string, facts: SourceFacts): Promise<void> {
    if (sameJson(facts, this.#rules.facts.get(source))) return;
    const { settings, plannedKinds } = this.#rules;
    this.#setRules(new MergeRules(settings, new Map(this.#rules.facts).set(source, facts), plannedKinds));
    await this.settlePlan();
  }

  #setRules(rules: MergeRules): void {
    for (const kind of this.#rules.judgedKinds.symmetricDifference(rules.judgedKinds))
      this.#toJudge.add(kind);
    this.#rules = rules;
  }

  /** Whether `settlePlan` has something to do since the plan was committed. */
  get hasOtherPlannedKinds(): boolean {
    return plannedKindsOf(this.view).symmetricDifference(this.#rules.plannedKinds).size > 0;
  }

  /**
   * Updates which kinds the plan contains. Where a kind is compared with the plan from now on, or no longer, all of its
   * entities are merged again, in several revisions. What is still to do is in the log, so that a restart goes on.
   */
  settlePlan(): Promise<void> {
    const settled = this.#settling.then(() => this.#settlePlan());
    this.#settling = settled.catch(() => {});
    return settled;
  }

  async #settlePlan(): Promise<void> {
    for (;;) {
      if (this.hasOtherPlannedKinds) this.#setRules(this.#rules.withPlannedKinds(plannedKindsOf(this.view)));
      await this.#writePlan();
      const [kind] = this.#toJudge;
      if (kind === undefined) return;
      this.#toJudge.delete(kind);
      try {
        await this.#remergeKind(kind);
      } catch (error) {
        this.#toJudge.add(kind);
        throw error;
      }
    }
  }

  async #writePlan(): Promise<void> {
    const { plannedKinds, judgedKinds } = this.#rules;
    const plan = planSetting(plannedKinds, judgedKinds, this.#toJudge);
    if (sameJson(plan, readPlan(this.view))) return;
    await this.#commit(VIEW_OWNER, function* (commit) {
      commit.setSetting(PLAN_SETTING, plan);
      yield;
    });
  }

  async #remergeKind(kind: Kind): Promise<void> {
    const state = this.view.capture();
    for (const page of await this.scheduler.run(VIEW_OWNER, state.pages(kind)))
      await this.#recheckInBatches(page.ids.map((id) => claimsKey(kind, id)));
    // Those that are not shown.
    for (const page of await this.scheduler.run(VIEW_OWNER, state.pages("claims"))) {
      const hidden = page.ids.filter((stored) => {
        const parsed = parseClaimsKey(stored);
        return parsed?.kind === kind && !state.has(kind, state.shownId(kind, parsed.key));
      });
      await this.#recheckInBatches(hidden);
    }
  }

  /** `stored` are keys of `claims`. */
  async #recheckInBatches(stored: readonly string[]): Promise<void> {
    for (let start = 0; start < stored.length; start += RECHECKS_PER_BATCH) {
      const keys = stored.slice(start, start + RECHECKS_PER_BATCH);
      await this.#commit(VIEW_OWNER, (commit) => recheckAll(commit, keys));
    }
  }

  #commit(owner: string, apply: (commit: Commit) => Steps<void>): Promise<Batch | undefined> {
    return this.#turns.run(owner, () => this.#commitNow(owner, apply));
  }

  async #commitNow(owner: string, apply: (commit: Commit) => Steps<void>): Promise<Batch | undefined> {
    const { view, log, scheduler } = this;
    const time = Math.max(this.#clock.now(), view.time);
    const revision = view.revision + 1;
    const commit = new Commit(view, this.#rules, revision, time, this.#entitiesPerStep);
    try {
      const entries = await scheduler.run(owner, mergeChanges(commit, apply));
      if (entries.length > 0) {
        const batch = { revision, time, entries };
        const [prepared] = await Promise.all([scheduler.run(owner, view.prepare(batch)), log.append(batch)]);
        view.publish(prepared);
        for (const listener of this.#listeners) listener(batch, prepared.bytes);
        await scheduler.run(owner, view.tidyIndexes());
        return batch;
      }
    } catch (error) {
      await scheduler.run(owner, commit.rollBack());
      throw error;
    }
    view.endIndexChange();
    return undefined;
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
    for (const kind of KINDS) yield* this.#addClaimedKeys(keys[kind], source, kind);
    return keys;
  }

  *#addClaimedKeys(keys: ShardedSet, source: string, kind: Kind): Steps<void> {
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

  /** The claims of `source` of one kind, in canonical form. */
  claimsOf<K extends Kind>(source: string, kind: K): Promise<ClaimTypes[K][]> {
    return this.runBetweenCommits(source, this.#claimsOf(source, kind));
  }

  *#claimsOf<K extends Kind>(source: string, kind: K): Steps<ClaimTypes[K][]> {
    const { view } = this;
    const found: ClaimTypes[K][] = [];
    let left = KEYS_PER_STEP;
    const keys = new ShardedSet();
    yield* this.#addClaimedKeys(keys, source, kind);
    for (const key of keys) {
      const storedClaims = view.get("claims", claimsKey(kind, key));
      const text = view.get(kind, view.shownId(kind, key));
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
    if (parsed) commit.recheck(parsed.kind, parsed.key);
    if (++rechecked % RECHECKS_PER_STEP === 0) yield;
  }
}
