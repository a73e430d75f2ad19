/**
 * The running sources of a service: each with the claims it reports, its precedence, and the entry of the configuration
 * that it was created from. A reload compares the entries: sources whose entry is the same are not touched, changed ones
 * are replaced and keep their claims until they report again, and the claims and files of removed ones are removed.
 *
 * It reports to the committer when a source becomes stale and when it is live again. After a start of the service the claims
 * of a source from before count as before, live or stale, until it reports or fails.
 */
import type { ConfigFault } from "../config/faults.ts";
import type { Config } from "../config/schema.ts";
import { createConfiguredSources } from "../config/sources.ts";
import { errorMessage } from "../lib/error-message.ts";
import { sameJson } from "../lib/same-json.ts";
import { KINDS } from "../model/ids.ts";
import type { MergeSettings } from "../model/merge-settings.ts";
import type { SourceReport } from "../model/source-status.ts";
import { withoutCommonOptions } from "../sources/common-options.ts";
import type { RegisteredSource } from "../sources/registry.ts";
import type { ClaimSink, SourceContext } from "../sources/source.ts";
import { removeStateFile } from "../sources/state-file.ts";
import { createSupervisor, type Supervisor } from "../sources/supervise.ts";
import { ClaimIngest } from "../view/claim-ingest.ts";
import type { SourceFacts } from "../view/merge-rules.ts";
import type { Store } from "./store.ts";
import { Withdrawals } from "./withdrawals.ts";

/** The collections whose values have sources. */
const CLAIMED = [...KINDS, "claims"] as const;

type SourceEntry = Config["sources"][number];

/** A source and the entry that it was created from. */
export interface CreatedSource extends RegisteredSource {
  readonly entry: SourceEntry;
}

export type CreatedSources =
  | { readonly ok: true; readonly sources: readonly CreatedSource[] }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

/** Creates the sources of the configuration. Nothing runs yet. */
export function createEntries(config: Pick<Config, "sources">, context: SourceContext): CreatedSources {
  const created = createConfiguredSources(config, context);
  if (!created.ok) return created;
  const sources = created.sources.map((configured, index) => ({
    ...configured,
    entry: config.sources[index] ?? {},
  }));
  return { ok: true, sources };
}

/** What the view must know of the configuration to merge the claims of these sources. */
export const mergeSettingsOf = (
  { identity }: Pick<Config, "identity">,
  sources: readonly CreatedSource[],
): MergeSettings => ({
  identity,
  sources: sources.map(({ source, options }) => ({
    name: source.name,
    role: options.role,
    merge: options.merge,
  })),
});

/** Names of sources. */
export interface SourceChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export class SourceSet {
  readonly #store: Store;
  readonly #context: SourceContext;
  readonly #ingests = new Map<string, ClaimIngest>();
  readonly #supervisor: Supervisor;
  readonly #withdrawals: Withdrawals;
  #sources: readonly CreatedSource[];

  constructor(sources: readonly CreatedSource[], store: Store, context: SourceContext) {
    this.#sources = sources;
    this.#store = store;
    this.#context = context;
    for (const name of this.names) this.#ingest(name);
    this.#supervisor = createSupervisor({
      sources,
      // Required, because `lastClaims` is optional: an ingest without it would compile and break graceful restart.
      sinkFor: (name): Required<ClaimSink> => this.#ingest(name),
      onStatus: (name, status) => this.#onStatus(name, status),
      ...context,
    });
    const afterSeconds = (name: string) =>
      this.#sources.find(({ source }) => source.name === name)?.options.withdrawAfterSeconds;
    this.#withdrawals = new Withdrawals(context.clock, afterSeconds, (name) => this.#withdraw(name));
  }

  /** In order of precedence. */
  get names(): string[] {
    return this.#sources.map(({ source }) => source.name);
  }

  status(): SourceReport[] {
    const { rules } = this.#store.committer;
    return this.#supervisor
      .status()
      .map((report) => (rules.isIntended(report.name) ? { ...report, role: "intended" } : report));
  }

  /** Records that failed validation, by source. */
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

  /** Removes what is stored of sources that were configured at an earlier start and no longer are. */
  async dropFormerSources(): Promise<void> {
    const { view, committer } = this.#store;
    const known = new Set(CLAIMED.flatMap((kind) => [...view.indexes(kind).named("source").keys()]));
    for (const { name } of committer.rules.settings.sources) known.add(name);
    for (const name of known.difference(new Set(this.names))) await this.#drop(name);
  }

  /**
   * Makes these the running sources, created by `createEntries` from the configuration. A source whose entry differs in
   * common options only goes on running.
   */
  async replace(next: readonly CreatedSource[], config: Pick<Config, "identity">): Promise<SourceChanges> {
    const before = new Map(this.#sources.map((created) => [created.source.name, created]));
    const isSame = (created: CreatedSource): boolean =>
      sameJson(before.get(created.source.name)?.entry, created.entry);
    const kept = (created: CreatedSource): CreatedSource => {
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
    await this.#supervisor.replace(this.#sources);
    await this.#store.committer.setSettings(mergeSettingsOf(config, this.#sources));
    this.#withdrawals.reschedule();
    for (const name of changes.removed) await this.#drop(name);
    return changes;
  }

  /** Never waits for the committer: the source goes on. The committer applies status changes in order. */
  #onStatus(name: string, status: "synced" | "failed"): void {
    const facts = this.#store.committer.rules.facts.get(name);
    if (status === "synced") {
      this.#withdrawals.cancel(name);
      if (!facts?.hasSynced || facts.staleSince !== undefined) this.#setFacts(name, { hasSynced: true });
      return;
    }
    // Without claims there is nothing that could be stale.
    if (!facts?.hasSynced && !this.#hasClaims(name)) return;
    const staleSince = facts?.staleSince ?? this.#context.clock.now();
    if (facts?.staleSince === undefined) this.#setFacts(name, { hasSynced: true, staleSince });
    this.#withdrawals.schedule(name, staleSince);
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

  /** The run of the source ends first, and reports nothing more. So what its next run reports follows the withdrawal. */
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

  async #drop(name: string): Promise<void> {
    this.#context.log.info("source removed", { source: name });
    this.#withdrawals.cancel(name);
    await this.#ingest(name).replace({});
    await this.#store.committer.forgetSource(name);
    this.#ingests.delete(name);
    await removeStateFile(name, this.#context);
  }
}
