/**
 * The embedded log's SQLite file: opening it for this process alone, its tables, its identity, and how far it reaches.
 * Whatever is wrong with the file is told here, once, in words for the operator.
 */
import { Database } from "bun:sqlite";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { type LogStats, LogError } from "./log.ts";

const FORMAT = 1;
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

type LogExtent = Omit<LogStats, "snapshots">;

export interface LogFile {
  readonly db: Database;
  readonly id: string;
  readonly signingKey: Uint8Array;
  readonly extent: LogExtent;
}

/** Opens or makes the log at `path` (a file, or `:memory:`). Throws `LogError` with a message for the operator. */
export function openLogFile(path: string): LogFile {
  let db: Database | undefined;
  try {
    if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    db = new Database(path, { create: true, strict: true });
    for (const pragma of PRAGMAS) db.run(`PRAGMA ${pragma}`);
    db.run(TABLES);
    const format = new TextDecoder().decode(readOrCreateMeta(db, "format", () => Buffer.from(String(FORMAT))));
    if (format !== String(FORMAT)) {
      throw new LogError(
        "newer-format",
        `${path} was written by a newer version; run that one or give another --data`,
      );
    }
    const epoch = Buffer.from(readOrCreateMeta(db, "epoch", () => randomBytes(6))).toString("base64url");
    const secret = readOrCreateMeta(db, "secret", () => randomBytes(32));
    return { db, id: epoch, signingKey: secret, extent: readExtent(db) };
  } catch (error) {
    db?.close();
    if (error instanceof LogError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    if (/locked|busy/i.test(reason)) {
      throw new LogError(
        "in-use",
        `${path} is in use by another process; stop that one or give another --data`,
      );
    }
    throw new LogError("unreadable", `cannot open the log ${path}: ${reason}`, { cause: error });
  }
}

/** A value of the log itself, made when first asked for. */
function readOrCreateMeta(db: Database, name: string, make: () => Uint8Array): Uint8Array {
  const row = db.query<{ value: Uint8Array }, [string]>("SELECT value FROM meta WHERE name = ?").get(name);
  if (row) return row.value;
  const value = make();
  db.query("INSERT INTO meta (name, value) VALUES (?, ?)").run(name, value);
  return value;
}

/** From where to where the log reaches: from the beginning while the first batch is there, else from a snapshot. */
function readExtent(db: Database): LogExtent {
  const number = (sql: string): number => db.query<{ n: number | null }, []>(sql).get()?.n ?? 0;
  const first = db
    .query<{ revision: number; time: number }, []>(
      "SELECT revision, time FROM snapshot ORDER BY revision LIMIT 1",
    )
    .get();
  const whole = !first || number("SELECT count(*) AS n FROM batch WHERE revision = 1") > 0;
  return {
    oldest: whole ? 0 : first.revision,
    oldestTime: whole ? 0 : first.time,
    newest: Math.max(number("SELECT max(revision) AS n FROM batch"), first?.revision ?? 0),
    bytes: number("SELECT sum(bytes) AS n FROM batch") + number("SELECT sum(bytes) AS n FROM page"),
  };
}
