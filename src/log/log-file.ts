/**
 * Opens the SQLite file of the embedded log for this process alone: lock, tables, format version, id and signing key, and
 * the range of revisions it holds. Every fault of the file becomes a `LogError` here, with a message for the operator.
 */
import { Database } from "bun:sqlite";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { errorMessage } from "../lib/error-message.ts";
import { LogError, type LogStats } from "./log.ts";

/** Format 1 identified entities by the exact text of their ids; `src/view/convert.ts` converts it. */
const FORMAT = "2";
const CONVERTIBLE_FORMAT = "1";
const PRAGMAS = [
  "locking_mode = EXCLUSIVE",
  "auto_vacuum = INCREMENTAL",
  "journal_mode = WAL",
  "synchronous = NORMAL",
  "journal_size_limit = 67108864",
];

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

export interface LogFile {
  readonly db: Database;
  readonly id: string;
  readonly signingKey: Uint8Array;
  /** Written by an older version, in a format that can be converted. */
  readonly needsConversion: boolean;
}

/** Marks the log as one of the current format. */
export function completeConversion(db: Database): void {
  db.query("UPDATE meta SET value = ? WHERE name = 'format'").run(Buffer.from(FORMAT));
}

/** Opens or creates the log at `path`, a file or `:memory:`. */
export function openLogFile(path: string): LogFile {
  let db: Database | undefined;
  try {
    if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    db = new Database(path, { create: true, strict: true });
    for (const pragma of PRAGMAS) db.run(`PRAGMA ${pragma}`);
    db.run(TABLES);
    const format = new TextDecoder().decode(readOrCreateMeta(db, "format", () => Buffer.from(FORMAT)));
    if (format !== FORMAT && format !== CONVERTIBLE_FORMAT) {
      throw new LogError(
        "newer-format",
        `${path} was written by a newer version; run that one or give another --data`,
      );
    }
    // "epoch" and "secret" are the stored names of the id and the signing key.
    const id = Buffer.from(readOrCreateMeta(db, "epoch", () => randomBytes(6))).toString("base64url");
    const signingKey = readOrCreateMeta(db, "secret", () => randomBytes(32));
    return { db, id, signingKey, needsConversion: format !== FORMAT };
  } catch (error) {
    db?.close();
    if (error instanceof LogError) throw error;
    const reason = errorMessage(error);
    if (/locked|busy/i.test(reason)) {
      throw new LogError(
        "in-use",
        `${path} is in use by another process; stop that one or give another --data`,
      );
    }
    const fix = /not a database|malformed/i.test(reason)
      ? "move the file away, or give another folder with --data"
      : "make the folder writable for this user, or give another with --data";
    throw new LogError("unreadable", `cannot open the log ${path}: ${reason}; ${fix}`, { cause: error });
  }
}

/** Creates the value when the log does not have it yet. */
function readOrCreateMeta(db: Database, name: string, create: () => Uint8Array): Uint8Array {
  const row = db.query<{ value: Uint8Array }, [string]>("SELECT value FROM meta WHERE name = ?").get(name);
  if (row) return row.value;
  const value = create();
  db.query("INSERT INTO meta (name, value) VALUES (?, ?)").run(name, value);
  return value;
}

export function readStats(db: Database): LogStats {
  const bytesOf = (table: string) => queryNumber(db, `SELECT sum(bytes) AS n FROM ${table}`);
  return { ...readExtent(db), bytes: bytesOf("batch") + bytesOf("page") };
}

/** History starts at revision 0 while the first batch exists, otherwise at the oldest snapshot. */
export function readExtent(db: Database): Omit<LogStats, "bytes"> {
  const selectSnapshot = (order: "ASC" | "DESC") =>
    db
      .query<{ revision: number; time: number }, []>(
        `SELECT revision, time FROM snapshot ORDER BY revision ${order} LIMIT 1`,
      )
      .get();
  const first = selectSnapshot("ASC");
  const complete = !first || queryNumber(db, "SELECT count(*) AS n FROM batch WHERE revision = 1") > 0;
  return {
    oldest: complete ? 0 : first.revision,
    oldestTime: complete ? 0 : first.time,
    newest: Math.max(
      queryNumber(db, "SELECT max(revision) AS n FROM batch"),
      selectSnapshot("DESC")?.revision ?? 0,
    ),
    snapshots: queryNumber(db, "SELECT count(*) AS n FROM snapshot"),
  };
}

const queryNumber = (db: Database, sql: string): number =>
  db.query<{ n: number | null }, []>(sql).get()?.n ?? 0;
