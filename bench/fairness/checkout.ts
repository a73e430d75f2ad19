/** A checkout of another commit in a temporary folder, with a copy of the packages, for a comparison side by side. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

export interface Checkout extends Disposable {
  readonly root: string;
}

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd: ROOT });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
}

export function checkOut(ref: string): Checkout {
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-before-"));
  const root = join(folder, "checkout");
  const remove = () => {
    Bun.spawnSync(["git", "worktree", "remove", "--force", root], { cwd: ROOT });
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    run("git", "worktree", "add", "--detach", root, ref);
    run("cp", "-a", "--reflink=auto", join(ROOT, "node_modules"), join(root, "node_modules"));
  } catch (error) {
    remove();
    throw error;
  }
  return { root, [Symbol.dispose]: remove };
}
