/**
 * Replaces a file that holds secrets in one step: written beside it, synced, renamed. A concurrent reader, a full disk or
 * a kill never leave half of a file. Mode 0600, whatever the umask is.
 */
import { chmod, chown, open, rename, rm } from "node:fs/promises";

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** With `owner` the file belongs to that user, where this process may decide that. */
export async function replaceFile(path: string, text: string, owner?: FileOwner): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await chmod(temporary, 0o600);
    if (owner && process.getuid?.() === 0) await chown(temporary, owner.uid, owner.gid);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
