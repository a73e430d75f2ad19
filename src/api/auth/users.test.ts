import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { createLogger, silentLogger } from "../../lib/logger.ts";
import { hashTokenSecret, passwordBytes, randomTokenSecret, verifySecret } from "./password.ts";
import { openUsers, type SharedSet, type Users } from "./users.ts";
import type { StoredUsers } from "./users-file.ts";

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
  verifySecret(passwordBytes(password), users.find(name)?.hash ?? "");

describe("origins of users", () => {
  test("the environment; the password may contain colons and any letter", async () => {
    const users = await open({ environment: "ann:p:ä:€" });
    expect(names(users)).toEqual(["ann"]);
    expect(await accepts(users, "ann", "p:ä:€")).toBe(true);
    expect(users.generated).toBeUndefined();
  });

  test("a file and the environment; the environment takes precedence", async () => {
    const file = join(folder, "f");
    writeFileSync(file, `ann:${A}\nbob:${B}\n`);
    const users = await open({ file, environment: "ann:other" });
    expect(names(users).sort()).toEqual(["ann", "bob"]);
    expect(await accepts(users, "ann", "other")).toBe(true);
    expect(await accepts(users, "ann", "a")).toBe(false);
  });

  test("a user is generated at the first start, stored as a hash, and read at the second start", async () => {
    const dataDir = join(folder, "data");
    const first = await open({ dataDir });
    const { name, password } = first.generated ?? { name: "", password: "" };
    expect(name).toBe("reader");
    expect(await accepts(first, name, password)).toBe(true);
    expect((await open({ dataDir })).generated).toBeDefined(); // nothing was saved yet
    await first.saveGenerated();
    const path = join(dataDir, "users");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).toStartWith("reader:$argon2id$");
    expect(readFileSync(path, "utf8")).not.toContain(password);
    const second = await open({ dataDir });
    expect(second.generated).toBeUndefined();
    expect(await accepts(second, name, password)).toBe(true);
  });

  test("a data folder that cannot be written is an error", async () => {
    const users = await open({ dataDir: join(writeFile(""), "data") });
    await expect(users.saveGenerated()).rejects.toThrow("users file cannot be written");
  });

  test("without a data folder the generated user is not stored", async () => {
    const users = await open({});
    expect(users.generated?.name).toBe("reader");
    expect(users.file).toBeUndefined();
  });

  test("no user is generated beside a configured one", async () => {
    const users = await open({ dataDir: folder, environment: "ann:a" });
    expect(names(users)).toEqual(["ann"]);
    expect(() => statSync(join(folder, "users"))).toThrow();
  });

  const rejected: [title: string, options: () => Parameters<typeof open>[0], message: string][] = [
    ["no colon", () => ({ environment: "ann" }), "GAZETTEER_CREDENTIALS: there is no colon"],
    ["no name", () => ({ environment: ":x" }), "GAZETTEER_CREDENTIALS: the user name is empty"],
    ["no password", () => ({ environment: "ann:" }), "GAZETTEER_CREDENTIALS: the password is empty"],
    ["a file that is not there", () => ({ file: join(folder, "none") }), "users file cannot be read: ENOENT"],
    [
      "a file without users",
      () => ({ file: writeFile("# no users\n") }),
      "has no users; add one with gazetteer passwd",
    ],
    ["a broken file", () => ({ file: writeFile("ann:secret\n") }), "f:1:5: not an argon2id or bcrypt hash"],
  ];
  for (const [title, options, message] of rejected) {
    test(`rejected: ${title}`, async () => {
      await expect(open(options())).rejects.toThrow(message);
    });
  }
});

function writeFile(text: string): string {
  const path = join(folder, "f");
  writeFileSync(path, text);
  return path;
}

