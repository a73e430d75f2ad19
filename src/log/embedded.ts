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
 *
 * Batches that are durable elsewhere, as those of a cluster's log are, are written later, in groups (`storeLater`): a write costs
 * much more than a batch. Until then reads find them in memory. Every other write waits for them, so that the file never has a
 * snapshot or a position without the batches before it.
 */
import type { Database } from "bun:sqlite";
import { createBackoff } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import type { Logger } from "../lib/logger.ts";
import { WorkerLostError } from "../lib/request-worker.ts";
import type { Paced } from "../lib/steps.ts";
import { isKind } from "../model/ids.ts";
import { availabilityEventOf } from "../model/incident.ts";
import { blocksOf, decodeEntries, decompress, encodeEntries, pacedParts } from "./batch-codec.ts";
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
import { IN_MEMORY, type LogFile, type LogFileOptions, openLogFile, readExtent } from "./log-file.ts";
import {
  addFaults,
  type BatchCounts,
  type EncodedBatch,
  LogWriter,
  lastFaultTotals,
  type PageBlock,
  type WriteRequest,
} from "./writer.ts";
import { WriterThread } from "./writer-thread.ts";

const PAGES_PER_BLOCK = 16;
const LOADED_PAGES_PER_BLOCK = 64;
const ROWS_PER_SLICE = 16;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;
/** Time for which a batch waits for others that are written with it. */
const GROUP_MS = 200;
/** Maximum size of the encoded batches that wait. */
const MAX_WAITING_BYTES = 1024 * 1024;

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

/** A batch that is not in the file yet. */
interface WaitingBatch {
  readonly batch: Batch;
  readonly encoded: EncodedBatch;
  readonly bytes: number;
  /** Returns the position of the log after the batch. */
  readonly position: () => string;
}

const noCounts = (): BatchCounts => ({ changes: 0, down: 0, up: 0, removed: 0, added: 0 });

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

