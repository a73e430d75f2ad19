/**
 * The running sources of a service: each with the claims it reports, its precedence, and the entry of the configuration
 * that it was created from. A reload compares the entries: sources whose entry is the same are not touched, changed ones
 * are replaced and keep their claims until they report again, and the claims and files of removed ones are removed.
 *
 * It reports to the committer when a source begins to fail, with the reason, and when it works again. After a start of the service
 * the stored claims of a source keep their state, live or stale, until the source reports or fails.
 *
 * In a cluster, only the node that holds the lease of a source runs it and reports its status. The claims of a source that is
 * removed from this node's configuration stay, because other nodes may have the source.
 */
import { RequestError } from "../cluster/requests.ts";
import { isClustered } from "../config/cross-checks.ts";
import { renderFault } from "../config/faults.ts";
import type { Config } from "../config/schema.ts";
import { createConfiguredSources } from "../config/sources.ts";
import { errorMessage } from "../lib/error-message.ts";
import { sameJson } from "../lib/same-json.ts";
import { LogError } from "../log/log.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import type { MergeSettings } from "../model/merge-settings.ts";
import type { SourceReport } from "../model/source-status.ts";
import type { RegisteredSource } from "../sources/registry.ts";
import type { ClaimSink, SourceContext } from "../sources/source.ts";
import { withoutCommonOptions } from "../sources/source-options.ts";
import { removeStateFile } from "../sources/state-file.ts";
import { createSupervisor, type Supervisor } from "../sources/supervise.ts";
import { ClaimIngest } from "../view/claim-ingest.ts";
import type { SourceFacts } from "../view/merge-rules.ts";
import { ClusterSettings } from "./cluster/cluster-settings.ts";
import { SourceLeases } from "./cluster/source-leases.ts";
import { StartupError } from "./startup-error.ts";
import type { ServiceStorage } from "./storage.ts";
import { Withdrawals } from "./withdrawals.ts";

/** The collections whose values name their sources. */
const CLAIMED = [...KINDS, "claims"] as const;

/** Maximum characters of a failure's reason in the log, because a peer or a program may return text of any length. */
const MAX_ERROR_CHARS = 1000;

/** Creates the sources. The configuration was checked when it was loaded, so this throws only for a Config built otherwise. */
export function requireSources(config: Config, context: SourceContext): readonly RegisteredSource[] {
  const created = createConfiguredSources(config, context);
  if (created.ok) return created.sources;
  throw new StartupError("sources", created.faults.map(renderFault).join("; "));
}

/** The sections of the configuration that `mergeSettingsOf` needs. */
export type MergeConfig = Pick<Config, "identity" | "history" | "cluster">;

/** The settings by which the view merges the claims of these sources. */
export const mergeSettingsOf = (
  config: MergeConfig,
  sources: readonly RegisteredSource[],
): MergeSettings => ({
  identity: config.identity,
  sources: sources.map(({ source, options }) => ({
    name: source.name,
    role: options.role,
    merge: options.merge,
  })),
  ...(isClustered(config) && { history: config.history }),
});

/** The names of added, removed and changed sources. */
export interface SourceChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export class SourceSet {
  readonly #store: ServiceStorage;
  readonly #context: SourceContext;
  readonly #ingests = new Map<string, ClaimIngest>();
  readonly #supervisor: Supervisor;
  readonly #withdrawals: Withdrawals;
  readonly #leases: SourceLeases | undefined;
  readonly #clusterSettings: ClusterSettings | undefined;
  /** The sources of this node whose current failure, under their current configuration, is in the log. */
  readonly #failing = new Set<string>();
  #sources: readonly RegisteredSource[];

