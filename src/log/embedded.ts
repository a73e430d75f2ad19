/**
 * The log on one machine: a SQLite file in WAL mode, locked by one process. It is also a node's copy of its cluster's log.
 *
 * A batch is one row or several parts; a snapshot is a list of page ids, so that snapshots share pages. Each append hands
 * the WAL to the operating system without fsync: `kill -9` loses nothing; a power cut may lose the last batches but leaves
 * the file consistent. Reads have a connection of their own, and do not wait for writes. `:memory:` is the same code on
 * SQLite's in-memory database.
 *
 * With `retry`, a batch that cannot be written, because the disk is full or the writer ended, is written again after a pause,
 * until it is stored or the log is closed. Meanwhile sources keep their sessions, their claims wait, and readers see the last
 * revision. The beginning and the end of a failure are logged once each; `stats` reports it, and listeners are called.
 */
import type { Database } from "bun:sqlite";
import { createBackoff } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import type { Logger } from "../lib/logger.ts";
import { WorkerLostError } from "../lib/request-worker.ts";
import type { Paced } from "../lib/steps.ts";
import { yieldToLoop } from "../lib/yield-to-loop.ts";
import { isKind } from "../model/ids.ts";
import { availabilityEventOf } from "../model/incident.ts";
import { decodeEntries, decompress, encodeEntries, partsOf } from "./batch-codec.ts";
import {
  type Batch,
  type ChangeHistogram,
  forStoreKinds,
  type Log,
  type LogEntry,
  LogError,
  type LogStats,
  type PageRecord,
  type Snapshot,
  type SnapshotFacts,
  STORE_KINDS,
  type StoreKind,
  type WriteFailure,
} from "./log.ts";
import { IN_MEMORY, type LogFile, type LogFileOptions, openLogFile } from "./log-file.ts";
import { type BatchCounts, type BatchPart, LogWriter, type PageBlock, type WriteRequest } from "./writer.ts";
import { WriterThread } from "./writer-thread.ts";

const PAGES_PER_BLOCK = 16;
const LOADED_PAGES_PER_BLOCK = 64;
const ROWS_PER_SLICE = 16;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;

interface StoredSnapshot {
  revision: number;
  time: number;
  graph_time: number;
  /** The collection versions as JSON, under the name that the file format has for them. */
  marks: string;
  pages: string;
}
interface BatchRow {
  revision: number;
  part: number;
  time: number;
  data: Uint8Array;
}

/** A page of a snapshot as another log stores it. */
export interface CompressedPage {
  readonly kind: StoreKind;
  readonly data: Uint8Array;
}

/** Carries out one request. Rejects when nothing of it is stored, or with `WorkerLostError` when that is unknown. */
interface Writer {
  write(request: WriteRequest): Promise<void>;
  close(): Promise<void>;
}

export interface EmbeddedLogOptions extends LogFileOptions {
  /** Set to retry batches that cannot be written until they are stored or the log is closed. */
  readonly retry?: { readonly clock: Clock; readonly logger: Logger };
  /** The module of the writer thread. */
  readonly worker?: URL;
}

/** Counts one change of a batch. The internal kinds are not counted, because the interface does not show them. */
function addToCounts(counts: BatchCounts, entry: LogEntry): void {
  if (!isKind(entry.kind)) return;
  counts.changes++;
  const event = availabilityEventOf(entry);
  if (event === undefined) return;
  if (event === "added") counts.added++;
  else if (event === "removed") counts.removed++;
  else if (event === "recovered") counts.up++;
  else counts.down++;
}

/** Opens or creates the log at `path`, a file or `:memory:`. Throws `LogError`. */
export const openEmbeddedLog = (path: string, options: EmbeddedLogOptions = {}): EmbeddedLog =>
  new EmbeddedLog(path, options);

export class EmbeddedLog implements Log {
  readonly id: string;
  readonly signingKey: Uint8Array;
  readonly #file: LogFile;
  readonly #db: Database;
  readonly #writer: Writer;
  readonly #retry: EmbeddedLogOptions["retry"];
  readonly #closing = new AbortController();
  readonly #failingListeners = new Set<(isFailing: boolean) => void>();
  #failure: WriteFailure | undefined;
  #failures = 0;
  #stats: LogStats;
  #nextPageId: number;

