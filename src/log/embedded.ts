/**
 * The log on one machine: a SQLite file in WAL mode, locked by one process.
 *
 * A batch is one row (a large batch has several parts); a snapshot is a list of page ids, so that snapshots share pages.
 * Each append hands the WAL to the operating system without fsync: `kill -9` loses nothing; a power cut may lose the last
 * batches but leaves the file consistent. `:memory:` is the same code on SQLite's in-memory database.
 */
import type { Database } from "bun:sqlite";
import { errorMessage } from "../lib/error-message.ts";
import { compress, decodeEntries, decompress, encodeEntries } from "./batch-codec.ts";
import {
  type Batch,
  type Log,
  type LogEntry,
  LogError,
  type LogStats,
  type PageRecord,
  type Snapshot,
  STORE_KINDS,
  type StoreKind,
  type YieldToLoop,
} from "./log.ts";
import { completeConversion, type LogFile, openLogFile } from "./log-file.ts";

const ENTRIES_PER_PART = 5_000;
const PAGES_PER_SLICE = 64;
const ROWS_PER_SLICE = 200;
const FREE_PAGES_PER_SLICE = 1000;

interface SnapshotRow {
  revision: number;
  time: number;
  graph_time: number;
  /** The stored name of the versions. */
  marks: string;
  pages: string;
}
interface BatchRow {
  revision: number;
  time: number;
  data: Uint8Array;
}

/** Opens or creates the log at `path`, a file or `:memory:`. Throws `LogError`. */
export const openEmbeddedLog = (path: string): EmbeddedLog => new EmbeddedLog(openLogFile(path));

export class EmbeddedLog implements Log {
  readonly id: string;
  readonly signingKey: Uint8Array;
  /** Whether an older version wrote the values. Call `completeConversion` once they are converted. */
  readonly needsConversion: boolean;
  readonly #db: Database;
  #bytes: number;
  #oldest: number;
  #oldestTime: number;
  #newest: number;
  #snapshotCount: number;

  constructor({ db, id, signingKey, needsConversion, extent }: LogFile) {
    this.id = id;
    this.signingKey = signingKey;
    this.needsConversion = needsConversion;
    this.#db = db;
    this.#bytes = extent.bytes;
    this.#oldest = extent.oldest;
    this.#oldestTime = extent.oldestTime;
    this.#newest = extent.newest;
    this.#snapshotCount = this.#countSnapshots();
  }

