/**
 * Opens the SQLite file of the embedded log for this process alone: lock, tables, format version, id and signing key, and
 * the range of revisions it holds. Every fault of the file becomes a `LogError` here, with a message for the operator.
 *
 * The lock is an exclusive transaction on an empty file beside the log, which the system releases with the process. An
 * exclusive lock on the log itself would exclude the second connection of this process as well. Files are readable for
 * their owner only; SQLite gives the WAL the mode of its database.
 */
import { Database } from "bun:sqlite";
import { randomBytes } from "node:crypto";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname } from "node:path";
import { errorMessage } from "../lib/error-message.ts";
import { LogError, type LogStats } from "./log.ts";

/** The format of the file. A file of another format is refused. */
const FORMAT = "3";
const FILE_PRAGMAS = ["auto_vacuum = INCREMENTAL", "journal_mode = WAL"];
const CONNECTION_PRAGMAS = [
  // There is one writer, so the timeout only has to cover the short locks of SQLite itself. It comes first, because the file is
  // locked while the reading connection closes, and the writer may open its own at that moment.
  "busy_timeout = 1000",
  "synchronous = NORMAL",
  "journal_size_limit = 67108864",
];
/** Page cache of the reading connection, in KiB. It serves look-ups all over a long history. */
const READ_CACHE = "cache_size = -16000";
const PRIVATE = 0o600;
export const IN_MEMORY = ":memory:";

const TABLES = `
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batch (
  revision INTEGER NOT NULL, part INTEGER NOT NULL, time INTEGER NOT NULL, changes INTEGER NOT NULL,
  bytes INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (revision, part));
CREATE INDEX IF NOT EXISTS batch_time ON batch (time, revision, changes);
CREATE TABLE IF NOT EXISTS page (id INTEGER PRIMARY KEY AUTOINCREMENT, bytes INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS snapshot (
  revision INTEGER PRIMARY KEY, time INTEGER NOT NULL, graph_time INTEGER NOT NULL, marks TEXT NOT NULL, pages TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS running_total (revision INTEGER PRIMARY KEY, changes INTEGER NOT NULL);
INSERT INTO running_total SELECT 0, 0 WHERE NOT EXISTS (SELECT 1 FROM running_total);
CREATE TABLE IF NOT EXISTS fault_total (
  revision INTEGER PRIMARY KEY, faults INTEGER NOT NULL, recoveries INTEGER NOT NULL, removed INTEGER NOT NULL);
`;

export interface LogFile {
  readonly db: Database;
  readonly id: string;
  readonly signingKey: Uint8Array;
  readonly stats: LogStats;
  readonly position: string | undefined;
  /** The highest page id that was ever used, including those of deleted pages. */
  readonly lastPageId: number;
  /** Call this when all connections are closed. */
  releaseLock(): void;
}

/** The identity of a log. Its copies on other nodes have the same identity. */
export interface LogIdentity {
  readonly id: string;
  readonly signingKey: Uint8Array;
}

export interface LogFileOptions {
  /** The identity that a new file gets. A file with another id is an error. */
  readonly identity?: LogIdentity;
}

export function storePosition(db: Database, position: string): void {
  db.query("INSERT OR REPLACE INTO meta (name, value) VALUES ('position', ?)").run(Buffer.from(position));
}

function readPosition(db: Database): string | undefined {
  const row = db.query<{ value: Uint8Array }, []>("SELECT value FROM meta WHERE name = 'position'").get();
  return row === null ? undefined : Buffer.from(row.value).toString();
}

/** Opens or creates the log at `path`, a file or `:memory:`. The connection to a file is read-only. */
export function openLogFile(path: string, { identity }: LogFileOptions = {}): LogFile {
  let lock: Database | undefined;
  let db: Database | undefined;
  const releaseLock = () => lock?.close();
  try {
    if (path !== IN_MEMORY) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      lock = lockLog(path);
      makePrivate(path);
    }
    db = new Database(path, { create: true, strict: true });
    for (const pragma of [...FILE_PRAGMAS, ...CONNECTION_PRAGMAS, READ_CACHE]) db.run(`PRAGMA ${pragma}`);
    db.run(TABLES);
    const format = new TextDecoder().decode(readOrCreateMeta(db, "format", () => Buffer.from(FORMAT)));
    if (format !== FORMAT)
      throw new LogError(
        "other-format",
        `${path} has format ${format} of another version, and this one reads format ${FORMAT}; ` +
          "move it and every cluster-*.sqlite beside it away to begin with an empty log, or give another folder with --data",
      );
    // "epoch" and "secret" are the stored names of the id and the signing key.
    const fresh = identity ?? newIdentity();
    const newId = () => Buffer.from(fresh.id, "base64url");
    const id = Buffer.from(readOrCreateMeta(db, "epoch", newId)).toString("base64url");
    if (identity && id !== identity.id)
      throw new LogError("other-log", `${path} is a copy of the log ${id}, not of ${identity.id}`);
    const signingKey = readOrCreateMeta(db, "secret", () => fresh.signingKey);
    if (path !== IN_MEMORY) db.run("PRAGMA query_only = ON");
    const stats = readStats(db);
    const lastPageId = queryNumber(db, "SELECT seq AS n FROM sqlite_sequence WHERE name = 'page'");
    return {
      db,
      id,
      signingKey,
      stats,
      position: readPosition(db),
      lastPageId,
      releaseLock,
    };
  } catch (error) {
    db?.close();
    releaseLock();
    throw asLogError(path, error);
  }
}