  constructor(path: string, options: EmbeddedLogOptions) {
    const file = openLogFile(path, options);
    const { db, id, signingKey } = file;
    const { worker, retry } = options;
    this.#retry = retry;
    this.#file = file;
    this.id = id;
    this.signingKey = signingKey;
    this.#db = db;
    this.#stats = file.stats;
    this.#nextPageId = file.lastPageId + 1;
    const onStats = (changed: LogStats) => {
      this.#stats = changed;
    };
    // A database in memory is visible to its own connection only, and its writes never wait for a disk.
    if (path === IN_MEMORY) {
      const writer = new LogWriter(db, onStats, file.stats);
      this.#writer = { write: (request) => writer.write(request), close: () => Promise.resolve() };
    } else {
      this.#writer = new WriterThread({ path, stats: file.stats, onStats, ...(worker && { worker }) });
    }
  }

  append(batch: Batch): Promise<void> {
    return this.store(batch);
  }

  /** Appends a batch and stores `position` in the same transaction (see the getter `position`). */
  async store(batch: Batch, position?: string): Promise<void> {
    if (!this.#retry) return this.#store(batch, position);
    const { clock, logger } = this.#retry;
    const backoff = createBackoff(FIRST_PAUSE_MS, MAX_PAUSE_MS);
    const startedAt = clock.monotonic();
    for (;;) {
      try {
        await this.#store(batch, position);
        break;
      } catch (error) {
        if (!(error instanceof LogError) || this.#closing.signal.aborted) throw error;
        this.#failures++;
        const isFirst = !this.#failure;
        this.#failure = { error: error.message, since: this.#failure?.since ?? clock.now() };
        if (isFirst) {
          logger.error("the log cannot be written; changes wait until it can", { why: error.message });
          this.#announce(true);
        }
        await clock.sleep(backoff.nextMs(), this.#closing.signal);
      }
    }
    if (!this.#failure) return;
    this.#failure = undefined;
    this.#announce(false);
    const seconds = Math.round((clock.monotonic() - startedAt) / 1000);
    logger.info("the log is written again", { seconds });
  }

  /** Adds a listener. It gets true when writes of batches begin to fail, and false when they succeed again or the log closes. */
  onFailing(listener: (isFailing: boolean) => void): void {
    this.#failingListeners.add(listener);
  }

  #announce(isFailing: boolean): void {
    for (const listener of this.#failingListeners) listener(isFailing);
  }

  async #store({ revision, time, entries }: Batch, position?: string): Promise<void> {
    const parts: BatchPart[] = [];
    const counts: BatchCounts = { changes: 0, down: 0, up: 0, removed: 0, added: 0 };
    for (const part of partsOf(entries)) {
      if (parts.length > 0) await yieldToLoop();
      const before = counts.changes;
      for (const entry of part) addToCounts(counts, entry);
      parts.push({ bytes: encodeEntries(part), changes: counts.changes - before });
    }
    try {
      const stored = { revision, time, parts, counts, ...(position !== undefined && { position }) };
      await this.#write({ op: "append", ...stored });
    } catch (error) {
      const wasLost = error instanceof LogError && error.cause instanceof WorkerLostError;
      if (!wasLost || this.timeOf(revision) === undefined) throw error;
    }
  }

  /** The position in the stream up to which this copy of a cluster's log is complete, as text; undefined if it is no copy. */
  get position(): string | undefined {
    return this.#file.position;
  }

  storePosition(position: string): Promise<void> {
    return this.#write({ op: "storePosition", position });
  }

  async #write(request: WriteRequest): Promise<void> {
    try {
      await this.#writer.write(request);
    } catch (error) {
      const reason = errorMessage(error);
      throw new LogError("write-failed", `the log could not be written: ${reason}`, { cause: error });
    }
  }

  *read(revision: number, until: number = Number.MAX_SAFE_INTEGER): Paced<Batch> {
    // Reads slices of rows, so that no statement stays open between two steps.
    const selectSlice = this.#db.query<BatchRow, [number, number, number]>(
      `SELECT revision, part, time, data FROM batch WHERE (revision, part) > (?, ?) AND revision <= ?
       ORDER BY revision, part LIMIT ${ROWS_PER_SLICE}`,
    );
    let batch: { revision: number; time: number; entries: LogEntry[] } | undefined;
    let last = { revision, part: Number.MAX_SAFE_INTEGER };
    for (;;) {
      const rows = selectSlice.all(last.revision, last.part, until);
      for (const row of rows) {
        if (batch?.revision === row.revision) yield undefined;
        else {
          if (batch) yield batch;
          batch = { revision: row.revision, time: row.time, entries: [] };
        }
        yield* decodeEntries(row.data, batch.entries);
        last = row;
      }
      if (rows.length === 0) break;
    }
    if (batch) yield batch;
  }

  snapshotAtOrBefore(revision: number): Snapshot | undefined {
    const row = this.#db
      .query<StoredSnapshot, [number]>(
        "SELECT * FROM snapshot WHERE revision <= ? ORDER BY revision DESC LIMIT 1",
      )
      .get(revision);
    if (!row) return undefined;
    const pageIds: Record<StoreKind, number[]> = JSON.parse(row.pages);
    const records = (kind: StoreKind): PageRecord[] =>
      pageIds[kind].map((storedId) => ({ storedId, encode: () => this.#readPage(storedId) }));
    return {
      revision: row.revision,
      time: row.time,
      graphTime: row.graph_time,
      versions: JSON.parse(row.marks),
      pages: forStoreKinds(records),
    };
  }

  #readPage(id: number): Uint8Array {
    const row = this.#db.query<{ data: Uint8Array }, [number]>("SELECT data FROM page WHERE id = ?").get(id);
    if (!row) throw new LogError("unreadable", `page ${id} of a snapshot is missing from the log`);
    return decompress(row.data);
  }

  async writeSnapshot({ revision, time, graphTime, versions, pages }: Snapshot): Promise<void> {
    const pageIds: Record<string, readonly number[]> = {};
    for (const kind of STORE_KINDS) {
      const fresh = pages[kind].filter(({ storedId }) => storedId === undefined);
      for (let i = 0; i < fresh.length; i += PAGES_PER_BLOCK) {
        await this.#storePages(fresh.slice(i, i + PAGES_PER_BLOCK));
      }
      pageIds[kind] = pages[kind].map(({ storedId }) => {
        if (storedId === undefined) throw new Error("a page of the snapshot was not stored");
        return storedId;
      });
    }
    await this.#storeSnapshot({ revision, time, graphTime, versions }, pageIds);
  }

  /** Fills an empty log with the snapshot of another log, whose pages are compressed. Stores all of it or nothing. */
  async loadSnapshot(
    facts: SnapshotFacts,
    pages: AsyncIterable<CompressedPage>,
    position: string,
  ): Promise<void> {
    const pageIds = forStoreKinds((): number[] => []);
    let waiting: CompressedPage[] = [];
    let written = Promise.resolve();
    const flush = async () => {
      const loaded = waiting;
      waiting = [];
      // One block is written while the next one arrives.
      await written;
      const block = this.#encodePages(
        loaded.map(({ data }) => data),
        true,
      );
      for (const [n, { kind }] of loaded.entries()) pageIds[kind].push(block.pages[n]?.id ?? 0);
      written = this.#write({ op: "storePages", block });
      written.catch(() => {});
    };
    for await (const page of pages) {
      waiting.push(page);
      if (waiting.length >= LOADED_PAGES_PER_BLOCK) await flush();
    }
    await flush();
    await written;
    await this.#storeSnapshot(facts, pageIds, position);
  }

  async #storeSnapshot(
    { revision, time, graphTime, versions }: SnapshotFacts,
    pageIds: Readonly<Record<string, readonly number[]>>,
    position?: string,
  ): Promise<void> {
    const row = {
      revision,
      time,
      graphTime,
      versions: JSON.stringify(versions),
      pages: JSON.stringify(pageIds),
    };
    await this.#write({ op: "storeSnapshot", row, ...(position !== undefined && { position }) });
  }

  dropSnapshot(revision: number): Promise<void> {
    return this.#write({ op: "dropSnapshot", revision });
  }

  async #storePages(records: readonly PageRecord[]): Promise<void> {
    const block = this.#encodePages(
      records.map((record) => record.encode()),
      false,
    );
    await this.#write({ op: "storePages", block });
    // The ids are set after the commit: a page with an id is never written again, so a failed transaction would lose it.
    for (const [n, record] of records.entries()) record.storedId = block.pages[n]?.id;
  }

  /** Copies the pages to one buffer, which is transferred as a whole. */
  #encodePages(encoded: readonly Uint8Array[], isCompressed: boolean): PageBlock {
    const bytes = new Uint8Array(encoded.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    const pages = encoded.map((page) => {
      bytes.set(page, at);
      at += page.length;
      return { id: this.#nextPageId++, length: page.length };
    });
    return { bytes, pages, isCompressed };
  }

  revisionAt(time: number): number | undefined {
    const { oldest, oldestTime } = this.#stats;
    if (time < oldestTime) return undefined;
    const row = this.#db
      .query<{ n: number | null }, [number]>(
        "SELECT revision AS n FROM batch WHERE time <= ? ORDER BY time DESC, revision DESC LIMIT 1",
      )
      .get(time);
    return Math.max(row?.n ?? 0, oldest);
  }

  timeOf(revision: number): number | undefined {
    const row = this.#db
      .query<{ time: number }, [number]>("SELECT time FROM batch WHERE revision = ? LIMIT 1")
      .get(revision);
    if (row) return row.time;
    return revision === this.#stats.oldest ? this.#stats.oldestTime : undefined;
  }

  /** Subtracts running totals, so that the number of look-ups depends on the buckets and not on the batches. */
  histogram(from: number, to: number, buckets: number): ChangeHistogram {
    const width = (to - from) / buckets;
    const bounds = Array.from({ length: buckets + 1 }, (_, i) => from + i * width);
    const totalAt = (column: string, table: string) =>
      `ifnull((SELECT ${column} FROM ${table} WHERE revision <= bound.revision ORDER BY revision DESC LIMIT 1), 0)`;
    const totals = this.#db
      .query<{ changes: number; faults: number; recoveries: number }, { bounds: string; oldest: number }>(
        `WITH bound AS MATERIALIZED (
           SELECT key, max($oldest, ifnull(
             (SELECT revision FROM batch WHERE time < value ORDER BY time DESC, revision DESC LIMIT 1), 0)) AS revision
           FROM json_each($bounds))
         SELECT ${totalAt("changes", "running_total")} AS changes, ${totalAt("faults", "fault_total")} AS faults,
           ${totalAt("recoveries", "fault_total")} AS recoveries
         FROM bound ORDER BY key`,
      )
      .all({ bounds: JSON.stringify(bounds), oldest: this.#stats.oldest });
    const differences = (name: "changes" | "faults" | "recoveries") =>
      totals.slice(1).map((total, i) => total[name] - (totals[i]?.[name] ?? 0));
    return {
      counts: differences("changes"),
      faults: differences("faults"),
      recoveries: differences("recoveries"),
    };
  }

  prune(keepSince: number, maxBytes: number): Promise<void> {
    return this.#write({ op: "prune", keepSince, maxBytes });
  }

  stats(): LogStats {
    if (this.#failures === 0) return this.#stats;
    return {
      ...this.#stats,
      writeFailures: this.#failures,
      ...(this.#failure && { writeFailure: this.#failure }),
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#failure) this.#announce(false);
    // This connection closes first, so that the writer's thread writes the WAL to the file: the last one to close does that.
    this.#db.close();
    await this.#writer.close();
    this.#file.releaseLock();
  }
}
