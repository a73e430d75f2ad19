/**
 * The write operations of the embedded log, on a connection of its own: batches, snapshots, pruning. It runs in a worker
 * (`writer-worker.ts`), where a slow disk delays only the writer. A log in memory runs it in the main thread.
 *
 * Callers pass encoded bytes; the writer compresses them, unless they are compressed already. Every operation is one
 * transaction, or several that each leave the log complete, so that a crash between two of them loses nothing.
 */
import type { Database } from "bun:sqlite";
import { yieldToLoop } from "../lib/yield-to-loop.ts";
import { compress } from "./batch-codec.ts";
import type { LogStats } from "./log.ts";
import { readExtent, readStats, storePosition } from "./log-file.ts";

const ROWS_PER_SLICE = 200;
const TOTALS_PER_SLICE = 10_000;
const FREE_PAGES_PER_SLICE = 1000;

/** The numbers of a batch that the histogram needs. */
export interface BatchCounts {
  /** Changes without internal records. */
  changes: number;
  /** Devices that became unavailable and links that became inactive. */
  down: number;
  /** Devices that became available and links that became active. */
  up: number;
  /** Devices and links that were removed. */
  removed: number;
  /** Devices and links that were added. */
  added: number;
}

/** A batch whose entries are encoded. */
export interface EncodedBatch {
  readonly revision: number;
  readonly time: number;
  readonly counts: BatchCounts;
  /** The parts of the batch; compressed where `isCompressed`. */
  readonly parts: readonly Uint8Array<ArrayBuffer>[];
  readonly isCompressed: boolean;
}

/** The sums over all batches up to a revision, for the histogram. */
export interface FaultTotals {
  readonly faults: number;
  readonly recoveries: number;
  /** Devices and links that were removed and not added again. */
  readonly removed: number;
}

/** The totals after a batch. An addition is a recovery while more were removed than added again. */
export function addFaults(totals: FaultTotals, { down, up, removed, added }: BatchCounts): FaultTotals {
  const stillRemoved = totals.removed + removed;
  const returned = Math.min(added, stillRemoved);
  return {
    faults: totals.faults + down + removed,
    recoveries: totals.recoveries + up + returned,
    removed: stillRemoved - returned,
  };
}

/** The totals after the last batch in the file. */
export const lastFaultTotals = (db: Database): FaultTotals =>
  db
    .query<FaultTotals, []>(
      "SELECT faults, recoveries, removed FROM fault_total ORDER BY revision DESC LIMIT 1",
    )
    .get() ?? { faults: 0, recoveries: 0, removed: 0 };

/** A block of encoded pages, which lie one after the other in one buffer. */
export interface PageBlock {
  /** Whether the pages are compressed, as another log stores them. */
  readonly isCompressed: boolean;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly pages: readonly { readonly id: number; readonly length: number }[];
}

export interface SnapshotRow {
  readonly revision: number;
  readonly time: number;
  readonly graphTime: number;
  /** The collection versions, as JSON. */
  readonly versions: string;
  /** The ids of the pages of each collection, as JSON. */
  readonly pages: string;
}

export type WriteRequest =
  | { readonly op: "append"; readonly batches: readonly EncodedBatch[]; readonly position?: string }
  | { readonly op: "storePosition"; readonly position: string }
  | { readonly op: "storePages"; readonly block: PageBlock }
  | { readonly op: "storeSnapshot"; readonly row: SnapshotRow; readonly position?: string }
  | { readonly op: "dropSnapshot"; readonly revision: number }
  | { readonly op: "prune"; readonly keepSince: number; readonly maxBytes: number };

type AppendRequest = Extract<WriteRequest, { op: "append" }>;

export class LogWriter {
  readonly #db: Database;
  /** Callback that receives the statistics after each change, before the operation is complete. */
  readonly #onStats: (stats: LogStats) => void;
  #stats: LogStats;

  constructor(db: Database, onStats: (stats: LogStats) => void, stats: LogStats = readStats(db)) {
    this.#db = db;
    this.#onStats = onStats;
    this.#stats = stats;
  }

