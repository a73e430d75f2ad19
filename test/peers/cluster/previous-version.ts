/**
 * An earlier version whose nodes understand those of this checkout: of the commits before HEAD, along first parents, the latest
 * that writes the same format of messages. Undefined where there is none, such as in a shallow clone, or where it cannot be run
 * with the packages of this checkout.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

export const MESSAGES = "src/log/jetstream/messages.ts";
const FORMAT_LINE = /^export const FORMAT = \d+;$/m;
const formatOf = (source: string): string | undefined => FORMAT_LINE.exec(source)?.[0];

export interface PreviousVersion extends Disposable {
  readonly commit: string;
  /** A checkout of it. Within this one, so that its packages are found; `/data` is not under version control. */
  readonly folder: string;
}

export function checkOutPrevious(root: string): PreviousVersion | undefined {
  const commit = previousCommit(root);
  if (commit === undefined) return undefined;
  mkdirSync(join(root, "data"), { recursive: true });
  const folder = mkdtempSync(join(root, "data", "previous-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const copy = 'git archive "$2" src openapi.json docs package.json | tar -x -C "$1"';
  Bun.spawnSync(["sh", "-c", copy, "sh", folder, commit], { cwd: root, stderr: "ignore" });
  if (isComplete(folder, root)) return { commit, folder, [Symbol.dispose]: remove };
  remove();
  return undefined;
}

export function previousCommit(root: string): string | undefined {
  const git = (...args: string[]): string =>
    Bun.spawnSync(["git", ...args], { cwd: root, stderr: "ignore" }).stdout.toString();
  const here = formatOf(readFileSync(join(root, MESSAGES), "utf8"));
  if (here === undefined) return undefined;
  // The file changes in few commits: the ones before those have all formats that there were.
  const changes = git("rev-list", "--first-parent", "HEAD~1", "--", MESSAGES).split("\n").filter(Boolean);
  const candidates = ["HEAD~1", ...changes.map((commit) => `${commit}~1`)];
  return candidates.find((commit) => formatOf(git("show", `${commit}:${MESSAGES}`)) === here);
}

function isComplete(folder: string, root: string): boolean {
  if (!existsSync(join(folder, "src/main.ts")) || !existsSync(join(folder, "package.json"))) return false;
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    dependencies?: Record<string, string>;
  };
  return Object.keys(dependencies).every((name) => existsSync(join(root, "node_modules", name)));
}
