/**
 * The log on one machine: a SQLite file, write-ahead journal, held by exactly one process.
 *
 * One row a batch (large batches have several parts), snapshots as lists of shared pages. The journal is handed to
 * the operating system at each append, so `kill -9` loses nothing; a power cut may lose the last moments but never
 * leaves the file inconsistent. Memory-only (`:memory:`) is the same code on SQLite's own memory.
 */
import { Database, type Statement } from "bun:sqlite";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { compressText, decodeEntries, encodeEntries, expandText } from "./batch-codec.ts";
import {
  type Batch,
  type Entry,
  type HistoryFacts,
  type Log,
  LogError,
  type PageRecord,
  type Snapshot,
  STORE_KINDS,
  type StoreKind,
} from "./log.ts";

const FORMAT = 1;
const ENTRIES_PER_PART = 5_000;
const PAGES_PER_SLICE = 64;
const ROWS_PER_SLICE = 200;

const TABLES = `
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batch (
  revision INTEGER NOT NULL, part INTEGER NOT NULL, time INTEGER NOT NULL, changes INTEGER NOT NULL,
  bytes INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (revision, part));
CREATE INDEX IF NOT EXISTS batch_time ON batch (time, revision, changes);
CREATE TABLE IF NOT EXISTS page (id INTEGER PRIMARY KEY AUTOINCREMENT, bytes INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS snapshot (
  revision INTEGER PRIMARY KEY, time INTEGER NOT NULL, graph_time INTEGER NOT NULL, marks TEXT NOT NULL, pages TEXT NOT NULL);
`;

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
export function openEmbeddedLog(path: string): EmbeddedLog {
  let db: Database;
  try {
    if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    db = new Database(path, { create: true, strict: true });
    db.run("PRAGMA locking_mode = EXCLUSIVE");
    db.run("PRAGMA auto_vacuum = INCREMENTAL");
    db.run("PRAGMA journal_mode = WAL");
    db.run("PRAGMA synchronous = NORMAL");
    db.run(TABLES);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (/locked|busy/i.test(reason)) {
      throw new LogError(
        "in-use",
        `${path} is in use by another process; stop that one or give another --data`,
      );
    }
    throw new LogError("unreadable", `cannot open the log ${path}: ${reason}`, { cause: error });
  }
  return new EmbeddedLog(db, path);
}

export class EmbeddedLog implements Log {
  readonly epoch: string;
  readonly secret: Uint8Array;
  readonly #db: Database;
  readonly #insert: Statement;
  #bytes: number;
  #oldest: number;
  #oldestTime: number;
  #newest: number;

  constructor(db: Database, path: string) {
    this.#db = db;
    const format = this.#meta("format", () => new TextEncoder().encode(String(FORMAT)));
    if (new TextDecoder().decode(format) !== String(FORMAT)) {
      db.close();
      throw new LogError(
        "newer-format",
        `${path} was written by a newer version; run that one or give another --data`,
      );
    }
    this.epoch = Buffer.from(this.#meta("epoch", () => randomBytes(6))).toString("base64url");
    this.secret = this.#meta("secret", () => randomBytes(32));
    this.#insert = db.prepare(
      "INSERT INTO batch (revision, part, time, changes, bytes, data) VALUES (?, ?, ?, ?, ?, ?)",
    );
    const total = (table: string) =>
      db.query<{ n: number | null }, []>(`SELECT sum(bytes) AS n FROM ${table}`).get()?.n ?? 0;
    this.#bytes = total("batch") + total("page");
    this.#newest = db.query<{ n: number | null }, []>("SELECT max(revision) AS n FROM batch").get()?.n ?? 0;
    const first = db
      .query<{ revision: number; time: number }, []>(
        "SELECT revision, time FROM snapshot ORDER BY revision LIMIT 1",
      )
      .get();
    const hasFirstBatch = db.query("SELECT 1 FROM batch WHERE revision = 1 LIMIT 1").get() !== null;
    this.#oldest = hasFirstBatch || !first ? 0 : first.revision;
    this.#oldestTime = this.#oldest === 0 ? 0 : (first?.time ?? 0);
    this.#newest = Math.max(this.#newest, first?.revision ?? 0);
  }