async function encodeBatch({ revision, time, entries }: Batch): Promise<EncodedBatch> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const counts = noCounts();
  for await (const part of pacedParts(entries)) {
    for (const entry of part) addToCounts(counts, entry);
    parts.push(encodeEntries(part));
  }
  return { revision, time, counts, parts, isCompressed: false };
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
  /** The batches that are not in the file yet, or not known to be, the oldest first. */
  #waiting: WaitingBatch[] = [];
  #waitingBytes = 0;
  /** Aborts when the waiting batches must be written now. */
  #writeNow = new AbortController();
  /** Settles when no batch waits, or when the log closes. */
  #writingLater: Promise<void> | undefined;
  #writingGroup: Promise<void> | undefined;

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
    return this.#untilStored(async () => this.#store([await encodeBatch(batch)]));
  }

  /** Makes attempts to store batches until one succeeds, where this log retries. */
  async #untilStored(attempt: () => Promise<void>): Promise<void> {
    if (!this.#retry) return attempt();
    const { clock, logger } = this.#retry;
    const backoff = createBackoff(FIRST_PAUSE_MS, MAX_PAUSE_MS);
    const startedAt = clock.monotonic();
    for (;;) {
      try {
        await attempt();
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

  /** Stores all batches in one transaction, with the position after them (see the getter `position`). */
  async #store(batches: readonly EncodedBatch[], position?: string): Promise<void> {
    try {
      await this.#send({ op: "append", batches, ...(position !== undefined && { position }) });
    } catch (error) {
      const wasLost = error instanceof LogError && error.cause instanceof WorkerLostError;
      const last = batches.at(-1)?.revision ?? 0;
      if (!wasLost || this.#storedTimeOf(last) === undefined) throw error;
    }
  }

  /** Whether `storeLater` may be called: not too much waits, and writes do not fail. */
  get hasRoom(): boolean {
    return this.#waitingBytes < MAX_WAITING_BYTES && !this.#failure;
  }

  /** Resolves when the log has room. Rejects with `LogError` when it closes before. */
  async untilRoom(): Promise<void> {
    while (!this.hasRoom && !this.#closing.signal.aborted) {
      this.#writeNow.abort();
      this.#writingLater ??= this.#writeLater();
      await this.#writingLater;
    }
    if (this.#closing.signal.aborted) throw new LogError("write-failed", "the log is closed");
  }

  /**
   * Appends a batch that cannot be lost, because it is stored elsewhere too. Resolves when it can be read; it is written soon,
   * with others. `payload` has the compressed entries (`batch-codec.ts`), `position` returns the position after the batch.
   */
  async storeLater(batch: Batch, payload: Uint8Array, position: () => string): Promise<void> {
    const { revision, time, entries } = batch;
    const counts = noCounts();
    for await (const part of pacedParts(entries)) for (const entry of part) addToCounts(counts, entry);
    if (this.#closing.signal.aborted) return;
    // Copies, because the payload is a part of a larger buffer.
    const parts = blocksOf(payload).map((block) => new Uint8Array(block));
    const encoded = { revision, time, counts, parts, isCompressed: true };
    this.#waiting.push({ batch, encoded, bytes: payload.length, position });
    this.#waitingBytes += payload.length;
    this.#writingLater ??= this.#writeLater();
  }

  async #writeLater(): Promise<void> {
    try {
      await this.#retry?.clock.sleep(GROUP_MS, this.#writeNow.signal);
      // What comes while a group is written is the next one.
      while (this.#waiting.length > 0) await this.#untilStored(() => this.#writeGroup());
    } catch (error) {
      // The log is closed. What waits is stored elsewhere too.
      if (!(error instanceof LogError)) throw error;
    } finally {
      this.#writingLater = undefined;
      this.#writeNow = new AbortController();
    }
  }

  /** Writes the batches that wait now, in one transaction. */
  #writeGroup(): Promise<void> {
    this.#writingGroup ??= this.#writeWaiting().finally(() => {
      this.#writingGroup = undefined;
    });
    return this.#writingGroup;
  }

  async #writeWaiting(): Promise<void> {
    const group = [...this.#waiting];
    await this.#store(
      group.map(({ encoded }) => encoded),
      group.at(-1)?.position(),
    );
    this.#waiting = this.#waiting.slice(group.length);
    this.#waitingBytes -= group.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** The position in the stream up to which this copy of a cluster's log is complete, as text; undefined if it is no copy. */
  get position(): string | undefined {
    return this.#file.position;
  }

  storePosition(position: string): Promise<void> {
    return this.#write({ op: "storePosition", position });
  }

  /** Carries out a request after the batches that wait now are written. */
  async #write(request: WriteRequest): Promise<void> {
    const last = this.#waiting.at(-1);
    while (last && this.#waiting.includes(last)) await this.#writeGroup();
    await this.#send(request);
  }

  async #send(request: WriteRequest): Promise<void> {
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
    // What was not in the file at this moment is among these. When some are written, the array is replaced.
    const waiting = this.#waiting;
    if (batch) yield batch;
    for (const { batch: later } of waiting)
      if (later.revision > last.revision && later.revision <= until) yield later;
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
    const waiting = this.#waiting.findLast(({ batch }) => batch.time <= time);
    if (waiting) return waiting.batch.revision;
    const row = this.#db
      .query<{ n: number | null }, [number]>(
        "SELECT revision AS n FROM batch WHERE time <= ? ORDER BY time DESC, revision DESC LIMIT 1",
      )
      .get(time);
    return Math.max(row?.n ?? 0, oldest);
  }

  timeOf(revision: number): number | undefined {
    const waiting = this.#waiting[revision - (this.#waiting[0]?.batch.revision ?? 0)];
    return waiting?.batch.time ?? this.#storedTimeOf(revision);
  }

  #storedTimeOf(revision: number): number | undefined {
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
    this.#addWaiting(totals, bounds);
    const differences = (name: "changes" | "faults" | "recoveries") =>
      totals.slice(1).map((total, i) => total[name] - (totals[i]?.[name] ?? 0));
    return {
      counts: differences("changes"),
      faults: differences("faults"),
      recoveries: differences("recoveries"),
    };
  }

  /** Adds the batches that are not in the file yet to the totals at these times. */
  #addWaiting(
    totals: { changes: number; faults: number; recoveries: number }[],
    bounds: readonly number[],
  ): void {
    if (this.#waiting.length === 0) return;
    const stored = readExtent(this.#db).newest;
    let last = lastFaultTotals(this.#db);
    for (const { batch, encoded } of this.#waiting) {
      if (batch.revision <= stored) continue;
      const { faults, recoveries } = last;
      last = addFaults(last, encoded.counts);
      for (const [i, total] of totals.entries()) {
        if (batch.time >= (bounds[i] ?? 0)) continue;
        total.changes += encoded.counts.changes;
        total.faults += last.faults - faults;
        total.recoveries += last.recoveries - recoveries;
      }
    }
  }

  prune(keepSince: number, maxBytes: number): Promise<void> {
    return this.#write({ op: "prune", keepSince, maxBytes });
  }

  /** Newest revision in the file. */
  get newestStored(): number {
    return this.#stats.newest;
  }

  stats(): LogStats {
    const newest = this.#waiting.at(-1)?.batch.revision;
    if (this.#failures === 0 && newest === undefined) return this.#stats;
    return {
      ...this.#stats,
      ...(newest !== undefined && { newest }),
      ...(this.#failures > 0 && { writeFailures: this.#failures }),
      ...(this.#failure && { writeFailure: this.#failure }),
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#writeNow.abort();
    await this.#writingLater;
    if (this.#failure) this.#announce(false);
    // This connection closes first, so that the writer's thread writes the WAL to the file: the last one to close does that.
    this.#db.close();
    await this.#writer.close();
    this.#file.releaseLock();
  }
}