  constructor(sources: readonly RegisteredSource[], store: ServiceStorage, context: SourceContext) {
    this.#sources = sources;
    this.#store = store;
    this.#context = context;
    for (const name of this.names) this.#ingest(name);
    const { cluster } = store;
    this.#leases = cluster && new SourceLeases(cluster.leases, cluster.log, context.clock, context.log);
    this.#clusterSettings = cluster && new ClusterSettings(store.committer, context.log);
    this.#supervisor = createSupervisor({
      sources,
      // The type is `Required`, because an ingest without the optional `lastClaims` would compile and break graceful restart.
      sinkFor: (name): Required<ClaimSink> => this.#sink(name),
      permitFor: this.#leases?.permitFor.bind(this.#leases),
      onStatus: (name, status, error) => this.#onStatus(name, status, error),
      ...context,
    });
    const afterSeconds = (name: string) =>
      this.#sources.find(({ source }) => source.name === name)?.options.withdrawAfterSeconds;
    this.#withdrawals = new Withdrawals(context.clock, afterSeconds, (name) => this.#withdraw(name));
  }

  /** Names of the sources in order of precedence. */
  get names(): string[] {
    return this.#sources.map(({ source }) => source.name);
  }

  status(): SourceReport[] {
    const { committer, view } = this.#store;
    const { rules } = committer;
    return this.#supervisor.status().map((report) => {
      const { name, status } = report;
      const node = this.#leases?.nodeOf(name);
      const { failedSince, error } = rules.facts.get(name) ?? {};
      const count = (kind: Kind) => view.indexes(kind).named("source").count(name);
      return {
        ...report,
        ...(rules.isIntended(name) && { role: "intended" as const }),
        ...(node !== undefined && { node }),
        ...(failedSince !== undefined && status !== "synced" && { failedSince }),
        // Another node runs the source, so the reason is known from the log only.
        ...(status === "standby" && failedSince !== undefined && error !== undefined && { error }),
        entities: {
          devices: count("devices"),
          ports: count("ports"),
          links: count("links"),
          hosts: count("hosts"),
        },
      };
    });
  }

  /** Whether the source may move to another node. `openflow` may not, because switches are connected to the node that runs it. */
  isMovable(name: string): boolean {
    return this.#sources.some(({ source, kind }) => source.name === name && kind !== "openflow");
  }

  /** Gives up a source that this node of a cluster runs, so that another node takes it. */
  giveUp(name: string): void {
    this.#context.log.info("source left to a node that runs fewer", { source: name });
    this.#leases?.giveUp(name);
  }

  /** Number of records that failed validation, by source. */
  rejectedRecords(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#ingests].map(([name, ingest]) => [name, ingest.rejectedCount]));
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#supervisor.run(signal);
    } finally {
      this.#withdrawals.cancelAll();
    }
  }

  /**
   * Applies the merge settings of the configuration. On a single node it also removes the stored claims of sources that were
   * configured at an earlier start and no longer are.
   */
  async applyConfiguration(config: MergeConfig): Promise<void> {
    if (this.#clusterSettings) {
      await this.#store.cluster?.clockCheck.untilRight();
      await this.#clusterSettings.setOwn(mergeSettingsOf(config, this.#sources));
    } else await Promise.all([this.#store.committer.mergeAgain(), this.#dropFormerSources()]);
  }

  async #dropFormerSources(): Promise<void> {
    const { view, committer } = this.#store;
    const known = new Set(CLAIMED.flatMap((kind) => [...view.indexes(kind).named("source").keys()]));
    for (const { name } of committer.rules.settings.sources) known.add(name);
    for (const name of known.difference(new Set(this.names))) await this.#drop(name);
  }

  /**
   * Replaces the running sources by these, which were created from the configuration. A source whose entry differs
   * only in common options goes on running.
   */
  async replace(next: readonly RegisteredSource[], config: MergeConfig): Promise<SourceChanges> {
    const before = new Map(this.#sources.map((created) => [created.source.name, created]));
    const isSame = (created: RegisteredSource): boolean =>
      sameJson(before.get(created.source.name)?.entry, created.entry);
    const kept = (created: RegisteredSource): RegisteredSource => {
      const former = before.get(created.source.name);
      return former && sameJson(withoutCommonOptions(former.entry), withoutCommonOptions(created.entry))
        ? { ...created, source: former.source }
        : created;
    };
    const changes = {
      added: next.filter(({ source }) => !before.has(source.name)).map(({ source }) => source.name),
      removed: [...before.keys()].filter((name) => !next.some(({ source }) => source.name === name)),
      changed: next
        .filter((created) => before.has(created.source.name) && !isSame(created))
        .map(({ source }) => source.name),
    };
    this.#sources = next.map(kept);
    for (const name of [...changes.removed, ...changes.changed]) this.#failing.delete(name);
    await this.#supervisor.replace(this.#sources);
    const settings = mergeSettingsOf(config, this.#sources);
    await (this.#clusterSettings?.setOwn(settings) ?? this.#store.committer.setSettings(settings));
    this.#withdrawals.reschedule();
    for (const name of changes.removed) await (this.#leases ? this.#leave(name) : this.#drop(name));
    return changes;
  }

  /** Records a change of status. Does not wait for the committer, so that the source goes on; the committer keeps the order. */
  #onStatus(name: string, status: "synced" | "failed" | "standby", error = "failed"): void {
    if (status !== "failed") {
      this.#withdrawals.cancel(name);
      this.#failing.delete(name);
    }
    if (status === "standby") return;
    const facts = this.#store.committer.rules.facts.get(name);
    if (status === "synced") {
      const isWell = facts?.hasSynced && facts.staleSince === undefined && facts.failedSince === undefined;
      if (!isWell) this.#setFacts(name, { hasSynced: true });
      return;
    }
    const now = this.#context.clock.now();
    const hasSynced = facts?.hasSynced === true || this.#hasClaims(name);
    // A source without claims cannot be stale.
    const staleSince = hasSynced ? (facts?.staleSince ?? now) : undefined;
    // Only the first failure is written, not each retry. The log may have an older reason: of an earlier start, node or entry.
    if (!this.#failing.has(name)) {
      this.#failing.add(name);
      this.#setFacts(name, {
        hasSynced,
        ...(staleSince !== undefined && { staleSince }),
        failedSince: facts?.failedSince ?? staleSince ?? now,
        error: error.slice(0, MAX_ERROR_CHARS),
      });
    }
    if (staleSince !== undefined) this.#withdrawals.schedule(name, staleSince);
  }

  #setFacts(name: string, facts: SourceFacts): void {
    this.#store.committer.setSourceFacts(name, facts).catch((error: unknown) => {
      this.#context.log.error("the status of a source was not stored", {
        source: name,
        why: errorMessage(error),
      });
    });
  }

  #hasClaims(name: string): boolean {
    return CLAIMED.some((kind) => this.#store.view.indexes(kind).named("source").has(name));
  }

  /** Withdraws the claims of a stale source. Its run ends first, so that the claims of the next run follow the withdrawal. */
  #withdraw(name: string): void {
    if (!this.#hasClaims(name)) return;
    const { log } = this.#context;
    log.warn("claims of a stale source withdrawn", { source: name });
    this.#supervisor.restart(name);
    this.#ingest(name)
      .replace({})
      .catch((error: unknown) => {
        log.error("claims of a stale source were not withdrawn", { source: name, why: errorMessage(error) });
      });
  }

  #ingest(name: string): ClaimIngest {
    let ingest = this.#ingests.get(name);
    if (!ingest) {
      ingest = new ClaimIngest(this.#store.committer, name, this.#context.log);
      this.#ingests.set(name, ingest);
    }
    return ingest;
  }

  #sink(name: string): Required<ClaimSink> {
    const ingest = this.#ingest(name);
    const leases = this.#leases;
    if (!leases) return ingest;
    const held = (committed: Promise<void>): Promise<void> =>
      committed.catch((error: unknown) => {
        if (error instanceof LogError && error.code === "not-holder") leases.revoke(name);
        throw error;
      });
    return {
      replace: (all) => held(ingest.replace(all)),
      apply: (changes) => held(ingest.apply(changes)),
      reject: ingest.reject.bind(ingest),
      lastClaims: ingest.lastClaims.bind(ingest),
    };
  }

  /**
   * Removes the claims and settings of a source that no node has from the log of the cluster. Rejects with `RequestError` when
   * a node may have it.
   */
  async forget(name: string, signal: AbortSignal): Promise<void> {
    if (!this.#store.committer.rules.isConfigured(name) && !this.#hasClaims(name))
      throw new RequestError(`the cluster has no source ${name}`);
    if (!(await this.#asHolder(name, signal, () => this.#drop(name))))
      throw new RequestError(`a node runs the source ${name}; remove it from its configuration first`);
  }

  /** Marks the claims of a source as stale, because the node that ran it is gone and no other node has it. */
  async markOrphaned(name: string, signal: AbortSignal): Promise<void> {
    const { committer } = this.#store;
    await this.#asHolder(name, signal, async () => {
      if (committer.rules.isStale(name)) return;
      this.#context.log.warn("no node runs a source; its claims are stale", { source: name });
      await committer.setSourceFacts(name, { hasSynced: true, staleSince: this.#context.clock.now() });
    });
  }

  /** Takes over a source that is not configured on this node, for one task. False where another node runs it. */
  async #asHolder(name: string, signal: AbortSignal, task: () => Promise<void>): Promise<boolean> {
    const permit = this.names.includes(name) ? undefined : await this.#leases?.permitFor(name, signal);
    if (!permit) return false;
    try {
      await task();
    } finally {
      await permit.release();
    }
    return true;
  }

  /** Removes a source from this node of a cluster. Its claims stay. */
  async #leave(name: string): Promise<void> {
    this.#context.log.info("source removed from this node; `gazetteer cluster forget` removes its claims", {
      source: name,
    });
    this.#withdrawals.cancel(name);
    this.#ingests.delete(name);
    await removeStateFile(name, this.#context);
  }

  async #drop(name: string): Promise<void> {
    this.#context.log.info("source removed", { source: name });
    this.#withdrawals.cancel(name);
    await this.#ingest(name).replace({});
    await this.#store.committer.forgetSource(name);
    this.#ingests.delete(name);
    await removeStateFile(name, this.#context);
  }
}