  #meta(name: string, make: () => Uint8Array): Uint8Array {
    const row = this.#db
      .query<{ value: Uint8Array }, [string]>("SELECT value FROM meta WHERE name = ?")
      .get(name);
    if (row) return row.value;
    const value = make();
    this.#db.query("INSERT INTO meta (name, value) VALUES (?, ?)").run(name, value);
    return value;
  }

  append(batch: Batch): void {
    const parts: { data: Uint8Array; changes: number }[] = [];
    for (let i = 0; i < batch.entries.length; i += ENTRIES_PER_PART) {
      const entries = batch.entries.slice(i, i + ENTRIES_PER_PART);
      parts.push({ data: encodeEntries(entries), changes: entries.length });
    }
    try {
      this.#db.transaction(() => {
        for (const [part, { data, changes }] of parts.entries()) {
          this.#insert.run(batch.revision, part, batch.time, changes, data.length, data);
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
        const entries: Entry[] = all.flatMap((part) => decodeEntries(part.data));
        yield { revision: number, time: all[0]?.time ?? 0, entries };
      }
      after = last;
    }
  }

  snapshotBefore(revision: number): Snapshot | undefined {
    const row = this.#db
      .query<SnapshotRow, [number]>(
        "SELECT * FROM snapshot WHERE revision <= ? ORDER BY revision DESC LIMIT 1",
      )
      .get(revision);
    if (!row) return undefined;
    const lists: Record<StoreKind, number[]> = JSON.parse(row.pages);
    const records = (kind: StoreKind): PageRecord[] =>
      (lists[kind] ?? []).map((stored) => ({ stored, text: () => this.#pageText(stored) }));
    return {
      revision: row.revision,
      time: row.time,
      graphTime: row.graph_time,
      marks: JSON.parse(row.marks),
      pages: {
        devices: records("devices"),
        ports: records("ports"),
        links: records("links"),
        hosts: records("hosts"),
        claims: records("claims"),
      },
    };
  }

  #pageText(stored: number): string {
    const row = this.#db
      .query<{ data: Uint8Array }, [number]>("SELECT data FROM page WHERE id = ?")
      .get(stored);
    if (!row) throw new LogError("unreadable", `the log has lost page ${stored} of a snapshot`);
    return expandText(row.data);
  }

  async writeSnapshot(snapshot: Snapshot, breathe: () => Promise<void>): Promise<void> {
    const insert = this.#db.query<unknown, [number, Uint8Array]>(
      "INSERT INTO page (bytes, data) VALUES (?, ?)",
    );
    const lists: Record<string, number[]> = {};
    for (const kind of STORE_KINDS) {
      const records = snapshot.pages[kind];
      for (let i = 0; i < records.length; i += PAGES_PER_SLICE) {
        this.#db.transaction(() => {
          for (const record of records.slice(i, i + PAGES_PER_SLICE)) {
            if (record.stored !== undefined) continue;
            const data = compressText(record.text());
            record.stored = Number(insert.run(data.length, data).lastInsertRowid);
            this.#bytes += data.length;
          }
        })();
        await breathe();
      }
      lists[kind] = records.map((record) => {
        if (record.stored === undefined) throw new Error("a page of the snapshot was not stored");
        return record.stored;
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
        JSON.stringify(snapshot.marks),
        JSON.stringify(lists),
      );
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

  density(from: number, to: number, buckets: number): readonly number[] {
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
  async prune(keepSince: number, maxBytes: number, breathe: () => Promise<void>): Promise<void> {
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
      await this.#deleteSliced("batch", "revision <= $bound", next.revision, breathe);
      await this.#forgetPages(breathe);
      this.#db.run("PRAGMA incremental_vacuum(1000)");
    }
  }

  async #deleteSliced(
    table: string,
    where: string,
    bound: number,
    breathe: () => Promise<void>,
  ): Promise<void> {
    const slice = `SELECT rowid, bytes FROM ${table} WHERE ${where} LIMIT ${ROWS_PER_SLICE}`;
    for (;;) {
      const rows = this.#db.query<{ rowid: number; bytes: number }, { bound: number }>(slice).all({ bound });
      if (rows.length === 0) return;
      this.#db.transaction(() => {
        const drop = this.#db.query(`DELETE FROM ${table} WHERE rowid = ?`);
        for (const { rowid } of rows) drop.run(rowid);
      })();
      this.#bytes -= rows.reduce((sum, { bytes }) => sum + bytes, 0);
      await breathe();
    }
  }

  /** Pages no snapshot names any more. One above the highest named may belong to a snapshot still being written. */
  async #forgetPages(breathe: () => Promise<void>): Promise<void> {
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
    await this.#deleteSliced("page", "id <= $bound AND id NOT IN (SELECT id FROM named)", highest, breathe);
  }

  facts(): HistoryFacts {
    const snapshots = this.#db.query<{ n: number }, []>("SELECT count(*) AS n FROM snapshot").get()?.n ?? 0;
    return {
      oldest: this.#oldest,
      oldestTime: this.#oldestTime,
      newest: this.#newest,
      bytes: this.#bytes,
      snapshots,
    };
  }

  close(): void {
    this.#db.close();
  }
}
