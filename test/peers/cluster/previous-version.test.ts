/** Which earlier version the test of an upgrade takes, in repositories of its own. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "../../support/folder.ts";
import { checkOutPrevious, MESSAGES, previousCommit } from "./previous-version.ts";

type Files = Readonly<Record<string, string>>;

const format = (number: number): Files => ({ [MESSAGES]: `export const FORMAT = ${number};\n` });
const COMPLETE: Files = { "src/main.ts": "", "openapi.json": "{}", "docs/a.md": "", "package.json": "{}" };

function git(folder: string, ...args: string[]): string {
  const identity = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"];
  const { exitCode, stdout, stderr } = Bun.spawnSync(["git", ...identity, ...args], { cwd: folder });
  if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout.toString().trim();
}

/** One commit for each. */
function repository(...commits: readonly Files[]): string {
  const folder = temporaryFolder();
  git(folder, "init", "-q");
  for (const files of commits) commit(folder, files);
  return folder;
}

function commit(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  git(folder, "add", ".");
  git(folder, "commit", "-q", "--allow-empty", "-m", "change");
}

const idOf = (folder: string, name: string | undefined) => name && git(folder, "rev-parse", name);

describe("the previous version", () => {
  test("is the commit before, where it writes the same format", () => {
    const folder = repository(format(1), format(1), format(1));
    expect(idOf(folder, previousCommit(folder))).toBe(git(folder, "rev-parse", "HEAD~1"));
  });

  test("is the latest of those before that writes the same format", () => {
    const folder = repository(format(1), format(1), format(2), format(3), format(1));
    expect(idOf(folder, previousCommit(folder))).toBe(git(folder, "rev-parse", "HEAD~3"));
  });

  test("is none where no commit writes the same format, in a shallow clone, and without git", () => {
    expect(previousCommit(repository(format(1), format(2)))).toBeUndefined();
    const shallow = join(temporaryFolder(), "clone");
    const full = repository(format(1), format(1));
    git(dirname(shallow), "clone", "-q", "--depth", "1", `file://${full}`, shallow);
    expect(previousCommit(shallow)).toBeUndefined();
    rmSync(join(full, ".git"), { recursive: true });
    expect(previousCommit(full)).toBeUndefined();
  });

  test("is checked out only when it is complete and its packages are here", () => {
    expect(checkOutPrevious(repository(format(1), COMPLETE))).toBeUndefined();
    const missing = { "package.json": '{"dependencies":{"none":"1"}}' };
    expect(checkOutPrevious(repository({ ...format(1), ...COMPLETE, ...missing }, {}))).toBeUndefined();
    const folder = repository({ ...format(1), ...COMPLETE }, {});
    using previous = checkOutPrevious(folder);
    expect(previous?.commit).toBe("HEAD~1");
    expect(previous?.folder).toStartWith(join(folder, "data", "previous-"));
  });
});
