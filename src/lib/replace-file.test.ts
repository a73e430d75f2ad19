import { beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../test/support/folder.ts";
import { printSkip } from "../../test/support/needs.ts";
import { replaceFile, withPinnedFile } from "./replace-file.ts";

const isRoot = process.getuid?.() === 0;
if (!isRoot) printSkip("folders of another user need root");
const OTHER = 65_534;

let folder = "";
let target = "";
beforeEach(() => {
  folder = temporaryFolder();
  target = join(folder, "roots-file");
  writeFileSync(target, "root's\n", { mode: 0o644 });
});

/** A folder of another user, who can exchange every name in it. */
function othersFolder(): string {
  const path = join(folder, "others");
  mkdirSync(path);
  chownSync(path, OTHER, OTHER);
  return path;
}

const ownerAndMode = (path: string) => {
  const { uid, mode } = statSync(path);
  return [uid, mode & 0o777];
};
const write = (path: string) => withPinnedFile(path, (file) => replaceFile(file, "new\n"));

test("the file has mode 0600 and the new text, and nothing else is left in the folder", async () => {
  const path = join(folder, "file");
  await replaceFile(path, "one");
  chmodSync(path, 0o644);
  await replaceFile(path, "two");
  expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["two", 0o600]);
  await expect(replaceFile(join(folder, "missing", "file"), "x")).rejects.toThrow("ENOENT");
  mkdirSync(join(folder, "taken", "inside"), { recursive: true });
  await expect(replaceFile(join(folder, "taken"), "x")).rejects.toThrow();
  expect(readdirSync(folder).sort()).toEqual(["file", "roots-file", "taken"]);
});

describe.skipIf(!isRoot)("as root, in a folder of another user", () => {
  test("the owner is set on the file that was written, whatever its name leads to meanwhile", async () => {
    const path = join(othersFolder(), "users");
    const ready = join(folder, "ready");
    // Exchanges every temporary file for a link to root's file, as fast as it can.
    const attacker = `
      import { readdirSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
      writeFileSync(${JSON.stringify(ready)}, "");
      for (;;) for (const name of readdirSync(${JSON.stringify(join(path, ".."))})) {
        if (!name.endsWith(".tmp")) continue;
        const path = ${JSON.stringify(`${join(path, "..")}/`)} + name;
        try { unlinkSync(path); symlinkSync(${JSON.stringify(target)}, path); } catch {}
      }`;
    const child = Bun.spawn([process.execPath, "-e", attacker]);
    while (!(await Bun.file(ready).exists())) await Bun.sleep(1);
    let exchanged = 0;
    for (let n = 0; n < 2000 && exchanged < 20; n++) {
      await replaceFile(path, "secret\n", { uid: OTHER, gid: OTHER }).catch(() => {});
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) exchanged++;
    }
    child.kill("SIGKILL");
    await child.exited;
    expect(ownerAndMode(target)).toEqual([0, 0o644]);
    expect(readFileSync(target, "utf8")).toBe("root's\n");
    await replaceFile(path, "secret\n", { uid: OTHER, gid: OTHER });
    expect(ownerAndMode(path)).toEqual([OTHER, 0o600]);
  });

  test("a symbolic link is refused, also one to a folder on the way", async () => {
    const others = othersFolder();
    symlinkSync(target, join(others, "users"));
    symlinkSync(folder, join(others, "way"));
    for (const path of [join(others, "users"), join(others, "way", "roots-file")]) {
      const refusal = withPinnedFile(path, (file) => Bun.file(file).text());
      await expect(refusal).rejects.toThrow(/others\/(users|way) is a symbolic link that another user/);
      await expect(write(path)).rejects.toThrow("symbolic link");
    }
    expect(readFileSync(target, "utf8")).toBe("root's\n");
    // A link of root's folder leads there: the file in the folder of the other user is replaced, and is no link.
    symlinkSync(join("others", "real"), join(folder, "link"));
    await write(join(folder, "link"));
    expect(readFileSync(join(others, "real"), "utf8")).toBe("new\n");
  });

  test("a folder that others may write to is no better, except for root's links in a sticky one", async () => {
    const shared = join(folder, "shared");
    mkdirSync(shared);
    const link = join(shared, "link");
    symlinkSync(target, link);
    for (const [mode, isFollowed] of [
      [0o770, false],
      [0o707, false],
      [0o1777, true],
      [0o755, true],
    ] as const) {
      chmodSync(shared, mode);
      const followed = withPinnedFile(link, (file) => Bun.file(file).text()).then(
        () => true,
        () => false,
      );
      expect([mode, await followed]).toEqual([mode, isFollowed]);
    }
  });

  test("the folder stays the same while the names on the way to it are exchanged", async () => {
    const others = othersFolder();
    mkdirSync(join(others, "sub"));
    writeFileSync(join(others, "sub", "users"), "before\n");
    await withPinnedFile(join(others, "sub", "users"), async (file) => {
      expect(await Bun.file(file).text()).toBe("before\n");
      renameSync(join(others, "sub"), join(others, "moved"));
      symlinkSync(folder, join(others, "sub"));
      await replaceFile(file, "after\n");
    });
    expect(readFileSync(join(others, "moved", "users"), "utf8")).toBe("after\n");
    expect(readdirSync(folder).sort()).toEqual(["others", "roots-file"]);
  });

  test("paths with .. and . lead where the kernel leads, and messages name the path that was given", async () => {
    const others = othersFolder();
    mkdirSync(join(others, "sub"));
    await write(`${others}/./sub/../sub//../file`);
    expect(readFileSync(join(others, "file"), "utf8")).toBe("new\n");
    const missing = join(others, "no", "users");
    await expect(write(missing)).rejects.toThrow(join(others, "no"));
  });
});
