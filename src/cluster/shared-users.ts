/**
 * The users of a cluster: one sealed value in a bucket, which applies to all nodes. The first node writes its users there.
 * From then on changes of a node's users file are made in the value: only users that were added, changed or removed in that
 * file since it was last read, so that an old file on another node does not restore a removed user.
 *
 * - Writes are by revision, so two at once are both applied, and of two changes of one user the last one wins.
 * - A value has an increasing version. A NATS user who may write to the bucket, without the secret, cannot restore an old value:
 *   a node that knows a newer one writes that again, also where the bucket was deleted.
 * - The last known value is also stored in a file, for starts without NATS and for a node that continues alone. It is a users
 *   file, which can be read without the secret.
 */
import { readFile } from "node:fs/promises";
import type { KvEntry } from "@nats-io/kv";
import Type from "typebox";
import { Compile } from "typebox/compile";
import type { Clock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import type { Logger } from "../lib/logger.ts";
import { createPoll } from "../lib/poll.ts";
import { replaceFile } from "../lib/replace-file.ts";
import { TtlBucket, watchBucket } from "./bucket.ts";
import { isOtherSequence, type NatsCluster } from "./nats/nats-cluster.ts";

const KEY = "users";
/** The TTL of the bucket: none, because users stay until they are removed. */
const NO_TTL_MS = 0;
const RETRY_MS = 500;

/** The users by name, each with the rest of its line in a users file. */
export type UserEntries = ReadonlyMap<string, string>;

const Value = Type.Object({
  version: Type.Integer({ minimum: 1 }),
  users: Type.Array(Type.Tuple([Type.String(), Type.String()])),
});
const value = Compile(Value);

/** A decrypted value of the bucket. */
interface UserSet {
  readonly version: number;
  readonly users: UserEntries;
}

export interface SharedUsersOptions {
  readonly cluster: NatsCluster;
  /** Path of the copy of the last known users; undefined where none is kept. */
  readonly copyPath: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class SharedUsers {
  readonly #options: SharedUsersOptions;
  readonly #bucket: TtlBucket;
  /** Callback for each new set of users that applies. */
  onChange: (users: UserEntries) => void = () => {};
  #known: UserSet | undefined;
  /** The content of the file that the shared set includes. It differs from `#file` while a change is not written yet. */
  #sharedFile: UserEntries = new Map();
  #file: UserEntries | undefined;
  #shouldWrite = false;
  #writing = Promise.resolve();
  #copying = Promise.resolve();
  #reported = "";

  constructor(options: SharedUsersOptions) {
    this.#options = options;
    this.#bucket = new TtlBucket(options.cluster, "users", NO_TTL_MS);
  }

  /** The users that apply; undefined when there are none yet, or none are known. */
  get users(): UserEntries | undefined {
    return this.#known?.users;
  }

  /** Reads the set, from NATS or else from the copy. Call it before any other method. */
  async load(): Promise<void> {
    const { copyPath, cluster } = this.#options;
    const copy = copyPath && (await readFile(copyPath, "utf8").catch(() => undefined));
    this.#known = copy ? parseCopy(copy) : undefined;
    if (!cluster.nats.isConnected) return;
    try {
      const { kv } = await this.#bucket.open();
      const entry = await kv.get(KEY);
      if (entry) this.#onEntry(entry);
    } catch (error) {
      this.#bucket.forget();
      this.#report("users-not-read", errorMessage(error));
    }
  }

  /**
   * Sets the users of this node's file. Call it at the start and whenever the file was read again. Resolves after one attempt
   * to write the changes; `run` tries again.
   */
  setFile(users: UserEntries): Promise<void> {
    if (!this.#file) this.#sharedFile = users;
    this.#file = users;
    this.#shouldWrite = true;
    return this.#writeIfNeeded();
  }

  /** Sets the users of another file, or of none. Its content does not count as a change. */
  resetFile(users: UserEntries): void {
    this.#sharedFile = users;
    this.#file = users;
  }

  /** Watches the set, and repeats writes that failed, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const onEntry = (entry: KvEntry) => this.#onEntry(entry);
    const onBegin = () => {
      // The bucket may have been made again, without users.
      this.#shouldWrite = true;
    };
    const watching = watchBucket(this.#bucket, onEntry, { clock, pauseMs: RETRY_MS, signal, onBegin });
    await createPoll({ intervalMs: RETRY_MS, clock, signal }).run(() => this.#writeIfNeeded());
    await Promise.all([watching, this.#writing, this.#copying]);
  }

  #onEntry(entry: KvEntry): void {
    const isSet = entry.operation === "PUT";
    const read = isSet && entry.key === KEY ? this.#open(entry.value) : undefined;
    // The entry is malformed or sealed with another secret.
    if (isSet && !read) this.#options.cluster.foreign.countEntry("users", entry);
    if (entry.key !== KEY) return;
    if (read && read.version > (this.#known?.version ?? 0)) this.#apply(read);
    // The value was deleted, replaced by something else or by an old one, so the known users are written again.
    else if (!read || !this.#known || !isEqual(read.users, this.#known.users)) this.#shouldWrite = true;
  }

  /** Applies a set, unless the watch has delivered it or a newer one before. */
  #applyIfNewer(set: UserSet): void {
    if (set.version > (this.#known?.version ?? 0)) this.#apply(set);
  }

  #apply(set: UserSet): void {
    this.#known = set;
    this.#keepCopy(set);
    this.onChange(set.users);
  }

  #keepCopy(set: UserSet): void {
    const { copyPath, logger } = this.#options;
    if (copyPath === undefined) return;
    this.#copying = this.#copying
      .then(() => replaceFile(copyPath, formatCopy(set)))
      .catch((error: unknown) => logger.warn("users-copy-not-written", { reason: errorMessage(error) }));
  }

  #writeIfNeeded(): Promise<void> {
    this.#writing = this.#writing.then(() =>
      this.#shouldWrite && this.#file ? this.#tryToWrite(this.#file) : undefined,
    );
    return this.#writing;
  }

  async #tryToWrite(file: UserEntries): Promise<void> {
    this.#shouldWrite = false;
    try {
      await this.#write(file);
      this.#sharedFile = file;
      this.#reported = "";
    } catch (error) {
      this.#shouldWrite = true;
      // Another node was faster. The next attempt changes its value.
      if (isOtherSequence(error)) return;
      this.#bucket.forget();
      this.#report("users-not-shared", errorMessage(error));
    }
  }

  /** Writes the value if it differs from the users that should apply. Rejects when that is not possible now. */
  async #write(file: UserEntries): Promise<void> {
    if (!this.#options.cluster.nats.isConnected)
      throw new Error("NATS cannot be reached; the last known users apply");
    const { kv } = await this.#bucket.open();
    const entry = await kv.get(KEY);
    const stored = entry?.operation === "PUT" ? entry : undefined;
    const shared = stored && this.#open(stored.value);
    const newest = newer(shared, this.#known);
    if (stored && !newest)
      throw new Error(
        "the users of the cluster are sealed with another secret; cluster.secretFile must be the same",
      );
    const users = newest ? withChanges(newest.users, this.#sharedFile, file) : file;
    if (shared && isEqual(users, shared.users)) return this.#applyIfNewer(shared);
    const set = { version: (newest?.version ?? 0) + 1, users };
    const sealed = this.#seal(set);
    if (stored) await kv.update(KEY, sealed, stored.revision);
    else await kv.create(KEY, sealed);
    this.#applyIfNewer(set);
  }

  #seal({ version, users }: UserSet): Uint8Array {
    const text = JSON.stringify({ version, users: [...users] } satisfies Type.Static<typeof Value>);
    return this.#options.cluster.secret.seal(this.#purpose, new TextEncoder().encode(text));
  }

  #open(sealed: Uint8Array): UserSet | undefined {
    const plain = this.#options.cluster.secret.open(this.#purpose, sealed);
    if (!plain) return undefined;
    const read: unknown = JSON.parse(new TextDecoder().decode(plain));
    return value.Check(read) ? { version: read.version, users: new Map(read.users) } : undefined;
  }

  get #purpose(): string {
    return `users of ${this.#options.cluster.names.users}`;
  }

  /** Logs a reason once, until another one is reported. */
  #report(event: string, reason: string): void {
    const line = `${event} ${reason}`;
    if (line !== this.#reported) this.#options.logger.error(event, { reason });
    this.#reported = line;
  }
}

