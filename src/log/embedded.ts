/**
 * The log on one machine: a SQLite file, write-ahead journal, held by exactly one process.
 *
 * One row a batch (large batches have several parts), snapshots as lists of shared pages. The journal is handed to
 * the operating system at each append, so `kill -9` loses nothing; a power cut may lose the last moments but never
 * leaves the file inconsistent. Memory-only (`:memory:`) is the same code on SQLite's own memory.
 */
import type { Database } from "bun:sqlite";
import { compress, decodeEntries, encodeEntries, decompress } from "./batch-codec.ts";
import {
  type Batch,
  type LogEntry,
  type LogStats,
  type Log,
  LogError,
  type PageRecord,
  type Snapshot,
  STORE_KINDS,
  type StoreKind,
} from "./log.ts";
import { type LogFile, openLogFile } from "./log-file.ts";

const ENTRIES_PER_PART = 5_000;
const PAGES_PER_SLICE = 64;
const ROWS_PER_SLICE = 200;
const FREE_PAGES_PER_SLICE = 1000;

interface SnapshotRow {
  revision: number;
  time: number;
  graph_time: number;
  marks: string;
  pages: string;
}
interface BatchRow {
  revision: number;
  time: number;
  data: Uint8Array;
}

/** Opens or makes the log at `path` (a file, or `:memory:`). Throws `LogError` with a message for the operator. */
export const openEmbeddedLog = (path: string): EmbeddedLog => new EmbeddedLog(openLogFile(path));

export class EmbeddedLog implements Log {
  readonly id: string;
  readonly signingKey: Uint8Array;
  readonly #db: Database;
  #bytes: number;
  #oldest: number;
  #oldestTime: number;
  #newest: number;
  #snapshotCount: number;

  constructor({ db, id, signingKey, extent }: LogFile) {
    this.id = id;
    this.signingKey = signingKey;
    this.#db = db;
    this.#bytes = extent.bytes;
    this.#oldest = extent.oldest;
    this.#oldestTime = extent.oldestTime;
    this.#newest = extent.newest;
    this.#snapshotCount = this.#countSnapshots();
  }

  append(batch: Batch): void {
    const parts: { data: Uint8Array; changes: number }[] = [];
    for (let i = 0; i < batch.entries.length; i += ENTRIES_PER_PART) {
      const entries = batch.entries.slice(i, i + ENTRIES_PER_PART);
      // What the time line tells: claims are the view's own notes, and no change that anybody saw.
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
      const reason = error instanceof Error ? error.message : String(error);
      throw new LogError("write-failed", `the log could not be written: ${reason}`, { cause: error });
    }
    this.#bytes += parts.reduce((sum, { data }) => sum + data.length, 0);
    this.#newest = batch.revision;
  }

