/** Users of a running service: the users file is watched, streams of changed users end, wrong passwords are throttled. */
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { needs } from "../support/needs.ts";
import { basic, type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const DEVICES = "/controller/v1/devices";
const passwd = (path: string, name: string, password: string) =>
  runCommand(["passwd", path, name], { stdin: `${password}\n` });
const status = async (service: Service, credentials: string, encoding: BufferEncoding = "utf8") => {
  const authorization = `Basic ${Buffer.from(credentials, encoding).toString("base64")}`;
  const response = await service.fetch(DEVICES, { headers: { authorization } });
  await response.arrayBuffer();
  return response.status;
};

describe("a users file", () => {
  test("is watched: a new password is valid, the old one and its streams end", async () => {
    const users = join(temporaryFolder(), "users");
    await passwd(users, "ann", "first");
    await passwd(users, "bob", "other");
    const service = await startService({ args: ["--data", ":memory:", "--users", users], credentials: null });
    expect(await status(service, "ann:first")).toBe(200);
    const open = (credentials: string) =>
      service.fetch(`${DEVICES}?format=events`, { headers: { authorization: basic(credentials) } });
    const [annStream, bobStream] = [await open("ann:first"), await open("bob:other")];
    const annStreamEnd = annStream.text().then(() => "ended");

    await passwd(users, "ann", "second");
    await until(async () => (await status(service, "ann:second")) === 200, {
      what: "the new password",
      everyMs: 300,
    });
    expect(await status(service, "ann:first")).toBe(401);
    expect(await annStreamEnd).toBe("ended");
    expect(await status(service, "bob:other")).toBe(200);

    const validFile = readFileSync(users, "utf8");
    writeFileSync(users, "ann:plain\n");
    await until(() => service.stderr().includes("users-kept"), {
      what: "the log line about the invalid file",
    });
    expect(service.stderr()).toContain(`${users}:1:5: not an argon2id or bcrypt hash`);
    expect(await status(service, "ann:second")).toBe(200);

    writeFileSync(
      users,
      validFile
        .split("\n")
        .filter((line) => !line.startsWith("bob:"))
        .join("\n"),
    );
    await until(async () => (await status(service, "bob:other")) === 401, {
      what: "the user to be removed",
      everyMs: 300,
    });
    await bobStream.text();
    expect(await service.stop()).toBe(0);
  });

  test("accepts hashes of htpasswd, and non-ASCII passwords in UTF-8 and Latin-1", async () => {
    const users = join(temporaryFolder(), "users");
    const bcrypt = (await Bun.password.hash("nginx", { algorithm: "bcrypt", cost: 5 })).replace(
      "$2b$",
      "$2y$",
    );
    writeFileSync(users, `# from htpasswd\nold:${bcrypt}\n`);
    await passwd(users, "rené", "naïve €");
    await passwd(users, "latin", "café");
    const service = await startService({ args: ["--data", ":memory:", "--users", users], credentials: null });
    expect(await status(service, "old:nginx")).toBe(200);
    expect(await status(service, "rené:naïve €")).toBe(200);
    expect(await status(service, "latin:café")).toBe(200);
    expect(await status(service, "latin:café", "latin1")).toBe(200);
    expect(await status(service, "latin:cafe")).toBe(401);
    expect(await service.stop()).toBe(0);
  });
});

test.skipIf(!needs("curl"))(
  "20 wrong passwords in a second are throttled; the right one from another address is served",
  async () => {
    const service = await startService({
      args: ["--data", ":memory:", "--host", "0.0.0.0", "--allow-plaintext"],
      credentials: "ann:right",
    });
    const { port } = new URL(service.url);
    const request = async (from: string, credentials: string) => {
      const flags = ["-s", "-o", "/dev/null", "-w", "%{http_code} %header{retry-after}", "--interface", from];
      const curl = Bun.spawn(["curl", ...flags, "-u", credentials, `http://127.0.0.1:${port}${DEVICES}`], {
        stdout: "pipe",
      });
      return (await new Response(curl.stdout).text()).trim();
    };
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, i) => request("127.0.0.2", `ann:guess${i}`)),
    );
    expect(results.filter((result) => result === "401").length).toBeGreaterThanOrEqual(10);
    expect(results.filter((result) => /^429 \d+$/.test(result)).length).toBeGreaterThan(0);
    expect(await request("127.0.0.3", "ann:right")).toBe("200");
    // The credential is cached by now, so it is served from the throttled address too.
    expect(await request("127.0.0.2", "ann:right")).toBe("200");
    expect(await service.stop()).toBe(0);
  },
);