  completeConversion(): void {
    completeConversion(this.#db);
  }

  append(batch: Batch): void {
    const parts: { data: Uint8Array; changes: number }[] = [];
    for (let i = 0; i < batch.entries.length; i += ENTRIES_PER_PART) {
      const entries = batch.entries.slice(i, i + ENTRIES_PER_PART);
      // For the histogram: claims are internal records, not changes that the interface shows.
      const changes = entries.filter(({ kind }) => kind !== "claims").length;
      parts.push({ data: encodeEntries(entries), changes });
    }
    const insert = this.#db.query(
      "INSERT INTO batch (revision, part, time, changes, bytes, data) VALUES (?, ?, ?, ?, ?, ?)",
    );
    try {
      this.#db.transaction(() => {
        for (const [part, { data, changes }] of parts.entries()) {
          insert.run(batch.revision, part, batch.time, changes, data.length, data);
        }
      })();
    } catch (error) {
      const reason = errorMessage(error);
      throw new LogError("write-failed", `the log could not be written: ${reason}`, { cause: error });
    }
    this.#bytes += parts.reduce((sum, { data }) => sum + data.length, 0);
    this.#newest = batch.revision;
  }

  *read(revision: number, until: number = Number.MAX_SAFE_INTEGER): Iterable<Batch> {
    const selectSlice = this.#db.query<BatchRow, [number, number]>(
      "SELECT revision, time, data FROM batch WHERE revision > ? AND revision <= ? ORDER BY revision, part LIMIT 100",
    );
    const selectParts = this.#db.query<BatchRow, [number]>(
      "SELECT revision, time, data FROM batch WHERE revision = ? ORDER BY part",
    );
    // Reads slices of rows, so that no statement stays open while batches are appended.
    for (let after = revision; ; ) {
      const partsByRevision = new Map<number, BatchRow[]>();
      const rows = selectSlice.all(after, until);
      for (const row of rows) {
        const parts = partsByRevision.get(row.revision);
        if (parts) parts.push(row);
        else partsByRevision.set(row.revision, [row]);
      }
      const last = rows.at(-1)?.revision;
      if (last === undefined) return;
      for (const [batchRevision, partsInSlice] of partsByRevision) {
        // The slice may end in the middle of the last batch.
        const parts = batchRevision === last ? selectParts.all(batchRevision) : partsInSlice;
        const entries: LogEntry[] = parts.flatMap((part) => decodeEntries(part.data));
        yield { revision: batchRevision, time: parts[0]?.time ?? 0, entries };
      }
      after = last;
    }
  }

  snapshotAtOrBefore(revision: number): Snapshot | undefined {
    const row = this.#db
      .query<SnapshotRow, [number]>(
        "SELECT * FROM snapshot WHERE revision <= ? ORDER BY revision DESC LIMIT 1",
      )
      .get(revision);
    if (!row) return undefined;
    const pageIds: Record<StoreKind, number[]> = JSON.parse(row.pages);
    const records = (kind: StoreKind): PageRecord[] =>
      (pageIds[kind] ?? []).map((storedId) => ({ storedId, encode: () => this.#readPage(storedId) }));
    return {
      revision: row.revision,
      time: row.time,
      graphTime: row.graph_time,
      versions: JSON.parse(row.marks),
      pages: {
        devices: records("devices"),
        ports: records("ports"),
        links: records("links"),
        hosts: records("hosts"),
        claims: records("claims"),
      },
    };
  }

  #readPage(id: number): Uint8Array {
    const row = this.#db.query<{ data: Uint8Array }, [number]>("SELECT data FROM page WHERE id = ?").get(id);
    if (!row) throw new LogError("unreadable", `page ${id} of a snapshot is missing from the log`);
    return decompress(row.data);
  }

  async writeSnapshot(snapshot: Snapshot, yieldToLoop: YieldToLoop): Promise<void> {
    const insert = this.#db.query<unknown, [number, Uint8Array]>(
      "INSERT INTO page (bytes, data) VALUES (?, ?)",
    );
    const pageIds: Record<string, number[]> = {};
    for (const kind of STORE_KINDS) {
      const records = snapshot.pages[kind];
      for (let i = 0; i < records.length; i += PAGES_PER_SLICE) {
        const slice = records.slice(i, i + PAGES_PER_SLICE).filter(({ storedId }) => storedId === undefined);
        const data = slice.map((record) => compress(record.encode()));
        const ids = this.#db.transaction(() =>
          data.map((bytes) => Number(insert.run(bytes.length, bytes).lastInsertRowid)),
        )();
        // Set after the commit: a page with an id is never written again, so a failed transaction would lose it.
        for (const [n, record] of slice.entries()) record.storedId = ids[n];
        this.#bytes += data.reduce((sum, bytes) => sum + bytes.length, 0);
        await yieldToLoop();
      }
      pageIds[kind] = records.map((record) => {
        if (record.storedId === undefined) throw new Error("a page of the snapshot was not stored");
        return record.storedId;
      });
    }
    this.#db
      .query(
        "INSERT OR REPLACE INTO snapshot (revision, time, graph_time, marks, pages) VALUES (?, ?, ?, ?, ?)",
      )
      .run(
        snapshot.revision,
        snapshot.time,
        snapshot.graphTime,
        JSON.stringify(snapshot.versions),
        JSON.stringify(pageIds),
      );
    this.#snapshotCount = this.#countSnapshots();
  }

  revisionAt(time: number): number | undefined {
    if (time < this.#oldestTime) return undefined;
    const row = this.#db
      .query<{ n: number | null }, [number]>(
        "SELECT revision AS n FROM batch WHERE time <= ? ORDER BY time DESC, revision DESC LIMIT 1",
      )
      .get(time);
    return Math.max(row?.n ?? 0, this.#oldest);
  }

  timeOf(revision: number): number | undefined {
    const row = this.#db
      .query<{ time: number }, [number]>("SELECT time FROM batch WHERE revision = ? LIMIT 1")
      .get(revision);
    if (row) return row.time;
    return revision === this.#oldest ? this.#oldestTime : undefined;
  }

  histogram(from: number, to: number, buckets: number): readonly number[] {
    const counts = new Array<number>(buckets).fill(0);
    const rows = this.#db
      .query<{ bucket: number; n: number }, { from: number; to: number; width: number }>(
        `SELECT CAST((time - $from) / $width AS INTEGER) AS bucket, sum(changes) AS n
         FROM batch WHERE time >= $from AND time < $to GROUP BY bucket`,
      )
      .all({ from, to, width: (to - from) / buckets });
    for (const { bucket, n } of rows) if (bucket >= 0 && bucket < buckets) counts[bucket] = n;
    return counts;
  }

  /** Deletes up to a snapshot each time: history without its first batch must start with a snapshot. */
  async prune(keepSince: number, maxBytes: number, yieldToLoop: YieldToLoop): Promise<void> {
    for (;;) {
      const next = this.#db
        .query<{ revision: number; time: number }, [number]>(
          "SELECT revision, time FROM snapshot WHERE revision > ? ORDER BY revision LIMIT 1",
        )
        .get(this.#oldest);
      if (!next || (next.time >= keepSince && this.#bytes <= maxBytes)) return;
      this.#oldest = next.revision;
      this.#oldestTime = next.time;
      this.#db.query("DELETE FROM snapshot WHERE revision < ?").run(next.revision);
      this.#snapshotCount = this.#countSnapshots();
      await this.#deleteInSlices("batch", "revision <= $bound", next.revision, yieldToLoop);
      await this.#deleteUnreferencedPages(yieldToLoop);
      await this.#vacuum(yieldToLoop);
    }
  }

  /** Returns the space of deleted rows to the file system. */
  async #vacuum(yieldToLoop: YieldToLoop): Promise<void> {
    const freePages = this.#db.query<{ freelist_count: number }, []>("PRAGMA freelist_count");
    for (let left = freePages.get()?.freelist_count ?? 0; left > 0; ) {
      this.#db.query(`PRAGMA incremental_vacuum(${FREE_PAGES_PER_SLICE})`).all();
      await yieldToLoop();
      const now = freePages.get()?.freelist_count ?? 0;
      if (now >= left) return;
      left = now;
    }
  }

  /** Deletes the oldest rows first: a crash in the middle leaves no gap after the rows that remain. */
  async #deleteInSlices(
    table: string,
    where: string,
    bound: number,
    yieldToLoop: YieldToLoop,
  ): Promise<void> {
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
      this.#bytes -= rows.reduce((sum, { bytes }) => sum + bytes, 0);
      await yieldToLoop();
    }
  }

  /** Leaves pages above the highest referenced id: they may belong to a snapshot that is still being written. */
  async #deleteUnreferencedPages(yieldToLoop: YieldToLoop): Promise<void> {
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
    await this.#deleteInSlices(
      "page",
      "id <= $bound AND id NOT IN (SELECT id FROM referenced)",
      highest,
      yieldToLoop,
    );
  }

  stats(): LogStats {
    return {
      oldest: this.#oldest,
      oldestTime: this.#oldestTime,
      newest: this.#newest,
      bytes: this.#bytes,
      snapshots: this.#snapshotCount,
    };
  }

  /** Called when snapshots are added or deleted, not by `stats`, which every paged read calls. */
  #countSnapshots(): number {
    return this.#db.query<{ n: number }, []>("SELECT count(*) AS n FROM snapshot").get()?.n ?? 0;
  }

  close(): void {
    this.#db.close();
  }
}