const COPY_HEAD = /^# The users of the cluster as they were last known, version (\d+)\./;

const formatCopy = ({ version, users }: UserSet): string =>
  [
    `# The users of the cluster as they were last known, version ${version}. The service writes this file.`,
    ...[...users].map(([name, entry]) => `${name}:${entry}`),
    "",
  ].join("\n");

/** Parses a copy; undefined where it does not have the format of `formatCopy`. */
function parseCopy(text: string): UserSet | undefined {
  const version = COPY_HEAD.exec(text)?.[1];
  if (version === undefined) return undefined;
  const lines = text.split("\n").slice(1).filter(Boolean);
  const users = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1)] as const;
  });
  return { version: Number(version), users: new Map(users) };
}

const newer = (a: UserSet | undefined, b: UserSet | undefined): UserSet | undefined =>
  a && b ? (a.version >= b.version ? a : b) : (a ?? b);

const isEqual = (a: UserEntries, b: UserEntries): boolean =>
  a.size === b.size && [...a].every(([name, entry]) => b.get(name) === entry);

/** Applies to `users` the additions, changes and removals from `before` to `after`. */
function withChanges(users: UserEntries, before: UserEntries, after: UserEntries): UserEntries {
  const changed = new Map(users);
  for (const name of before.keys()) if (!after.has(name)) changed.delete(name);
  for (const [name, entry] of after) if (before.get(name) !== entry) changed.set(name, entry);
  return changed;
}
