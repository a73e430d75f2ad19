/**
 * Backup of the data folder while a service uses it, and the way back. A backup is a folder with a copy of everything that a
 * node needs to continue: its logs, users and the state of its sources. The list of its files with their checksums is written
 * last, so that a folder without the list is recognised as incomplete. The configuration and the files that it names are the
 * operator's, and are not in it.
 *
 * A restored log of a single node gets a new id, because the revisions after the backup are lost and their numbers will be
 * used again: clients see the new id and list again. A copy of a cluster's log keeps its id, because the cluster still has
 * those revisions, or begins a new log with the copy (docs/cluster.md).
 */
import { createHash } from "node:crypto";
import { constants, createReadStream, existsSync, readdirSync, statSync } from "node:fs";
import { chmod, chown, copyFile, mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import Type from "typebox";
import Value from "typebox/value";
import { OWN_USERS_FILE } from "../api/auth/users.ts";
import type { Config } from "../config/schema.ts";
import { errorMessage } from "../lib/error-message.ts";
import { replaceFile } from "../lib/replace-file.ts";
import { VERSION } from "../lib/version.ts";
import { backUpLog, changeIdentity, moveLog, newIdentity } from "../log/log-file.ts";
import { clusterOfCopy, clusterOfUsers, dataDirOf, LOG_FILE, STATE_FOLDER } from "./data-folder.ts";

const LIST_FILE = "backup.json";
const FORMAT = 1;

const FileList = Type.Object({
  format: Type.Literal(FORMAT),
  version: Type.String(),
  time: Type.String(),
  /** The newest revision of each log, by the name of its file. */
  revisions: Type.Record(Type.String(), Type.Integer()),
  files: Type.Array(
    Type.Object({
      name: Type.String({ pattern: `^(${STATE_FOLDER}/)?[^/\\u0000]+$` }),
      bytes: Type.Integer(),
      sha256: Type.String(),
    }),
  ),
});
export type Backup = Readonly<Type.Static<typeof FileList>>;

/** The message is for the operator. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

type StoredConfig = Pick<Config, "data" | "users">;

/** Writes a backup to `folder`, which must be new or empty. Rejects with `BackupError`, and then leaves nothing there. */
export async function backUp(config: StoredConfig, folder: string): Promise<Backup> {
  const dataDir = requireDataDir(config);
  if (!existsSync(dataDir)) throw new BackupError(`there is no data folder ${dataDir}; give it with --data`);
  requireEmpty(folder);
  const isNew = !existsSync(folder);
  try {
    await mkdir(join(folder, STATE_FOLDER), { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    return await writeBackup(config, dataDir, folder);
  } catch (error) {
    const names = isNew ? [folder] : readdirSync(folder).map((name) => join(folder, name));
    for (const path of names) await rm(path, { recursive: true, force: true });
    throw new BackupError(`the backup failed, and nothing of it is left: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

async function writeBackup(config: StoredConfig, dataDir: string, folder: string): Promise<Backup> {
  const revisions: Record<string, number> = {};
  const names: string[] = [];
  for (const name of readdirSync(dataDir).filter(isLog)) {
    revisions[name] = backUpLog(join(dataDir, name), join(folder, name));
    names.push(name);
  }
  if (names.length === 0) throw new BackupError(`${dataDir} has no log`);
  const users = config.users ?? join(dataDir, OWN_USERS_FILE);
  const others: [name: string, path: string][] = [
    ...(existsSync(users) ? [[OWN_USERS_FILE, users] satisfies [string, string]] : []),
    ...smallFilesIn(dataDir).map((name): [string, string] => [name, join(dataDir, name)]),
  ];
  for (const [name, path] of others) {
    await replaceFile(join(folder, name), await readFile(path, "utf8"));
    names.push(name);
  }
  const files = [];
  for (const name of names) files.push({ name, ...(await finishFile(join(folder, name))) });
  const backup = {
    format: FORMAT,
    version: VERSION,
    time: new Date().toISOString(),
    revisions,
    files,
  } as const;
  await replaceFile(join(folder, LIST_FILE), `${JSON.stringify(backup, null, 2)}\n`);
  await giveTo(statSync(dataDir), folder, [...names, LIST_FILE]);
  return backup;
}

const isLog = (name: string): boolean => name === LOG_FILE || clusterOfCopy(name) !== undefined;

/** The shared users of clusters, and the state of sources. */
function smallFilesIn(dataDir: string): string[] {
  const states = existsSync(join(dataDir, STATE_FOLDER)) ? readdirSync(join(dataDir, STATE_FOLDER)) : [];
  return [
    ...readdirSync(dataDir).filter((name) => clusterOfUsers(name) !== undefined),
    ...states.filter((name) => name.endsWith(".json")).map((name) => `${STATE_FOLDER}/${name}`),
  ];
}

/** Makes a written file durable and private, and measures it. */
async function finishFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const handle = await open(path, "r");
  try {
    await handle.chmod(0o600);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { bytes: statSync(path).size, sha256: await checksumOf(path) };
}

async function checksumOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex");
}

/** A backup that root has made belongs to the user of the service, who must be able to restore it. */
async function giveTo(
  owner: { uid: number; gid: number },
  folder: string,
  names: readonly string[],
): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  for (const path of [...names.map((name) => join(folder, name)), join(folder, STATE_FOLDER), folder])
    await chown(path, owner.uid, owner.gid);
}

export interface RestoredFolder {
  readonly backup: Backup;
  readonly dataDir: string;
  /** The configured users file, if it exists already and was therefore not replaced. */
  readonly keptUsers: string | undefined;
}

/** Restores a backup into the data folder, which must be new or empty. Rejects with `BackupError`. */
export async function restore(folder: string, config: StoredConfig): Promise<RestoredFolder> {
  const dataDir = requireDataDir(config);
  const backup = await readBackup(folder);
  requireEmpty(dataDir);
  requireOwnFolder(dataDir);
  const users = config.users ?? join(dataDir, OWN_USERS_FILE);
  const keptUsers = existsSync(users) ? users : undefined;
  try {
    await mkdir(join(dataDir, STATE_FOLDER), { recursive: true, mode: 0o700 });
    for (const { name } of backup.files) {
      const path = join(folder, name);
      if (isLog(name)) continue;
      if (name !== OWN_USERS_FILE) await replaceFile(join(dataDir, name), await readFile(path, "utf8"));
      else if (keptUsers === undefined) {
        await mkdir(dirname(users), { recursive: true });
        await replaceFile(users, await readFile(path, "utf8"));
      }
    }
    // The logs come last, so that a service does not start with a part of the backup.
    for (const { name } of backup.files)
      if (isLog(name)) await restoreLog(join(folder, name), join(dataDir, name));
  } catch (error) {
    throw new BackupError(
      `the restore failed; empty ${dataDir} before the next one: ${errorMessage(error)}`,
      {
        cause: error,
      },
    );
  }
  return { backup, dataDir, keptUsers };
}

async function restoreLog(from: string, to: string): Promise<void> {
  const incomplete = `${to}.incomplete`;
  await copyFile(from, incomplete, constants.COPYFILE_EXCL);
  await chmod(incomplete, 0o600);
  if (to.endsWith(`/${LOG_FILE}`)) changeIdentity(incomplete, newIdentity());
  moveLog(incomplete, to);
}

/** Reads the list of a backup, and compares all of its files with it. */
async function readBackup(folder: string): Promise<Backup> {
  const path = join(folder, LIST_FILE);
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new BackupError(`${folder} is not a complete backup: ${errorMessage(error)}`);
  });
  const list = parseJson(text);
  if (!Value.Check(FileList, list))
    throw new BackupError(`${path} is not the list of a backup that this version (${VERSION}) can read`);
  for (const { name, sha256 } of list.files) {
    const found = await checksumOf(join(folder, name)).catch((error: unknown) => errorMessage(error));
    if (found !== sha256)
      throw new BackupError(`${join(folder, name)} is missing or was changed since the backup`);
  }
  return list;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function requireDataDir(config: StoredConfig): string {
  const dataDir = dataDirOf(config);
  if (dataDir === undefined) throw new BackupError("the data is :memory:; give the data folder with --data");
  return dataDir;
}

function requireEmpty(folder: string): void {
  const status = statSync(folder, { throwIfNoEntry: false });
  if (!status) return;
  if (!status.isDirectory()) throw new BackupError(`${folder} is not a folder`);
  if (readdirSync(folder).length > 0)
    throw new BackupError(`${folder} is not empty; give a new or an empty folder`);
}

/** Root does not write into the folder of another user, who could exchange names in it meanwhile. */
function requireOwnFolder(dataDir: string): void {
  const owner = statSync(dataDir, { throwIfNoEntry: false })?.uid ?? 0;
  if (process.geteuid?.() === 0 && owner !== 0)
    throw new BackupError(
      `${dataDir} belongs to user ${owner}; restore as that user: runuser -u "$(id -nu ${owner})" -- gazetteer restore …`,
    );
}
