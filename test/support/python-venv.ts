/**
 * Packages of PyPI in a virtual environment. It is installed once, in a folder that outlives the test run. Where PyPI cannot
 * be reached, the tests are skipped with a SKIP line, also where CI=true.
 */
import { chmodSync, existsSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs, printSkip } from "./needs.ts";

const PYTHON = "/usr/bin/python3";
const INSTALL_TIMEOUT_MS = 300_000;
const UNREACHABLE = /connection|resolve|timed out|could not find a version|temporary failure/i;

/** The environment of this user. `name` has a version: other packages need another name. */
const venvFolder = (name: string): string => `/var/tmp/gazetteer-${name}-${process.getuid?.() ?? "user"}`;

export const venvProgram = (name: string, program: string): string =>
  join(venvFolder(name), "venv/bin", program);

/** Whether the packages are installed; installs them when they are not. All users can read them. */
export function hasVenv(name: string, packages: readonly string[]): boolean {
  if (!needs(PYTHON)) return false;
  const folder = venvFolder(name);
  const ready = join(folder, "ready");
  if (isOurs(folder) && existsSync(ready)) return true;
  if (existsSync(folder) && !isOurs(folder)) throw new Error(`${folder} belongs to another user`);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  chmodSync(folder, 0o755);
  console.log(`installing ${packages.join(" ")} from PyPI …`);
  const pip = [venvProgram(name, "pip"), "install", "-q", "--retries", "1", "--timeout", "20"];
  const failure =
    install([PYTHON, "-m", "venv", "--clear", join(folder, "venv")]) ?? install([...pip, ...packages]);
  if (failure === undefined) {
    writeFileSync(ready, "");
    return true;
  }
  if (!UNREACHABLE.test(failure)) throw new Error(failure);
  printSkip(
    `${packages.join(" ")} cannot be installed from PyPI, so it is not tested:\n${failure.slice(-500)}`,
  );
  return false;
}

/** A folder that somebody else made could hold a program of theirs. */
function isOurs(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { uid, mode } = lstatSync(folder);
  return uid === process.getuid?.() && (mode & 0o022) === 0;
}

function install(command: string[]): string | undefined {
  const { success, stdout, stderr } = Bun.spawnSync(command, { timeout: INSTALL_TIMEOUT_MS });
  return success ? undefined : `${command[0]} failed: timed out or\n${stdout}${stderr}`;
}