/** Gives a log that is not open another identity. Without `position` the log is not a copy of a cluster's log. */
export function changeIdentity(path: string, { id, signingKey }: LogIdentity, position?: string): void {
  const db = openWriterConnection(path);
  try {
    const setMeta = db.query("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)");
    db.transaction(() => {
      setMeta.run("epoch", Buffer.from(id, "base64url"));
      setMeta.run("secret", signingKey);
      if (position === undefined) db.run("DELETE FROM meta WHERE name = 'position'");
      else storePosition(db, position);
    })();
  } finally {
    db.close();
  }
}

/** The file of a log and the two files that SQLite keeps beside it. */
export const filesOfLog = (path: string): string[] => ["", "-wal", "-shm"].map((suffix) => path + suffix);

/** Moves the files of a log that is not open. */
export function moveLog(path: string, to: string): void {
  // SQLite would apply a leftover WAL at the destination to this log.
  for (const file of filesOfLog(to)) rmSync(file, { force: true });
  for (const [n, file] of filesOfLog(path).entries())
    if (existsSync(file)) renameSync(file, filesOfLog(to)[n] ?? "");
}

/**
 * Copies a log that no process has open. The result is a separate log with an identity of its own, and not a copy of a
 * cluster's log. Rejects with `LogError`. Files of an earlier incomplete attempt are replaced.
 */
export async function copyLog(
  path: string,
  to: string,
): Promise<{ readonly id: string; readonly revision: number }> {
  const { db, stats, releaseLock } = openLogFile(path);
  try {
    db.close();
    const incomplete = `${to}.incomplete`;
    for (const file of filesOfLog(incomplete)) rmSync(file, { force: true });
    // No process writes while the lock is held, so the copied file and its WAL belong together.
    for (const suffix of ["", "-wal"])
      if (existsSync(path + suffix)) await copyFile(path + suffix, incomplete + suffix);
    const identity = newIdentity();
    changeIdentity(incomplete, identity);
    moveLog(incomplete, to);
    return { id: identity.id, revision: stats.newest };
  } catch (error) {
    throw asLogError(to, error);
  } finally {
    releaseLock();
  }
}

/**
 * Writes a copy of a log as of one moment to a new file, while another process may have the log open and write to it. The
 * connection is read-only, and does not hold up the writer. Returns the newest revision of the copy.
 */
export function backUpLog(path: string, to: string): number {
  const db = new Database(path, { readonly: true, strict: true });
  try {
    db.run("PRAGMA busy_timeout = 5000");
    db.run("VACUUM INTO ?", [to]);
  } finally {
    db.close();
  }
  const copy = new Database(to, { readonly: true, strict: true });
  try {
    return readExtent(copy).newest;
  } finally {
    copy.close();
  }
}

/** The time of the newest revision of a log that another process may have open, in epoch milliseconds; 0 if it is empty. */
export function lastTimeOf(path: string): number {
  const db = new Database(path, { readonly: true, strict: true });
  try {
    return Math.max(
      queryNumber(db, "SELECT time AS n FROM batch ORDER BY revision DESC LIMIT 1"),
      queryNumber(db, "SELECT time AS n FROM snapshot ORDER BY revision DESC LIMIT 1"),
    );
  } finally {
    db.close();
  }
}

/** A random id and signing key. */
export const newIdentity = (): LogIdentity => ({
  id: randomBytes(6).toString("base64url"),
  signingKey: randomBytes(32),
});

/** Opens the connection of the writer, besides the one that `openLogFile` opens for reads. */
export function openWriterConnection(path: string): Database {
  const db = new Database(path, { readwrite: true, create: false, strict: true });
  for (const pragma of CONNECTION_PRAGMAS) db.run(`PRAGMA ${pragma}`);
  return db;
}

/** Whether a running service has the log open. */
export function isLogInUse(path: string): boolean {
  if (!existsSync(lockPath(path))) return false;
  try {
    lockLog(path).close();
    return false;
  } catch (error) {
    return isBusy(errorMessage(error));
  }
}

const lockPath = (path: string): string => `${path}-lock`;

function lockLog(path: string): Database {
  const lock = lockPath(path);
  // An existing file is not opened here: closing a second descriptor would release the lock of this process.
  if (!existsSync(lock)) closeSync(openSync(lock, "a", PRIVATE));
  const db = new Database(lock, { readwrite: true, create: false });
  try {
    db.run("PRAGMA journal_mode = MEMORY");
    db.run("BEGIN EXCLUSIVE");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Creates the file if it does not exist, and removes the permissions of other users from the files of an earlier version. */
function makePrivate(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, "a", PRIVATE));
  for (const file of [path, `${path}-wal`, `${path}-shm`, lockPath(path)]) {
    if (existsSync(file) && (statSync(file).mode & 0o077) !== 0) chmodSync(file, PRIVATE);
  }
}

const isBusy = (reason: string): boolean => /locked|busy/i.test(reason);

function asLogError(path: string, error: unknown): LogError {
  if (error instanceof LogError) return error;
  const reason = errorMessage(error);
  if (isBusy(reason)) {
    const message = `${path} is in use by another process; stop that one or give another --data`;
    return new LogError("in-use", message);
  }
  const fix = /not a database|malformed/i.test(reason)
    ? "move the file away, or give another folder with --data"
    : "make the folder writable for this user, or give another with --data";
  return new LogError("unreadable", `cannot open the log ${path}: ${reason}; ${fix}`, { cause: error });
}

/** Returns the value of `name`, and creates it when the log does not have it yet. */
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