  /** Carries out a request. Requests may overlap: `prune` lets others run between its slices. */
  async write(request: WriteRequest): Promise<void> {
    switch (request.op) {
      case "append":
        return this.#append(request);
      case "storePosition":
        return storePosition(this.#db, request.position);
      case "storePages":
        return this.#storePages(request.block);
      case "storeSnapshot":
        return this.#storeSnapshot(request.row, request.position);
      case "dropSnapshot":
        return this.#dropSnapshot(request.revision);
      case "prune":
        return this.#prune(request.keepSince, request.maxBytes);
    }
  }

  /** Stores all batches, or none of them. */
  #append({ batches, position }: AppendRequest): void {
    const insert = this.#db.query(
      "INSERT INTO batch (revision, part, time, changes, bytes, data) VALUES (?, ?, ?, ?, ?, ?)",
    );
    const addToTotal = this.#db.query<unknown, [number, number]>(
      `INSERT INTO running_total (revision, changes)
       SELECT ?, changes + ? FROM running_total ORDER BY revision DESC LIMIT 1`,
    );
    const rows = batches.map(({ parts, isCompressed }) => (isCompressed ? parts : parts.map(compress)));
    let { bytes } = this.#stats;
    this.#db.transaction(() => {
      for (const [i, { revision, time, counts }] of batches.entries()) {
        addToTotal.run(revision, counts.changes);
        this.#addFaults(revision, counts);
        for (const [part, data] of (rows[i] ?? []).entries()) {
          // The first part counts the changes of all.
          insert.run(revision, part, time, part === 0 ? counts.changes : 0, data.length, data);
          bytes += data.length;
        }
      }
      if (position !== undefined) storePosition(this.#db, position);
    })();
    this.#update({ newest: batches.at(-1)?.revision ?? this.#stats.newest, bytes });
  }

  /** A batch without faults and recoveries has no row in `fault_total`: the one before it applies. */
  #addFaults(revision: number, counts: BatchCounts): void {
    if (counts.down + counts.up + counts.removed + counts.added === 0) return;
    const last = lastFaultTotals(this.#db);
    const { faults, recoveries, removed } = addFaults(last, counts);
    if (faults === last.faults && recoveries === last.recoveries) return;
    this.#db
      .query("INSERT INTO fault_total (revision, faults, recoveries, removed) VALUES (?, ?, ?, ?)")
      .run(revision, faults, recoveries, removed);
  }

  #storePages({ bytes, pages, isCompressed }: PageBlock): void {
    const insert = this.#db.query<unknown, [number, number, Uint8Array]>(
      "INSERT INTO page (id, bytes, data) VALUES (?, ?, ?)",
    );
    let at = 0;
    const rows = pages.map(({ id, length }) => {
      const page = bytes.subarray(at, at + length);
      const data = isCompressed ? page : compress(page);
      at += length;
      return { id, data };
    });
    this.#db.transaction(() => {
      for (const { id, data } of rows) insert.run(id, data.length, data);
    })();
    this.#update({ bytes: rows.reduce((sum, { data }) => sum + data.length, this.#stats.bytes) });
  }

  #storeSnapshot({ revision, time, graphTime, versions, pages }: SnapshotRow, position?: string): void {
    const insert = this.#db.query(
      "INSERT OR REPLACE INTO snapshot (revision, time, graph_time, marks, pages) VALUES (?, ?, ?, ?, ?)",
    );
    this.#db.transaction(() => {
      insert.run(revision, time, graphTime, versions, pages);
      if (position !== undefined) storePosition(this.#db, position);
    })();
    this.#updateExtent();
  }

  #dropSnapshot(revision: number): void {
    this.#db.query("DELETE FROM snapshot WHERE revision = ?").run(revision);
    this.#updateExtent();
  }

  /** Deletes history up to one snapshot after another, because history without its first batch must start with a snapshot. */
  async #prune(keepSince: number, maxBytes: number): Promise<void> {
    for (;;) {
      const next = this.#db
        .query<{ revision: number; time: number }, [number]>(
          "SELECT revision, time FROM snapshot WHERE revision > ? ORDER BY revision LIMIT 1",
        )
        .get(this.#stats.oldest);
      if (!next || (next.time >= keepSince && this.#stats.bytes <= maxBytes)) return;
      this.#db.query("DELETE FROM snapshot WHERE revision < ?").run(next.revision);
      // Raises `oldest` before the batches are deleted, so that nobody reads a batch that is about to be deleted.
      const { snapshots } = readExtent(this.#db);
      this.#update({ oldest: next.revision, oldestTime: next.time, snapshots });
      await this.#deleteInSlices("batch", "revision <= $bound", next.revision);
      // The total of the oldest revision stays, because the histogram subtracts it from later totals.
      await this.#deleteTotals("running_total", next.revision);
      await this.#deleteTotals("fault_total", next.revision);
      await this.#deleteUnreferencedPages();
      await this.#vacuum();
    }
  }

  /** Returns the space of deleted rows to the file system. */
  async #vacuum(): Promise<void> {
    const freePages = this.#db.query<{ freelist_count: number }, []>("PRAGMA freelist_count");
    for (let left = freePages.get()?.freelist_count ?? 0; left > 0; ) {
      this.#db.query(`PRAGMA incremental_vacuum(${FREE_PAGES_PER_SLICE})`).all();
      await yieldToLoop();
      const now = freePages.get()?.freelist_count ?? 0;
      if (now >= left) return;
      left = now;
    }
  }

  /** Deletes the oldest rows first, so that a crash in the middle leaves no gap between the remaining rows. */
  async #deleteInSlices(table: string, where: string, bound: number): Promise<void> {
    const selectSlice = `SELECT rowid AS id, bytes FROM ${table} WHERE ${where} ORDER BY rowid LIMIT ${ROWS_PER_SLICE}`;
    for (;;) {
      const rows = this.#db
        .query<{ id: number; bytes: number }, { bound: number }>(selectSlice)
        .all({ bound });
      if (rows.length === 0) return;
      this.#db.transaction(() => {
        const deleteRow = this.#db.query(`DELETE FROM ${table} WHERE rowid = ?`);
        for (const { id } of rows) deleteRow.run(id);
      })();
      this.#update({ bytes: rows.reduce((left, { bytes }) => left - bytes, this.#stats.bytes) });
      await yieldToLoop();
    }
  }

  /** Deletes the totals before the one that applies at `revision`. */
  async #deleteTotals(table: string, revision: number): Promise<void> {
    const deleteSlice = this.#db.query<unknown, [number]>(
      `DELETE FROM ${table} WHERE revision IN
       (SELECT revision FROM ${table} WHERE revision < (SELECT max(revision) FROM ${table} WHERE revision <= ?)
        ORDER BY revision LIMIT ${TOTALS_PER_SLICE})`,
    );
    while (deleteSlice.run(revision).changes > 0) await yieldToLoop();
  }

  /** Keeps pages above the highest referenced id, because they may belong to a snapshot that is still being written. */
  async #deleteUnreferencedPages(): Promise<void> {
    this.#db.run("CREATE TEMP TABLE IF NOT EXISTS referenced (id INTEGER PRIMARY KEY)");
    this.#db.run("DELETE FROM referenced");
    const insert = this.#db.query("INSERT OR IGNORE INTO referenced (id) VALUES (?)");
    let highest = 0;
    for (const { pages } of this.#db.query<{ pages: string }, []>("SELECT pages FROM snapshot").all()) {
      const pageIds: Record<string, number[]> = JSON.parse(pages);
      for (const ids of Object.values(pageIds)) {
        for (const id of ids) {
          insert.run(id);
          highest = Math.max(highest, id);
        }
      }
    }
    await this.#deleteInSlices("page", "id <= $bound AND id NOT IN (SELECT id FROM referenced)", highest);
  }

  #updateExtent(): void {
    this.#update(readExtent(this.#db));
  }

  #update(changed: Partial<LogStats>): void {
    this.#stats = { ...this.#stats, ...changed };
    this.#onStats(this.#stats);
  }
}
