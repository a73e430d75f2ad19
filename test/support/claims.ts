/**
 * A network built from claims, for tests of the write path: a view with an in-memory log, a manual clock, and a
 * `ClaimIngest` for each source. The order of the sources is their precedence.
 */

import { createLogger } from "../../src/lib/logger.ts";
import { Scheduler } from "../../src/lib/scheduler.ts";
import { runToEnd } from "../../src/lib/steps.ts";
import { openEmbeddedLog } from "../../src/log/embedded.ts";
import type { Batch, Log, Snapshot, StoreKind } from "../../src/log/log.ts";
import type { ClaimChange, ClaimTypes } from "../../src/model/claim.ts";
import type { Entities } from "../../src/model/entity.ts";
import type { Kind } from "../../src/model/ids.ts";
import { type MergeSettings, observedSources } from "../../src/model/merge-settings.ts";
import { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { Committer } from "../../src/view/committer.ts";
import type { EncodedPage } from "../../src/view/encoded-page.ts";
import { missingKey } from "../../src/view/indexes.ts";
import type { ClusterMembers } from "../../src/view/link-graph.ts";
import { parseStored, snapshotOf, View } from "../../src/view/view.ts";
import { ManualClock } from "./manual-clock.ts";

export class ClaimedNetwork {
  readonly clock = new ManualClock();
  readonly view: View;
  readonly batches: Batch[] = [];
  /** The log lines of the ingests. */
  readonly logLines: string[] = [];
  readonly log: Log;
  readonly committer: Committer;
  readonly #ingests: ReadonlyMap<string, ClaimIngest>;

  constructor(
    sources: readonly string[] | MergeSettings = ["first", "second", "third"],
    log = openMemoryLog(),
    scheduler = new Scheduler(),
    stepCost?: number,
    view = new View(),
  ) {
    const settings = "identity" in sources ? sources : observedSources(sources);
    this.view = view;
    this.log = log;
    this.committer = new Committer(this.view, log, this.clock, settings, scheduler, stepCost);
    this.committer.onBatch((batch) => this.batches.push(batch));
    const logger = createLogger((line) => this.logLines.push(line));
    this.#ingests = new Map(
      settings.sources.map(({ name }) => [name, new ClaimIngest(this.committer, name, logger)]),
    );
  }

  source(name: string): ClaimIngest {
    const found = this.#ingests.get(name);
    if (!found) throw new Error(`no source ${name}`);
    return found;
  }

  /** Commits claims of a source. Returns the batch, or undefined when nothing changed. */
  async set<K extends Kind>(source: string, kind: K, ...claims: ClaimTypes[K][]): Promise<Batch | undefined> {
    return this.apply(source, ...claims.map((claim) => ({ op: "set", kind, claim }) as ClaimChange));
  }

  async remove(source: string, kind: Kind, ...ids: string[]): Promise<Batch | undefined> {
    return this.apply(source, ...ids.map((id) => ({ op: "remove", kind, id }) as const));
  }

  async apply(source: string, ...changes: ClaimChange[]): Promise<Batch | undefined> {
    const before = this.batches.length;
    await this.source(source).apply(changes);
    return this.batches[before];
  }

  /** The sources have reported all that they know. */
  async sync(...sources: string[]): Promise<void> {
    for (const source of sources) await this.committer.setSourceFacts(source, { hasSynced: true });
  }

  /** What is intended of an entity that is not observed. */
  missing<K extends Kind>(kind: K, id: string): Entities[K] | undefined {
    const text = this.view.get("missing", missingKey(kind, id));
    return text === undefined ? undefined : parseStored(kind, text);
  }

  shown<K extends Kind>(kind: K, id: string): Entities[K] | undefined {
    const text = this.view.get(kind, id);
    return text === undefined ? undefined : parseStored(kind, text);
  }

  all<K extends Kind>(kind: K): Entities[K][] {
    return pagesOf(this.view, kind).flatMap((page) =>
      page.ids().map((_, i) => parseStored(kind, page.value(i))),
    );
  }
}

/** The pages of the current state. */
export const pagesOf = (view: View, kind: StoreKind): readonly EncodedPage[] =>
  runToEnd(view.capture().pages(kind));

export const clustersOf = (view: View): readonly ClusterMembers[] =>
  runToEnd(runToEnd(view.capture().linkGraph()).clusters());

export const snapshotNow = (view: View): Snapshot => runToEnd(snapshotOf(view.capture()));

export const openMemoryLog = (): Log => openEmbeddedLog(":memory:");

/** The public changes of a batch as text: `added KIND ID`, `updated KIND ID (FIELDS)`, `removed KIND ID`. */
export function describeBatch(batch: Batch | undefined): string[] {
  const publicEntries = (batch?.entries ?? []).filter(
    (entry) => entry.kind !== "claims" && entry.kind !== "settings",
  );
  return publicEntries
    .map(({ kind, id, before, after, changed }) => {
      const verb = before === null ? "added" : after === null ? "removed" : "updated";
      return `${verb} ${kind} ${id}${verb === "updated" ? ` (${changed.join(", ")})` : ""}`;
    })
    .sort();
}
