/** Reads one network file. Each fault is one line of text: `file:line: field: message`. */
import { open, stat } from "node:fs/promises";
import { basename } from "node:path";
import { faulty, type Network, parseNetwork } from "./network-file.ts";

export const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** The message has the file name without its folder, because it is visible to users of the API. */
export async function readNetwork(path: string): Promise<Network> {
  const file = basename(path);
  const content = await readBytes(path);
  return content.ok ? parseNetwork(file, content.bytes) : faulty([`${file}: ${content.message}`]);
}

type BytesResult =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly message: string };

/** The content of a regular file of limited size, or why it cannot be read. */
export async function readBytes(path: string): Promise<BytesResult> {
  try {
    // Checked before opening: opening a pipe would wait for its writer.
    if (!(await stat(path)).isFile()) return { ok: false, message: "is not a regular file" };
    await using handle = await open(path);
    const { size } = await handle.stat();
    if (size > MAX_FILE_BYTES)
      return { ok: false, message: `is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB` };
    return { ok: true, bytes: await handle.readFile() };
  } catch (error) {
    return { ok: false, message: describeReadError(error) };
  }
}

function describeReadError(error: unknown): string {
  if (!(error instanceof Error)) return "cannot be read";
  const code = "code" in error ? String(error.code) : "";
  if (code === "ENOENT" || code === "ENOTDIR") return "does not exist";
  if (code === "EACCES" || code === "EPERM") return "cannot be read: permission denied";
  return code === "" ? "cannot be read" : `cannot be read (${code})`;
}
