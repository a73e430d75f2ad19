/** `gazetteer token` and `passwd --delete`, and a token in use: by the commands, in all processes of a running service. */
import { expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const token = (...args: string[]) => runCommand(["token", ...args]);

test("add prints the token alone and stores its hash; list has no secret; revoke removes the line", async () => {
  const users = join(temporaryFolder(), "users");
  await runCommand(["passwd", users, "ann"], { stdin: "secret\n" });
  const added = await token("add", users, "prometheus", "--role", "metrics", "--expires", "2999-01-31");
  const text = added.stdout.trimEnd();
  expect([added.status, text]).toEqual([0, expect.stringMatching(/^gzt\.prometheus\.[\w-]{43}$/)]);
  expect(added.stderr).toContain("added prometheus (metrics, expires 2999-01-31T00:00:00.000Z)");
  expect(statSync(users).mode & 0o777).toBe(0o600);
  const secret = text.slice(-43);
  expect(readFileSync(users, "utf8")).toMatch(
    /^prometheus:\$sha256\$[\w-]{43}:metrics:2999-01-31T00:00:00Z$/m,
  );
  expect(readFileSync(users, "utf8")).not.toContain(secret);
  await token("add", users, "ci");
  expect(JSON.parse((await token("list", users, "-o", "json")).stdout)).toEqual([
    { name: "prometheus", role: "metrics", expires: "2999-01-31T00:00:00.000Z", expired: false },
    { name: "ci", role: "reader", expired: false },
  ]);
  expect((await token("list", users)).stdout).toMatch(/^ci +reader +never +no$/m);
  expect((await token("revoke", users, "ci")).stdout).toBe(`${users}: revoked ci\n`);
  expect((await runCommand(["passwd", "--delete", users, "prometheus"])).status).toBe(0);
  expect(readFileSync(users, "utf8")).toMatch(/^ann:\S+\n$/);
});

test("refusals change nothing", async () => {
  const users = join(temporaryFolder(), "users");
  await runCommand(["passwd", users, "ann"], { stdin: "secret\n" });
  await token("add", users, "ci");
  const before = readFileSync(users, "utf8");
  const cases: [args: string[], message: string][] = [
    [["token", "add", users, "ci"], "has ci already; revoke it first"],
    [["token", "add", users, "ann"], "has ann already; it is a user with a password"],
    [["token", "add", users, "a b"], "the NAME of a token"],
    [["token", "add", users, "x", "--expires", "soon"], "--expires soon is not 12h"],
    [["token", "add", users, "x", "--expires", "2001-01-31"], "is in the past"],
    [["token", "add", users, "x", "--role", "admin"], "reader, metrics"],
    [["token", "revoke", users, "ann"], "gazetteer passwd --delete"],
    [["token", "revoke", users, "bob"], "has no bob"],
    [["token", "revoke", users], "revoke wants USERSFILE NAME"],
    [["token", "list", users, "ci"], "list wants USERSFILE"],
    [["token", "show", users], "wants one of add, list, revoke"],
    [["passwd", "--delete", users, "bob"], "has no bob"],
    [["passwd", "--delete", "--role", "metrics", users, "ann"], "--delete is given alone"],
    [["passwd", users, "ci"], "ci is a token"],
  ];
  for (const [args, message] of cases) {
    const { status, stderr } = await runCommand(args, { stdin: "new\n" });
    expect([args.join(" "), status, stderr]).toEqual([args.join(" "), 2, expect.stringContaining(message)]);
  }
  expect(readFileSync(users, "utf8")).toBe(before);
});

test("a token reads in all processes and with every command, and is revoked within about a second", async () => {
  const folder = temporaryFolder();
  const users = join(folder, "users");
  await runCommand(["passwd", users, "ann"], { stdin: "secret\n" });
  const text = (await token("add", users, "ci")).stdout.trimEnd();
  await using service = await startService({
    args: ["--data", ":memory:", "--users", users, "--readers", "2"],
    credentials: null,
    env: { GAZETTEER_LOG_FORMAT: "json" },
  });
  await until(() => service.stderr().includes("reader listens"), { what: "the reader" });
  const get = (path: string) =>
    service.fetch(path, { headers: { authorization: `Bearer ${text}`, connection: "close" } });
  for (let i = 0; i < 10; i++) expect((await get("/controller/v1/devices")).status).toBe(200);
  const streams = [1, 2, 3, 4].map(async () => (await get("/controller/v1/devices?format=events")).text());

  const env = { XDG_CONFIG_HOME: folder };
  const login = await runCommand(["login", service.url, "--token"], { stdin: `${text}\n`, env });
  expect([login.status, login.stdout]).toEqual([0, expect.stringContaining(" as ci; stored")]);
  const servers = await runCommand(["servers"], { env });
  expect([servers.stdout.includes(" ci "), servers.stdout.includes("gzt.")]).toEqual([true, false]);
  expect((await runCommand(["get", "devices"], { env })).status).toBe(0);
  const direct = { GAZETTEER_URL: service.url, GAZETTEER_CREDENTIALS: text };
  expect((await runCommand(["get", "devices"], { env: direct })).status).toBe(0);

  await token("revoke", users, "ci");
  for (const stream of streams) expect(await stream).toEndWith('data: {"reason":"credentials"}\n\n');
  for (let i = 0; i < 4; i++) expect((await get("/controller/v1/devices")).status).toBe(401);
  expect((await runCommand(["get", "devices"], { env })).stderr).toContain(
    "the stored token is not valid any more",
  );
  const lines = service
    .stderr()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toContainEqual(
    expect.objectContaining({ level: "audit", event: "users-changed", removed: "ci" }),
  );
  expect(lines).toContainEqual(expect.objectContaining({ event: "login", user: "ci", reader: 2 }));
  expect(service.stderr()).not.toContain(text.slice(-43));
});
