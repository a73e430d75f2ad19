/**
 * Files that hold secrets. `replaceFile` replaces a file atomically: it writes a temporary file beside it, syncs it and
 * renames it. So a concurrent reader, a full disk or a kill never leaves half of a file. The mode is 0600 whatever the
 * umask is.
 *
 * Root may do that in a folder of another user, who can exchange any name in it at any moment. So the mode and the owner
 * are set through the open handle, never by name, and the name of the temporary file is not predictable. `withPinnedFile`
 * is for commands that root types: it opens the folder once, refuses symbolic links that another user may have made, and
 * then uses only that open folder, even if the names on the path to it change.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from "node:fs";
import { open, realpath, rename, unlink } from "node:fs/promises";
import { isAbsolute, join } from "node:path";

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Flags for `open`: a symbolic link is an error, and a FIFO does not block. */
export const READ_NO_FOLLOW = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Number of symbolic links that Linux follows in one path. */
const MAX_LINKS = 40;

const isRoot = (): boolean => process.geteuid?.() === 0;

/** With `owner`, the file belongs to that user if this process runs as root. A symbolic link is replaced, not followed. */
export async function replaceFile(path: string, text: string, owner?: FileOwner): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  const handle = await open(temporary, CREATE, 0o600);
  try {
    try {
      await handle.writeFile(text);
      await handle.chmod(0o600);
      if (owner && isRoot()) await handle.chown(owner.uid, owner.gid);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
}

/**
 * Calls `work` with the path of the file that `path` leads to through symbolic links. The file may not exist yet. For root,
 * the path is valid only during the call, and every symbolic link on the way must belong to root; otherwise this throws.
 */
export async function withPinnedFile<T>(path: string, work: (file: string) => Promise<T>): Promise<T> {
  if (!isRoot()) return work(await realpath(path).catch(() => path));
  const folder = new PinnedFolder(path);
  try {
    return await work(folder.join(folder.walk()));
  } catch (error) {
    throw folder.withShownPath(error);
  } finally {
    folder.close();
  }
}

/** An open folder, in which names are looked up without following the path to it again. */
class PinnedFolder {
  readonly #path: string;
  #descriptor: number;
  /** The path of the folder, for messages and for systems without `/proc`. */
  #shown = "/";

  constructor(path: string) {
    this.#path = isAbsolute(path) ? path : join(process.cwd(), path);
    this.#descriptor = openSync("/", FOLDER);
  }

  join(name: string): string {
    // The path is not made with `join`, which would resolve `..` textually.
    return process.platform === "linux" ? `${this.#place}/${name}` : join(this.#shown, name);
  }

  get #place(): string {
    return `/proc/self/fd/${this.#descriptor}`;
  }

  /** Enters the folder of the file, name by name, and returns the name of the file in it. */
  walk(): string {
    const names = namesOf(this.#path);
    for (let links = 0; ; ) {
      const name = names.shift() ?? ".";
      const entry = lstatSync(this.join(name), { throwIfNoEntry: false });
      if (entry?.isSymbolicLink()) {
        if (++links > MAX_LINKS) throw new Error("there are too many symbolic links");
        names.unshift(...this.#follow(name, entry));
      } else if (names.length === 0) return name;
      else this.#enter(this.join(name), join(this.#shown, name));
    }
  }

  #follow(name: string, link: Stats): string[] {
    if (!isRootsLink(fstatSync(this.#descriptor), link)) {
      throw new Error(
        `${join(this.#shown, name)} is a symbolic link that another user than root may change; as root name the file itself`,
      );
    }
    const target = readlinkSync(this.join(name));
    if (isAbsolute(target)) this.#enter("/", "/");
    return namesOf(target);
  }

  #enter(folder: string, shown: string): void {
    const descriptor = openSync(folder, FOLDER);
    this.close();
    this.#descriptor = descriptor;
    this.#shown = shown;
  }

  /** Returns the error with the path of the folder in its message. */
  withShownPath(error: unknown): unknown {
    if (error instanceof Error) error.message = error.message.replaceAll(this.#place, this.#shown);
    return error;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

/** Whether root made the link and no other user can replace it. In a sticky folder, other users can only add names. */
function isRootsLink(folder: Stats, link: Stats): boolean {
  const othersMayWrite = (folder.mode & 0o022) !== 0;
  const isSticky = (folder.mode & 0o1000) !== 0;
  return folder.uid === 0 && (!othersMayWrite || (isSticky && link.uid === 0));
}

const namesOf = (path: string): string[] => path.split("/").filter((name) => name !== "" && name !== ".");
