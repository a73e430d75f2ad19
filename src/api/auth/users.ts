/**
 * Who may read. Users come from the environment (GAZETTEER_CREDENTIALS) and from a users file, which is followed:
 * a changed file counts within about a second, and a broken one changes nothing and is logged. Where nobody is
 * configured, one user is made up, and the password is given to the caller once; only its hash is kept.
 *
 * `onChange` names the users whose credentials are no longer what they were, before any new request sees them, so
 * that whatever was opened with the old ones can be ended.
 */
import { watch as watchFolder } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import { hashPassword, randomPassword } from "./password.ts";
import { nameFault, readUsersFile, type StoredUsers, storeUser, UsersError } from "./users-file.ts";

const POLL_MS = 1000;
/** A file still being written is read when it has been left alone for this long. */
const SETTLE_MS = 100;
/** One that is never left alone is read all the same. */
const MAX_WAITS = 20;

export interface User {
  readonly name: string;
  readonly hash: string;
  /** Another one whenever the name or the hash is. */
  readonly credentialId: string;
}

export interface Generated {
  readonly name: string;
  readonly password: string;
}

export interface Users {
  find(name: string): User | undefined;
  /** In a fixed order. */
  all(): readonly User[];
  /** The file that is followed, if there is one. */
  readonly file: string | undefined;
  /** The user made up at this start, with the password that is nowhere else. */
  readonly generated: Generated | undefined;
  /**
   * Writes the hash of the made-up user to the data folder. A step of its own, to be taken when the password is shown:
   * a start that fails before that must not leave a user whose password nobody has seen.
   */
  keepGenerated(): Promise<void>;
  /**
   * Tells, whenever users have been read anew, the names of those that changed or are gone: none of them where users
   * only came. Gives the function that ends the telling.
   */
  onChange(listener: (names: ReadonlySet<string>) => void): () => void;
  /** Follows the file until the signal aborts. */
  follow(signal: AbortSignal): Promise<void>;
}

