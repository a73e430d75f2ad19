/** A small disk for a test that fills it. Only root can mount one. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./folder.ts";
import { needs } from "./needs.ts";

export const canMount = process.getuid?.() === 0 && needs("mount", "umount");

/** Unmounted at the end of its scope, also while files on it are open. */
export function mountSmallDisk(bytes: number): Disposable & { readonly folder: string } {
  const folder = temporaryFolder();
  const { exitCode, stderr } = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${bytes}`, "none", folder]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return { folder, [Symbol.dispose]: () => void Bun.spawnSync(["umount", "-l", folder]) };
}

/** Fills what is left of the disk of a folder. Returns the function that frees it again. */
export function fillDisk(folder: string): () => void {
  const ballast = join(folder, "ballast");
  Bun.spawnSync(["dd", "if=/dev/zero", `of=${ballast}`, "bs=4096"]);
  return () => rmSync(ballast);
}
