/**
 * The users that may read. They come from the environment (GAZETTEER_CREDENTIALS) and from a users file, which is
 * watched: a changed file takes effect within about a second; a file that cannot be parsed changes nothing and is
 * logged. If no user is configured, one is generated. Its password is returned once; only the hash is stored.
 *
 * An entry that has expired is not a user. Expiry is a change like any other, found within about a second.
 *
 * In a cluster that shares its users, the users of the shared set apply instead of those of the file, and a change of the
 * file changes the set.
 *
 * `onChange` listeners run before any new request sees the change, so that streams opened with the old credentials can be
 * closed.
 */
import { mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { aborted } from "../../lib/aborted.ts";
import type { Clock } from "../../lib/clock.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { FileWatcher } from "../../lib/file-watcher.ts";
import type { Logger } from "../../lib/logger.ts";
import { hashPassword, randomPassword } from "./password.ts";
import {
  nameFault,
  parseEntry,
  type Role,
  readUsersFile,
  type StoredUsers,
  storeUser,
  UsersError,
} from "./users-file.ts";

/** The name of the users file in the data folder, which is read if no other file is configured. */
export const OWN_USERS_FILE = "users";

export interface User {
  readonly name: string;
  readonly hash: string;
  readonly role: Role;
  /** An identifier that differs whenever the name, the hash or the role differs. */
  readonly credentialId: string;
}

export interface GeneratedUser {
  readonly name: string;
  readonly password: string;
}

export interface Users {
  find(name: string): User | undefined;
  /** All users, in a fixed order. */
  all(): readonly User[];
  /** The watched file, if there is one. */
  readonly file: string | undefined;
  /** The user generated at this start. The password is stored nowhere else. */
  readonly generated: GeneratedUser | undefined;
  /**
   * Writes the hash of the generated user to the data folder. Must be called when the password is shown, because a start
   * that fails before must not leave a user whose password was never displayed.
   */
  saveGenerated(): Promise<void>;
  /**
   * Calls the listener whenever users were read again or have expired, with the names of those that changed or were
   * removed. The set is empty if users were only added. Returns the function that removes the listener.
   */
  onChange(listener: (names: ReadonlySet<string>) => void): () => void;
  /** Watches the file, and removes users that expire, until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
}

export interface ReloadableUsers extends Users {
  /**
   * Reads the users file again, or another one if the configuration names another. Throws `UsersError` if it cannot be
   * used. Nothing changes until the returned function is called.
   */
  prepareReload(configuredFile: string | undefined): Promise<() => void>;
  /** Makes the users of the set apply instead of those of the file. Must be called before the users are in use. */
  share(set: SharedSet): void;
}

/** The users that the nodes of a cluster share. */
export interface SharedSet {
  /** The shared users; undefined while there are none or none are known. */
  readonly users: StoredUsers | undefined;
  /** Called whenever the shared users change. */
  onChange: (users: StoredUsers) => void;
  /** Receives the users of the file, at the start and after each change. Resolves after an attempt to change the set. */
  setFile(users: StoredUsers): Promise<void>;
  /** Records the users of another file, or of none, without changing the set. Only later changes of the file change it. */
  resetFile(users: StoredUsers): void;
}

export interface UsersOptions {
  /** The value of GAZETTEER_CREDENTIALS. */
  readonly environment?: string | undefined;
  /** The configured users file. */
  readonly file?: string | undefined;
  /** The folder of the file `users` with the generated user, which is read if no other file is configured. */
  readonly dataDir?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export async function openUsers(options: UsersOptions): Promise<ReloadableUsers> {
  const ownFile = options.dataDir === undefined ? undefined : join(options.dataDir, OWN_USERS_FILE);
  const file = options.file ?? ownFile;
  const watcher = file === undefined ? undefined : new FileWatcher(file, options.clock);
  // The watcher starts before the file is read, so that it reports a change during the read.
  await watcher?.acknowledge();
  // The service's own file may not exist yet; a configured one must.
  const isRead = file !== undefined && (options.file !== undefined || (await fileExists(file)));
  const [fromEnvironment, fromFile] = await readAll(
    parseEnvironmentUser(options.environment),
    isRead ? readStoredUsers(file) : Promise.resolve(new Map()),
  );
  let stored = fromFile;
  let generated: GeneratedUser | undefined;
  if (fromEnvironment.size + stored.size === 0) {
    if (options.file !== undefined) throw noUsersError(options.file);
    generated = { name: "reader", password: randomPassword() };
    stored = new Map([[generated.name, await hashPassword(generated.password)]]);
  }
  return createUsers(options, { fromEnvironment, stored, file, ownFile, watcher, generated });
}

const noUsersError = (file: string) =>
  new UsersError(`${file}: has no users; add one with gazetteer passwd ${file} NAME`);

/** Waits for both and throws the faults of both together. */
async function readAll(
  environment: Promise<StoredUsers>,
  file: Promise<StoredUsers>,
): Promise<[environment: StoredUsers, file: StoredUsers]> {
  const results = await Promise.allSettled([environment, file]);
  const errors = results.flatMap((result): unknown[] =>
    result.status === "rejected" ? [result.reason] : [],
  );
  const faults = errors.flatMap((error) => (error instanceof UsersError ? error.faults : []));
  if (faults.length > 0 && faults.length >= errors.length) throw new UsersError(...faults);
  return [await environment, await file];
}

interface LoadedUsers {
  readonly fromEnvironment: StoredUsers;
  readonly stored: StoredUsers;
  readonly file: string | undefined;
  /** The file of the data folder, which is used while no other file is configured. */
  readonly ownFile: string | undefined;
  readonly watcher: FileWatcher | undefined;
  readonly generated: GeneratedUser | undefined;
}

function createUsers({ clock, logger }: UsersOptions, loaded: LoadedUsers): ReloadableUsers {
  const { fromEnvironment, stored, ownFile, generated } = loaded;
  let { file, watcher } = loaded;
  let fileChanged = new AbortController();
  const listeners = new Set<(names: ReadonlySet<string>) => void>();
  /** The users of the file or of the shared set, also those that have expired. */
  let entries = stored;
  let active = activeUsers(entries, fromEnvironment, clock.now());
  let shared: SharedSet | undefined;
  let isGeneratedUsed = true;

  async function onFileRead(path: string, users: StoredUsers): Promise<void> {
    if (!shared) replaceUsers(users);
    else if (users.size > 0) await shared.setFile(users);
    // An empty file on one node must not lock out all users of the cluster.
    else logger.error("users-kept", { reason: noUsersError(path).message });
  }

  function replaceUsers(updated: StoredUsers): void {
    entries = updated;
    const changed = updateUsers();
    logger.info("users-read", { ...originOfUsers(), users: active.list.length, changed });
  }

  const originOfUsers = () => (shared ? { cluster: true } : { file });

  /** Makes the users from the entries that have not expired. Returns how many have changed or were removed. */
  function updateUsers(): number {
    const before = active.list;
    active = activeUsers(entries, fromEnvironment, clock.now());
    const names = changedUsers(before, active.byName);
    auditChange(before, active.byName, originOfUsers());
    for (const listener of listeners) listener(names);
    return names.size;
  }

  async function removeExpired(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(EXPIRY_CHECK_INTERVAL_MS, signal);
      if (active.nextExpiry <= clock.now()) updateUsers();
    }
  }

  function auditChange(
    before: readonly User[],
    now: ReadonlyMap<string, User>,
    origin: Readonly<Record<string, string | boolean | undefined>>,
  ): void {
    const knownBefore = new Set(before.map(({ name }) => name));
    const isKept = ({ name }: User) => now.has(name);
    const differs = ({ name, credentialId }: User) => now.get(name)?.credentialId !== credentialId;
    const added = [...now.values()].filter(({ name }) => !knownBefore.has(name));
    const changed = before.filter((user) => isKept(user) && differs(user));
    const gone = before.filter((user) => !isKept(user));
    const expired = gone.filter(({ name }) => entries.has(name));
    const removed = gone.filter(({ name }) => !entries.has(name));
    if (added.length + changed.length + gone.length === 0) return;
    logger.audit("users-changed", {
      ...origin,
      added: nameList(added),
      changed: nameList(changed),
      removed: nameList(removed),
      expired: nameList(expired),
    });
  }

  async function reload(path: string): Promise<void> {
    try {
      await onFileRead(path, await readStoredUsers(path));
    } catch (error) {
      // The previous users stay, because a typing error in the file must not lock out all users.
      logger.error("users-kept", { reason: errorMessage(error) });
    }
  }

  return {
    get file() {
      return file;
    },
    get generated() {
      return isGeneratedUsed ? generated : undefined;
    },
    async saveGenerated() {
      if (generated === undefined || !isGeneratedUsed) return;
      if (shared) {
        await shared.setFile(stored);
        // Another node may have created the set at the same time, without this user.
        isGeneratedUsed =
          shared.users === undefined ||
          active.byName.get(generated.name)?.hash === stored.get(generated.name);
      }
      if (!isGeneratedUsed) shared?.resetFile(new Map());
      if (file === undefined || !isGeneratedUsed) return;
      await writeUsersFile(file, stored);
      await watcher?.acknowledge();
    },
    find: (name) => active.byName.get(name),
    all: () => active.list,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    share(set) {
      shared = set;
      set.onChange = replaceUsers;
      if (set.users) {
        isGeneratedUsed = false;
        const reason =
          "the users file differs from the users of the cluster, which apply; what is changed in it from now on is applied on all nodes";
        if (!generated && !isSameUsers(set.users, stored)) logger.warn("users-differ", { file, reason });
        replaceUsers(set.users);
      }
      // A generated user is not shared before its password is shown.
      if (!generated || set.users) void set.setFile(generated ? new Map() : stored);
    },
    async watch(signal) {
      const expiring = removeExpired(signal);
      while (!signal.aborted) {
        const path = file;
        fileChanged = new AbortController();
        const stop = AbortSignal.any([signal, fileChanged.signal]);
        if (path !== undefined && watcher) await watcher.run(() => reload(path), stop);
        else await aborted(stop);
      }
      await expiring;
    },
    async prepareReload(configuredFile) {
      const nextFile = configuredFile ?? ownFile;
      // If the service's own file does not exist, the users stay as they are.
      if (nextFile === undefined || (configuredFile === undefined && !(await fileExists(nextFile)))) {
        return () => {};
      }
      const nextWatcher = nextFile === file ? watcher : new FileWatcher(nextFile, clock);
      await nextWatcher?.acknowledge();
      const nextStored = await readStoredUsers(nextFile);
      if (fromEnvironment.size + nextStored.size === 0) throw noUsersError(nextFile);
      return () => {
        void onFileRead(nextFile, nextStored);
        if (nextFile === file) return;
        file = nextFile;
        watcher = nextWatcher;
        fileChanged.abort();
      };
    },
  };
}

const EXPIRY_CHECK_INTERVAL_MS = 1000;
const MAX_LISTED_NAMES = 20;

/** The first names and the number of further ones, for the log; undefined if there are none. */
function nameList(users: readonly User[]): string | undefined {
  if (users.length === 0) return undefined;
  const names = users.slice(0, MAX_LISTED_NAMES).map(({ name }) => name);
  const others = users.length - names.length;
  return others > 0 ? `${names.join(",")} and ${others} more` : names.join(",");
}

const isSameUsers = (a: StoredUsers, b: StoredUsers): boolean =>
  a.size === b.size && [...a].every(([name, entry]) => b.get(name) === entry);

/** The names of users whose credential has changed or who were removed. */
export function changedUsers(before: Iterable<User>, now: ReadonlyMap<string, User>): Set<string> {
  const changed = [...before].filter((user) => now.get(user.name)?.credentialId !== user.credentialId);
  return new Set(changed.map((user) => user.name));
}

interface ActiveUsers {
  readonly byName: ReadonlyMap<string, User>;
  readonly list: readonly User[];
  /** The earliest time at which one of them expires, in epoch milliseconds. */
  readonly nextExpiry: number;
}

/**
 * The users that have not expired at `now`. A user of the environment takes precedence over one with the same name in the
 * file. An entry of a shared set that this version cannot parse is left out.
 */
function activeUsers(stored: StoredUsers, fromEnvironment: StoredUsers, now: number): ActiveUsers {
  const byName = new Map<string, User>();
  let nextExpiry = Number.POSITIVE_INFINITY;
  for (const [name, text] of new Map([...stored, ...fromEnvironment])) {
    const parsed = parseEntry(text);
    if (!parsed.ok) continue;
    const { hash, role, expiresAt = Number.POSITIVE_INFINITY } = parsed.entry;
    if (expiresAt <= now) continue;
    nextExpiry = Math.min(nextExpiry, expiresAt);
    byName.set(name, { name, hash, role, credentialId: Bun.SHA256.hash(`${name}:${text}`, "base64") });
  }
  return { byName, list: [...byName.values()], nextExpiry };
}

async function parseEnvironmentUser(value: string | undefined): Promise<StoredUsers> {
  if (value === undefined || value === "") return new Map();
  const environmentError = (fault: string) =>
    new UsersError(`GAZETTEER_CREDENTIALS: ${fault}; it must be <USERNAME>:<PASSWORD>`);
  if (value.includes("\uFFFD")) throw environmentError("is not UTF-8");
  const colon = value.indexOf(":");
  if (colon < 0) throw environmentError("there is no colon in it");
  const name = value.slice(0, colon).normalize("NFC");
  const password = value.slice(colon + 1);
  const fault = nameFault(name) ?? (password === "" ? "the password is empty" : undefined);
  if (fault) throw environmentError(fault);
  return new Map([[name, await hashPassword(password)]]);
}

const fileExists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function readStoredUsers(path: string): Promise<StoredUsers> {
  try {
    return await readUsersFile(path);
  } catch (error) {
    if (error instanceof UsersError) throw error;
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    const advice = isMissing ? `; gazetteer passwd ${path} NAME makes one` : "";
    throw new UsersError(`users file cannot be read: ${errorMessage(error)}${advice}`);
  }
}

async function writeUsersFile(path: string, users: StoredUsers): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    for (const [name, hash] of users) await storeUser(path, name, hash);
  } catch (error) {
    throw new UsersError(`users file cannot be written: ${errorMessage(error)}`);
  }
}

export class PushedUsers implements Users {
  readonly file = undefined;
  readonly generated = undefined;
  readonly #listeners = new Set<(names: ReadonlySet<string>) => void>();
  #list: readonly User[];
  #byName: ReadonlyMap<string, User>;

  constructor(users: readonly User[]) {
    this.#list = users;
    this.#byName = indexByName(users);
  }

  replace(users: readonly User[]): void {
    const before = this.#list;
    this.#list = users;
    this.#byName = indexByName(users);
    const names = changedUsers(before, this.#byName);
    for (const listener of this.#listeners) listener(names);
  }

  find(name: string): User | undefined {
    return this.#byName.get(name);
  }

  all(): readonly User[] {
    return this.#list;
  }

  onChange(listener: (names: ReadonlySet<string>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** These do nothing, because the main process saves and watches the file. */
  async saveGenerated(): Promise<void> {}
  async watch(): Promise<void> {}
}

const indexByName = (users: readonly User[]) => new Map(users.map((user) => [user.name, user]));