export interface UsersOptions {
  /** The value of GAZETTEER_CREDENTIALS. */
  readonly environment?: string | undefined;
  /** The configured users file. */
  readonly file?: string | undefined;
  /** Where a made-up user is kept, in a file `users`, which is also read when no other is configured. */
  readonly dataDir?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export async function openUsers(options: UsersOptions): Promise<Users> {
  const fixed = await environmentUser(options.environment);
  const ownFile = options.dataDir === undefined ? undefined : join(options.dataDir, "users");
  const file = options.file ?? ownFile;
  let stored: StoredUsers = new Map();
  let signature = "";
  if (file !== undefined) {
    signature = await signatureOf(file);
    // The service's own file need not be there yet; one that somebody named must.
    if (signature !== "" || options.file !== undefined) stored = await readable(file);
  }
  let generated: Generated | undefined;
  if (fixed.size + stored.size === 0) {
    if (options.file !== undefined) {
      throw new UsersError(
        `${options.file}: has no users; add one with gazetteer passwd ${options.file} NAME`,
      );
    }
    generated = { name: "reader", password: randomPassword() };
    stored = new Map([[generated.name, await hashPassword(generated.password)]]);
  }
  return createUsers(options, { fixed, stored, file, signature, generated });
}

interface Loaded {
  readonly fixed: StoredUsers;
  readonly stored: StoredUsers;
  readonly file: string | undefined;
  readonly signature: string;
  readonly generated: Generated | undefined;
}

function createUsers({ clock, logger }: UsersOptions, loaded: Loaded): Users {
  const { fixed, file, generated } = loaded;
  const listeners = new Set<(names: ReadonlySet<string>) => void>();
  let users = merge(loaded.stored, fixed);
  let order = [...users.values()];
  let signature = loaded.signature;

  function adopt(stored: StoredUsers): void {
    const before = users;
    users = merge(stored, fixed);
    order = [...users.values()];
    const names = changedUsers(before.values(), users);
    logger.info("users-read", { file, users: users.size, changed: names.size });
    for (const listener of listeners) listener(names);
  }

  /** Reads the file when it is another than before and has come to rest. */
  async function look(path: string, signal: AbortSignal): Promise<void> {
    let seen = await signatureOf(path);
    if (seen === signature) return;
    for (let waits = 0, settled = false; !settled && waits < MAX_WAITS && !signal.aborted; waits++) {
      await clock.sleep(SETTLE_MS, signal);
      const now = await signatureOf(path);
      settled = now === seen;
      seen = now;
    }
    if (signal.aborted) return;
    signature = seen;
    try {
      adopt(await readable(path));
    } catch (error) {
      // Users locked out by a slip of the editor would be worse than users of a minute ago.
      logger.error("users-kept", { reason: error instanceof Error ? error.message : String(error) });
    }
  }

  return {
    file,
    generated,
    async keepGenerated() {
      if (generated === undefined || file === undefined) return;
      await keep(file, loaded.stored);
      signature = await signatureOf(file);
    },
    find: (name) => users.get(name),
    all: () => order,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async follow(signal) {
      if (file === undefined) return;
      const nudge = nudgedBy(file, signal);
      while (!signal.aborted) {
        await look(file, signal);
        await Promise.race([clock.sleep(POLL_MS, signal), nudge()]);
      }
    },
  };
}

/** The names of users that are not what they were. */
export function changedUsers(before: Iterable<User>, now: ReadonlyMap<string, User>): Set<string> {
  const changed = [...before].filter((user) => now.get(user.name)?.credentialId !== user.credentialId);
  return new Set(changed.map((user) => user.name));
}

/** Whom the environment names comes before the same name in the file. */
function merge(stored: StoredUsers, fixed: StoredUsers): Map<string, User> {
  const users = new Map<string, User>();
  for (const [name, hash] of new Map([...stored, ...fixed])) {
    const credentialId = Bun.SHA256.hash(`${name}:${hash}`, "base64");
    users.set(name, { name, hash, credentialId });
  }
  return users;
}

async function environmentUser(value: string | undefined): Promise<StoredUsers> {
  if (value === undefined || value === "") return new Map();
  const fail = (what: string) =>
    new UsersError(`GAZETTEER_CREDENTIALS: ${what}; it must be <USERNAME>:<PASSWORD>`);
  if (value.includes("\uFFFD")) throw fail("is not UTF-8");
  const colon = value.indexOf(":");
  if (colon < 0) throw fail("there is no colon in it");
  const name = value.slice(0, colon).normalize("NFC");
  const password = value.slice(colon + 1);
  const fault = nameFault(name) ?? (password === "" ? "the password is empty" : undefined);
  if (fault) throw fail(fault);
  return new Map([[name, await hashPassword(password)]]);
}

async function readable(path: string): Promise<StoredUsers> {
  try {
    return await readUsersFile(path);
  } catch (error) {
    if (error instanceof UsersError) throw error;
    throw new UsersError(
      `users file cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function keep(path: string, users: StoredUsers): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    for (const [name, hash] of users) await storeUser(path, name, hash);
  } catch (error) {
    throw new UsersError(
      `users file cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Changes whenever the file does; empty when there is none. */
async function signatureOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch {
    return ""; // not there, or not for us: reading it says which
  }
}

/**
 * A function whose promise resolves at the next stir in the file's folder: the folder, because a file that is replaced
 * is another file. Only a nudge: where folders cannot be watched, the poll does all the work.
 */
function nudgedBy(path: string, signal: AbortSignal): () => Promise<void> {
  let wake = () => {};
  try {
    const watcher = watchFolder(dirname(path), { persistent: false, signal }, (_event, name) => {
      if (name === null || name === basename(path)) wake();
    });
    watcher.on("error", () => watcher.close());
  } catch {
    return () => new Promise(() => {});
  }
  return () =>
    new Promise((resolve) => {
      wake = resolve;
    });
}