describe("watching the file", () => {
  /** Advances the clock until the condition holds; the file system takes real time. */
  async function advanceUntil(condition: () => boolean): Promise<void> {
    for (let i = 0; i < 2000 && !condition(); i++) {
      await clock.advance(200);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(condition()).toBe(true);
  }

  test("listeners get changed and removed names, not added ones; an invalid or missing file changes nothing", async () => {
    const file = writeFile(`ann:${A}\nbob:${A}\n`);
    let log = "";
    const logger = createLogger((line) => {
      log += line;
    });
    const users = await openUsers({ file, clock, logger });
    const changes: string[][] = [];
    const removeListener = users.onChange((changed) => changes.push([...changed].sort()));
    const stop = new AbortController();
    const watching = users.watch(stop.signal);

    writeFileSync(file, `ann:${B}\nbob:${A}\ncy:${A}\n`);
    await advanceUntil(() => users.find("cy") !== undefined);
    expect(changes).toEqual([["ann"]]);

    writeFileSync(file, `cy:${A}\n`);
    await advanceUntil(() => users.find("bob") === undefined);
    expect(changes.slice(1)).toEqual([["ann", "bob"]]);

    writeFileSync(file, `cy:${A}\nann:plain\n`);
    await advanceUntil(
      () => log.includes("users-kept") && log.includes(":2:5: not an argon2id or bcrypt hash"),
    );
    unlinkSync(file);
    await advanceUntil(() => log.includes("ENOENT"));
    expect(names(users)).toEqual(["cy"]);

    removeListener();
    writeFileSync(file, `ann:${A}\n`);
    await advanceUntil(() => users.find("ann") !== undefined);
    expect(changes).toHaveLength(2);

    stop.abort();
    await watching;
    expect(log).not.toContain(A);
  });
});

test("a user that expires is removed within about a second, and listeners get its name", async () => {
  let log = "";
  const logger = createLogger((line) => {
    log += line;
  });
  const time = (ms: number) => new Date(clock.now() + ms).toISOString().replace(".000Z", "Z");
  const token = hashTokenSecret(randomTokenSecret());
  const file = writeFile(
    `ann:${A}\nci:${token}:metrics:${time(60_000)}\nold:${token}:reader:${time(-1000)}\n`,
  );
  const users = await openUsers({ file, clock, logger });
  expect(names(users)).toEqual(["ann", "ci"]);
  expect(users.find("ci")?.role).toBe("metrics");
  const changes: string[][] = [];
  users.onChange((changed) => changes.push([...changed]));
  const stop = new AbortController();
  const watching = users.watch(stop.signal);
  await clock.advance(59_000);
  expect(names(users)).toEqual(["ann", "ci"]);
  await clock.advance(1000);
  expect([names(users), changes]).toEqual([["ann"], [["ci"]]]);
  await clock.advance(60_000);
  expect(changes).toHaveLength(1);
  stop.abort();
  await watching;
  expect(log).toMatch(/audit users-changed file=\S+ expired=ci\n/);
});

describe("users of a cluster", () => {
  class FakeSet implements SharedSet {
    onChange: SharedSet["onChange"] = () => {};
    readonly files: string[][] = [];
    users: StoredUsers | undefined;

    constructor(users: StoredUsers | undefined) {
      this.users = users;
    }

    async setFile(file: StoredUsers): Promise<void> {
      this.files.push([...file.keys()]);
      this.users ??= file;
      this.onChange(this.users);
    }
    resetFile(file: StoredUsers): void {
      this.files.push(["reset", ...file.keys()]);
    }
  }

  test("apply in place of those of the file; the environment stays the node's own", async () => {
    let log = "";
    const logger = createLogger((line) => {
      log += line;
    });
    const file = writeFile(`ann:${A}\n`);
    const users = await openUsers({ file, environment: "env:x", clock, logger });
    const set = new FakeSet(new Map([["bob", B]]));
    users.share(set);
    expect(names(users)).toEqual(["bob", "env"]);
    expect(log.match(/users-differ/g)).toHaveLength(1);
    expect(set.files).toEqual([["ann"]]);

    // An empty file of one node does not lock all users out everywhere.
    writeFileSync(file, "# nobody\n");
    (await users.prepareReload(file))();
    expect(set.files).toHaveLength(1);
    expect(log).toContain("users-kept");

    const changes: string[][] = [];
    users.onChange((changed) => changes.push([...changed]));
    set.onChange(new Map([["cy", A]]));
    expect(changes).toEqual([["bob"]]);
    expect(names(users)).toEqual(["cy", "env"]);
  });

  test("a generated user is shared once its password is shown, and not used where there are others", async () => {
    const first = await open({ dataDir: folder });
    const empty = new FakeSet(undefined);
    first.share(empty);
    expect(empty.files).toEqual([]);
    await first.saveGenerated();
    expect(empty.files).toEqual([["reader"]]);
    expect(first.generated).toBeDefined();

    const second = await open({ dataDir: join(folder, "second") });
    second.share(new FakeSet(new Map([["ann", A]])));
    expect(second.generated).toBeUndefined();
    await second.saveGenerated();
    expect(() => statSync(join(folder, "second"))).toThrow();

    // Another node made the set between the start and the end of this one's start.
    const third = await open({ dataDir: join(folder, "third") });
    const set = new FakeSet(undefined);
    third.share(set);
    set.users = new Map([["ann", A]]);
    await third.saveGenerated();
    expect(third.generated).toBeUndefined();
    expect(set.files).toEqual([["reader"], ["reset"]]);
    expect(() => statSync(join(folder, "third"))).toThrow();
  });
});