  *read(revision: number, until: number = Number.MAX_SAFE_INTEGER): Iterable<Batch> {
    const next = this.#db.query<BatchRow, [number, number]>(
      "SELECT revision, time, data FROM batch WHERE revision > ? AND revision <= ? ORDER BY revision, part LIMIT 100",
    );
    const rest = this.#db.query<BatchRow, [number]>(
      "SELECT revision, time, data FROM batch WHERE revision = ? ORDER BY part",
    );
    // In slices of rows, so that no statement stays open while others append.
    for (let after = revision; ; ) {
      const revisions = new Map<number, BatchRow[]>();
      const rows = next.all(after, until);
      for (const row of rows) {
        const parts = revisions.get(row.revision);
        if (parts) parts.push(row);
        else revisions.set(row.revision, [row]);
      }
      const last = rows.at(-1)?.revision;
      if (last === undefined) return;
      for (const [number, parts] of revisions) {
        const all = number === last ? rest.all(number) : parts;
        const entries: LogEntry[] = all.flatMap((part) => decodeEntries(part.data));
        yield { revision: number, time: all[0]?.time ?? 0, entries };
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
    const lists: Record<StoreKind, number[]> = JSON.parse(row.pages);
    const records = (kind: StoreKind): PageRecord[] =>
      (lists[kind] ?? []).map((storedId) => ({ storedId, encode: () => this.#readPage(storedId) }));
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

  #readPage(stored: number): Uint8Array {
    const row = this.#db
      .query<{ data: Uint8Array }, [number]>("SELECT data FROM page WHERE id = ?")
      .get(stored);
    if (!row) throw new LogError("unreadable", `the log has lost page ${stored} of a snapshot`);
    return decompress(row.data);
  }

  async writeSnapshot(snapshot: Snapshot, yieldToLoop: () => Promise<void>): Promise<void> {
    const insert = this.#db.query<unknown, [number, Uint8Array]>(
      "INSERT INTO page (bytes, data) VALUES (?, ?)",
    );
    const lists: Record<string, number[]> = {};
    for (const kind of STORE_KINDS) {
      const records = snapshot.pages[kind];
      for (let i = 0; i < records.length; i += PAGES_PER_SLICE) {
        const slice = records.slice(i, i + PAGES_PER_SLICE).filter(({ storedId }) => storedId === undefined);
        const data = slice.map((record) => compress(record.encode()));
        const places = this.#db.transaction(() =>
          data.map((bytes) => Number(insert.run(bytes.length, bytes).lastInsertRowid)),
        )();
        // Only now: a page that believes itself stored when the transaction failed would be lost for good.
        for (const [n, record] of slice.entries()) record.storedId = places[n];
        this.#bytes += data.reduce((sum, bytes) => sum + bytes.length, 0);
        await yieldToLoop();
      }
      lists[kind] = records.map((record) => {
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
        JSON.stringify(lists),
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

  /** History is forgotten a whole snapshot at a time: what remains always begins with one. */
  async prune(keepSince: number, maxBytes: number, yieldToLoop: () => Promise<void>): Promise<void> {
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

  /** Returns the room of what was deleted to the file system. */
  async #vacuum(yieldToLoop: () => Promise<void>): Promise<void> {
    const free = this.#db.query<{ freelist_count: number }, []>("PRAGMA freelist_count");
    for (let left = free.get()?.freelist_count ?? 0; left > 0; ) {
      this.#db.query(`PRAGMA incremental_vacuum(${FREE_PAGES_PER_SLICE})`).all();
      await yieldToLoop();
      const now = free.get()?.freelist_count ?? 0;
      if (now >= left) return;
      left = now;
    }
  }

  /** Oldest first, so that a log cut short in the middle still says truly from where it is whole. */
  async #deleteInSlices(
    table: string,
    where: string,
    bound: number,
    yieldToLoop: () => Promise<void>,
  ): Promise<void> {
    const slice = `SELECT rowid AS place, bytes FROM ${table} WHERE ${where} ORDER BY rowid LIMIT ${ROWS_PER_SLICE}`;
    for (;;) {
      const rows = this.#db.query<{ place: number; bytes: number }, { bound: number }>(slice).all({ bound });
      if (rows.length === 0) return;
      this.#db.transaction(() => {
        const drop = this.#db.query(`DELETE FROM ${table} WHERE rowid = ?`);
        for (const { place } of rows) drop.run(place);
      })();
      this.#bytes -= rows.reduce((sum, { bytes }) => sum + bytes, 0);
      await yieldToLoop();
    }
  }

  /** Pages no snapshot names any more. One above the highest named may belong to a snapshot still being written. */
  async #deleteUnreferencedPages(yieldToLoop: () => Promise<void>): Promise<void> {
    this.#db.run("CREATE TEMP TABLE IF NOT EXISTS named (id INTEGER PRIMARY KEY)");
    this.#db.run("DELETE FROM named");
    const add = this.#db.query("INSERT OR IGNORE INTO named (id) VALUES (?)");
    let highest = 0;
    for (const { pages } of this.#db.query<{ pages: string }, []>("SELECT pages FROM snapshot").all()) {
      const lists: Record<string, number[]> = JSON.parse(pages);
      for (const ids of Object.values(lists)) {
        for (const id of ids) {
          add.run(id);
          highest = Math.max(highest, id);
        }
      }
    }
    await this.#deleteInSlices("page", "id <= $bound AND id NOT IN (SELECT id FROM named)", highest, yieldToLoop);
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

  /** Counted when they come and go: `facts` is asked on every paged read. */
  #countSnapshots(): number {
    return this.#db.query<{ n: number }, []>("SELECT count(*) AS n FROM snapshot").get()?.n ?? 0;
  }

  close(): void {
    this.#db.close();
  }
}
