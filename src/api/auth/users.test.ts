import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "../../lib/clock.ts";
import { createLogger, silentLogger } from "../../lib/logger.ts";
import { passwordBytes, verifyPassword } from "./password.ts";
import { openUsers, type Users } from "./users.ts";

const A = await Bun.password.hash("a", { algorithm: "bcrypt", cost: 4 });
const B = await Bun.password.hash("b", { algorithm: "bcrypt", cost: 4 });

let folder = "";
let clock = new ManualClock();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gazetteer-users-"));
  clock = new ManualClock();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (options: { environment?: string; file?: string; dataDir?: string }) =>
  openUsers({ ...options, clock, logger: silentLogger });
const names = (users: Users) => users.all().map((user) => user.name);
const accepts = (users: Users, name: string, password: string) =>
  verifyPassword(passwordBytes(password), users.find(name)?.hash ?? "");

describe("where users come from", () => {
  test("the environment; the password may hold colons and any letter", async () => {
    const users = await open({ environment: "ann:p:ä:€" });
    expect(names(users)).toEqual(["ann"]);
    expect(await accepts(users, "ann", "p:ä:€")).toBe(true);
    expect(users.generated).toBeUndefined();
  });

  test("a file and the environment together; the environment comes first", async () => {
    const file = join(folder, "f");
    writeFileSync(file, `ann:${A}\nbob:${B}\n`);
    const users = await open({ file, environment: "ann:other" });
    expect(names(users).sort()).toEqual(["ann", "bob"]);
    expect(await accepts(users, "ann", "other")).toBe(true);
    expect(await accepts(users, "ann", "a")).toBe(false);
  });

  test("made up at the first start, kept as a hash, and there at the second", async () => {
    const dataDir = join(folder, "data");
    const first = await open({ dataDir });
    const { name, password } = first.generated ?? { name: "", password: "" };
    expect(name).toBe("reader");
    expect(await accepts(first, name, password)).toBe(true);
    expect((await open({ dataDir })).generated).toBeDefined(); // nothing was kept yet
    await first.keepGenerated();
    const path = join(dataDir, "users");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).toStartWith("reader:$argon2id$");
    expect(readFileSync(path, "utf8")).not.toContain(password);
    const second = await open({ dataDir });
    expect(second.generated).toBeUndefined();
    expect(await accepts(second, name, password)).toBe(true);
  });

  test("a folder that cannot be written is said", async () => {
    const users = await open({ dataDir: join(written(""), "data") });
    await expect(users.keepGenerated()).rejects.toThrow("users file cannot be written");
  });

  test("made up and kept nowhere without a data folder", async () => {
    const users = await open({});
    expect(users.generated?.name).toBe("reader");
    expect(users.file).toBeUndefined();
  });

  test("nobody is made up beside a configured user", async () => {
    const users = await open({ dataDir: folder, environment: "ann:a" });
    expect(names(users)).toEqual(["ann"]);
    expect(() => statSync(join(folder, "users"))).toThrow();
  });

  const refused: [what: string, options: () => Parameters<typeof open>[0], message: string][] = [
    ["no colon", () => ({ environment: "ann" }), "GAZETTEER_CREDENTIALS: there is no colon"],
    ["no name", () => ({ environment: ":x" }), "GAZETTEER_CREDENTIALS: the user name is empty"],
    ["no password", () => ({ environment: "ann:" }), "GAZETTEER_CREDENTIALS: the password is empty"],
    ["a file that is not there", () => ({ file: join(folder, "none") }), "users file cannot be read: ENOENT"],
    [
      "a file without users",
      () => ({ file: written("# nobody\n") }),
      "has no users; add one with gazetteer passwd",
    ],
    ["a broken file", () => ({ file: written("ann:secret\n") }), "f:1: not an argon2id or bcrypt hash"],
  ];
  for (const [what, options, message] of refused) {
    test(`refused: ${what}`, async () => {
      await expect(open(options())).rejects.toThrow(message);
    });
  }
});

function written(text: string): string {
  const path = join(folder, "f");
  writeFileSync(path, text);
  return path;
}

describe("following the file", () => {
  /** Turns the clock until the condition holds; the file system answers in its own time. */
  async function turn(condition: () => boolean): Promise<void> {
    for (let i = 0; i < 2000 && !condition(); i++) {
      await clock.advance(200);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(condition()).toBe(true);
  }

  test("changes and removals are told by name, additions are not; a broken or missing file changes nothing", async () => {
    const file = written(`ann:${A}\nbob:${A}\n`);
    let log = "";
    const logger = createLogger("info", (line) => {
      log += line;
    });
    const users = await openUsers({ file, clock, logger });
    const told: string[][] = [];
    const end = users.onChange((changed) => told.push([...changed].sort()));
    const stop = new AbortController();
    const following = users.follow(stop.signal);

    writeFileSync(file, `ann:${B}\nbob:${A}\ncy:${A}\n`);
    await turn(() => users.find("cy") !== undefined);
    expect(told).toEqual([["ann"]]);

    writeFileSync(file, `cy:${A}\n`);
    await turn(() => users.find("bob") === undefined);
    expect(told.slice(1)).toEqual([["ann", "bob"]]);

    writeFileSync(file, `cy:${A}\nann:plain\n`);
    await turn(() => log.includes("users-kept") && log.includes(":2: not an argon2id or bcrypt hash"));
    unlinkSync(file);
    await turn(() => log.includes("ENOENT"));
    expect(names(users)).toEqual(["cy"]);

    end();
    writeFileSync(file, `ann:${A}\n`);
    await turn(() => users.find("ann") !== undefined);
    expect(told).toHaveLength(2);

    stop.abort();
    await following;
    expect(log).not.toContain(A);
  });
});
