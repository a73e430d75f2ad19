/** Packs the packages of this repository, and installs them from the tarballs. */
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..", "..");

/** Runs a command; its output is the error when it fails. */
export function run(command: readonly string[], cwd: string): string {
  const { success, stdout, stderr } = Bun.spawnSync([...command], { cwd });
  if (!success) throw new Error(`${command.join(" ")}:\n${stdout}${stderr}`);
  return `${stdout}${stderr}`;
}

/** `workspace` is a folder of the repository with a package. Returns the path of the tarball. */
export function pack(workspace: string, folder: string): string {
  run(["npm", "pack", "--silent", "--pack-destination", folder], join(ROOT, workspace));
  const [name = ""] = [...new Bun.Glob("*.tgz").scanSync(folder)];
  return join(folder, name);
}

export const canReachRegistry = (): boolean =>
  Bun.spawnSync(["npm", "view", "preact", "version"], { cwd: ROOT }).success;
