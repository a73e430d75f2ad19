import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { hashTokenSecret } from "./password.ts";
import {
  CERTIFICATE_ONLY,
  changeUser,
  MAX_FILE_BYTES,
  nameFault,
  parseUsers,
  readUsersFile,
  storeUser,
  UsersError,
} from "./users-file.ts";

const A = await Bun.password.hash("a", { algorithm: "bcrypt", cost: 4 });
const B = await Bun.password.hash("b", { algorithm: "bcrypt", cost: 4 });

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gazetteer-users-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("parsing", () => {
  test("accepts comments, blank lines, CRLF and a byte order mark", () => {
    const users = parseUsers(`\uFEFF# who reads\r\n\r\nann:${A}\r\n  # more\n\nrené:${B}`, "users");
    expect([...users]).toEqual([
      ["ann", A],
      ["rené", B],
    ]);
  });

  test("accepts users without a password", () => {
    expect([...parseUsers("ann:certificate\n", "users")]).toEqual([["ann", CERTIFICATE_ONLY]]);
  });

  const rejected: [title: string, line: string, message: string][] = [
    ["no colon", "ann", "users:2:1: not NAME:HASH"],
    ["a plain password", "ann:secret", "users:2:5: not an argon2id or bcrypt hash"],
    ["an empty name", `:${A}`, "users:2:1: the user name is empty"],
    ["a name twice", `ann:${A}\nann:${B}`, "users:3:1: user ann is listed twice"],
    ["a control character", `a\u0007nn:${A}`, "users:2:1: a user name may not contain control characters"],
    ["a role that does not exist", `ann:${A}:extra`, "the role must be one of reader, metrics"],
    [
      "two roles",
      `ann:${A}:metrics:metrics`,
      `users:2:${A.length + 14}: the time of expiry must be written as`,
    ],
    ["a local time", `ann:${A}:reader:2027-01-31T00:00:00`, "the time of expiry must be written as"],
    ["a day that does not exist", `ann:${A}:reader:2027-13-31T00:00:00Z`, "the time of expiry must be"],
    ["half of a token's hash", "ann:$sha256$AAAA", "users:2:5: not an argon2id or bcrypt hash"],
  ];
  for (const [title, line, message] of rejected) {
    test(`rejected: ${title}`, () => expect(() => parseUsers(`# head\n${line}`, "users")).toThrow(message));
  }

  test("all faults are reported at once", () => {
    const faults = (text: string): readonly string[] => {
      try {
        parseUsers(text, "users");
      } catch (error) {
        if (error instanceof UsersError) return error.faults;
      }
      return [];
    };
    expect(faults(`ann\n  bob:plain\ncat:${A}\n`)).toEqual([
      "users:1:1: not NAME:HASH; make the line with gazetteer passwd",
      "users:2:7: not an argon2id or bcrypt hash; make the line with gazetteer passwd",
    ]);
  });

  test("a folder and a file above the size limit are rejected", async () => {
    await expect(readUsersFile(folder)).rejects.toThrow();
    const huge = join(folder, "huge");
    writeFileSync(huge, "#".repeat(MAX_FILE_BYTES + 1));
    await expect(readUsersFile(huge)).rejects.toThrow("larger than");
    // One that would block whoever opens it.
    const fifo = join(folder, "fifo");
    expect(Bun.spawnSync(["mkfifo", fifo]).exitCode).toBe(0);
    await expect(readUsersFile(fifo)).rejects.toThrow("not a file");
  });
});

describe("storing", () => {
  test("creates the file with mode 0600, adds users, and replaces one line only", async () => {
    const path = join(folder, "users");
    expect(await storeUser(path, "ann", A)).toBe("added");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, `# ours\nann:${A}\n\n# theirs\nbob:${A}`);
    chmodSync(path, 0o644);
    expect(await storeUser(path, "ann", B)).toBe("replaced");
    expect(await storeUser(path, "cy", B)).toBe("added");
    expect(readFileSync(path, "utf8")).toBe(`# ours\nann:${B}\n\n# theirs\nbob:${A}\ncy:${B}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["users"]);
  });

  test("a role and an expiry stay with a new password, a token is no user with a password, a removed line is gone", async () => {
    const path = join(folder, "users");
    const token = hashTokenSecret("x");
    writeFileSync(path, `# ours\nann:${A}:metrics:2027-01-31T08:00:00Z\nci:${token}\nbob:${A}\n`);
    await storeUser(path, "ann", B);
    await expect(storeUser(path, "ci", B)).rejects.toThrow("ci is a token");
    await changeUser(path, "bob", () => undefined);
    expect(readFileSync(path, "utf8")).toBe(`# ours\nann:${B}:metrics:2027-01-31T08:00:00Z\nci:${token}\n`);
    await changeUser(path, "ci", (before) => before && { ...before, expiresAt: Date.UTC(2028, 1, 29) });
    expect(readFileSync(path, "utf8")).toEndWith(`\nci:${token}:reader:2028-02-29T00:00:00Z\n`);
  });

  test("a symbolic link stays; the file it points to is replaced", async () => {
    const [real, link] = [join(folder, "real"), join(folder, "link")];
    writeFileSync(real, "");
    symlinkSync(real, link);
    await storeUser(link, "ann", A);
    expect(readFileSync(real, "utf8")).toBe(`ann:${A}\n`);
    expect(readdirSync(folder).sort()).toEqual(["link", "real"]);
  });

  test.skipIf(process.getuid?.() !== 0)(
    "root keeps the owner of the file, and follows no link in the folder of another user",
    async () => {
      const [path, roots] = [join(folder, "users"), join(temporaryFolder(), "roots")];
      writeFileSync(roots, "");
      writeFileSync(path, "");
      for (const each of [folder, path]) chownSync(each, 65_534, 65_534);
      await storeUser(path, "ann", A);
      expect([statSync(path).uid, readFileSync(path, "utf8")]).toEqual([65_534, `ann:${A}\n`]);
      rmSync(path);
      symlinkSync(roots, path);
      await expect(storeUser(path, "ann", A)).rejects.toThrow("is a symbolic link that another user");
      await expect(readUsersFile(path)).rejects.toThrow("is a symbolic link that another user");
      expect(readFileSync(roots, "utf8")).toBe("");
    },
  );

  test("a file that cannot be parsed is not changed", async () => {
    const path = join(folder, "users");
    writeFileSync(path, "nonsense\n");
    await expect(storeUser(path, "ann", A)).rejects.toThrow(`${path}:1:`);
    expect(readFileSync(path, "utf8")).toBe("nonsense\n");
  });
});

test("valid and invalid user names", () => {
  expect(nameFault("ann@example.net")).toBeUndefined();
  expect(nameFault("a:b")).toBeString();
  expect(nameFault("x".repeat(256))).toBeString();
});
