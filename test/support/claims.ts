/**
 * A network made of claims, for tests of the write path: a view on a log in memory, a clock that stands still, and an
 * intake for each source, in the order of precedence they are named.
 */
import { ManualClock } from "../../src/lib/clock.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { openEmbeddedLog } from "../../src/log/embedded.ts";
import type { Batch, Log } from "../../src/log/log.ts";
import type { ClaimChange, ClaimTypes } from "../../src/model/claim.ts";
import type { Entities } from "../../src/model/entity.ts";
import type { Kind } from "../../src/model/ids.ts";
import { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { Committer } from "../../src/view/committer.ts";
import { parseStored, View } from "../../src/view/view.ts";

export class ClaimedNetwork {
  readonly clock = new ManualClock();
  readonly view = new View();
  readonly batches: Batch[] = [];
  /** What the intakes wrote to the diary. */
  readonly logLines: string[] = [];
  readonly log: Log;
  readonly committer: Committer;
  readonly #ingests: ReadonlyMap<string, ClaimIngest>;

  constructor(sources: readonly string[] = ["first", "second", "third"], log = openMemoryLog()) {
    this.log = log;
    this.committer = new Committer(this.view, log, this.clock, sources);
    this.committer.onBatch((batch) => this.batches.push(batch));
    const logger = createLogger("debug", (line) => this.logLines.push(line));
    this.#ingests = new Map(sources.map((name) => [name, new ClaimIngest(this.committer, name, logger)]));
  }

  source(name: string): ClaimIngest {
    const found = this.#ingests.get(name);
    if (!found) throw new Error(`no source ${name}`);
    return found;
  }

  /** Lets a source claim; answers the batch that came of it. */
  async set<K extends Kind>(source: string, kind: K, ...claims: ClaimTypes[K][]): Promise<Batch | undefined> {
    return this.apply(source, ...claims.map((claim) => ({ op: "set", kind, claim }) as ClaimChange));
  }

  async remove(source: string, kind: Kind, ...ids: string[]): Promise<Batch | undefined> {
    return this.apply(source, ...ids.map((id) => ({ op: "remove", kind, id }) as const));
  }

  async apply(source: string, ...changes: ClaimChange[]): Promise<Batch | undefined> {
    const had = this.batches.length;
    await this.source(source).apply(changes);
    return this.batches[had];
  }

  shown<K extends Kind>(kind: K, id: string): Entities[K] | undefined {
    const text = this.view.get(kind, id);
    return text === undefined ? undefined : parseStored(kind, text);
  }

  all<K extends Kind>(kind: K): Entities[K][] {
    return this.view.pages(kind).flatMap((page) => page.ids.map((_, i) => parseStored(kind, page.value(i))));
  }
}

export const openMemoryLog = (): Log => openEmbeddedLog(":memory:");

/** `added of:1`, `updated … (fields)`, `removed …`: a batch in words, without the claims kept beside. */
export function describeBatch(batch: Batch | undefined): string[] {
  const public_ = (batch?.entries ?? []).filter((entry) => entry.kind !== "claims");
  return public_
    .map(({ kind, id, before, after, changed }) => {
      const verb = before === null ? "added" : after === null ? "removed" : "updated";
      return `${verb} ${kind} ${id}${verb === "updated" ? ` (${changed.join(", ")})` : ""}`;
    })
    .sort();
}
