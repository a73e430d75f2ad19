/** `gazetteer serve`: start, failed starts, stop. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "../support/folder.ts";
import { basic, GAZETTEER, generatedCredentials, spawnCommand, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const DEVICES = "/controller/v1/devices";

describe("the first start", () => {
  test("on a terminal shows the generated password, with a curl command that prompts for it", async () => {
    const data = join(temporaryFolder(), "data");
    let screen = "";
    const child = Bun.spawn([GAZETTEER, "serve", "--port", "0", "--data", data], {
      env: { ...process.env, GAZETTEER_CREDENTIALS: undefined },
      terminal: {
        cols: 200,
        data: (_terminal, bytes) => {
          screen += new TextDecoder().decode(bytes);
        },
      },
    });
    await until(() => screen.includes("listening on"), { what: "the listening line" });
    const [, password = ""] = /^ {2}password {2}(\S+)\r$/m.exec(screen) ?? [];
    const [, user = "", address = ""] = /^ {2}curl -u (\S+) (http:\S+)\r$/m.exec(screen) ?? [];
    const response = await fetch(address, { headers: { authorization: basic(`${user}:${password}`) } });
    expect(response.status).toBe(200);
    expect(existsSync(join(data, "first-password"))).toBe(false);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    child.terminal?.close();
  });

  test("elsewhere writes the generated password to a private file, with a curl command; the second start lists the users", async () => {
    const data = join(temporaryFolder(), "data");
    const first = await startService({
      args: ["--data", data, "--demo", "devices=4,hosts=4,churn=0"],
      credentials: null,
    });
    const [, user, address = ""] = /^ {2}curl -u (\S+) (http:\S+)$/m.exec(first.stdout()) ?? [];
    expect(user).toBe("reader");
    const credentials = generatedCredentials(first);
    expect(credentials).toStartWith("reader:");
    const passwordFile = join(data, "first-password");
    expect(first.stdout()).toContain(`  password  in ${passwordFile}\n`);
    expect(statSync(passwordFile).mode & 0o777).toBe(0o600);
    expect(first.stdout() + first.stderr()).not.toContain(credentials.slice("reader:".length));
    expect(address).toBe(first.url + DEVICES);
    const response = await fetch(address, { headers: { authorization: basic(credentials) } });
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveProperty("devices.length", 4);
    expect(await first.stop()).toBe(0);
    expect(readFileSync(join(data, "users"), "utf8")).toStartWith("reader:$argon2id$");

    const second = await startService({ args: ["--data", data], credentials: null });
    expect(second.stdout()).toContain("Users: reader\n");
    expect(second.stdout()).toContain(`passwd ${join(data, "users")} NAME\n`);
    expect(second.stdout()).not.toContain("password  ");
    const again = await second.fetch(DEVICES, { headers: { authorization: basic(credentials) } });
    expect(again.status).toBe(200);
    expect(await second.stop()).toBe(0);
  });

  test("a start that fails does not store a generated user", async () => {
    const data = join(temporaryFolder(), "data");
    await using holder = await occupyPort();
    const { status } = await spawnCommand(["serve", "--data", data, "--port", String(holder.port)]);
    expect(status).toBe(2);
    expect(() => readFileSync(join(data, "users"))).toThrow();
  });

  test("without a source, the banner says that the network is empty", async () => {
    const service = await startService();
    expect(service.stdout()).toContain("No source is configured");
    expect(service.stdout().trimEnd().split("\n").at(-1)).toBe(`listening on ${service.url}/controller/v1`);
    expect(await service.stop()).toBe(0);
  });

  test("the last two lines are the address of the map, as a browser can open it, and the listening line; --openflow says that it bridges", async () => {
    const service = await startService({
      args: ["--data", ":memory:", "--host", "0.0.0.0", "--allow-plaintext", "--openflow", "127.0.0.1:0"],
    });
    expect(service.stderr()).toContain(
      "gazetteer serve: --openflow programs the switches that connect to forward between hosts; ",
    );
    const reachable = service.url.replace("0.0.0.0", "127.0.0.1");
    expect(service.stdout().trimEnd().split("\n").slice(-2)).toEqual([
      `The map: ${reachable}/`,
      `listening on ${service.url}/controller/v1`,
    ]);
    expect(await service.stop()).toBe(0);
  });
});

async function occupyPort(): Promise<AsyncDisposable & { port: number }> {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  const address = holder.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    [Symbol.asyncDispose]: () => new Promise((resolve) => holder.close(() => resolve())),
  };
}

describe("a failed start prints one line and exits with status 2", () => {
  async function failedStart(args: string[], env: Record<string, string> = {}): Promise<string> {
    const { status, stdout, stderr } = await spawnCommand(["serve", "--port", "0", ...args], { env });
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    return stderr;
  }
  const writeTemporary = (name: string, text: string) => {
    const path = join(temporaryFolder(), name);
    writeFileSync(path, text);
    return path;
  };

  test("a port in use", async () => {
    await using holder = await occupyPort();
    const port = String(holder.port);
    const { status, stderr } = await spawnCommand(["serve", "--data", ":memory:", "--port", port]);
    expect(status).toBe(2);
    expect(stderr).toBe(`gazetteer serve: http://127.0.0.1:${port} is in use; give another with --port\n`);
  });

  test("an address of another machine", async () => {
    expect(await failedStart(["--data", ":memory:", "--host", "192.0.2.1", "--allow-plaintext"])).toContain(
      "http://192.0.2.1:0 cannot be listened on",
    );
  });

  test("a data folder that is a file", async () => {
    expect(await failedStart(["--data", writeTemporary("data", "")])).toEndWith(
      "; make the folder writable for this user, or give another with --data\n",
    );
  });

  test("a data folder that cannot be written", async () => {
    // Not even root can create a folder there.
    expect(await failedStart(["--data", "/proc/gazetteer"])).toMatch(
      /^gazetteer serve: cannot open the log \/proc\/gazetteer\/log.sqlite: .*; make the folder writable for this user, or give another with --data\n$/,
    );
  });

  test("a log that is not a database", async () => {
    const data = temporaryFolder();
    writeFileSync(join(data, "log.sqlite"), "this is not a database".repeat(100));
    expect(await failedStart(["--data", data])).toEndWith(
      "; move the file away, or give another folder with --data\n",
    );
  });

  test("a data folder that another service uses", async () => {
    const data = temporaryFolder();
    const service = await startService({ args: ["--data", data] });
    expect(await failedStart(["--data", data])).toContain(
      "is in use by another process; stop that one or give another --data\n",
    );
    expect(await service.stop()).toBe(0);
  });

  test("a configuration fault is shown with its line, and the number of further faults", async () => {
    const one = writeTemporary("g.yaml", "host: 127.0.0.1\nprot: 1\n");
    expect(await failedStart(["--config", one])).toBe(
      `gazetteer serve: ${one}:2:1: prot: unknown key; did you mean port?\n`,
    );
    const two = writeTemporary("g.yaml", "prot: 1\ndatta: x\n");
    expect(await failedStart(["--config", two])).toContain("(and 1 more: gazetteer check lists them)");
    const source = writeTemporary("g.yaml", "sources:\n  - type: demo\n    devices: many\n");
    expect(await failedStart(["--config", source, "--data", ":memory:"])).toContain(
      `${source}:3:14: sources[0].devices: `,
    );
  });

  test("users that cannot be used", async () => {
    expect(await failedStart(["--users", "/nonexistent/users"])).toContain(
      "users file cannot be read: ENOENT",
    );
    const users = writeTemporary("users", "ann:plain\n");
    expect(await failedStart(["--users", users, "--data", ":memory:"])).toContain(
      `${users}:1:5: not an argon2id`,
    );
    expect(await failedStart(["--data", ":memory:"], { GAZETTEER_CREDENTIALS: "nocolon" })).toContain(
      "GAZETTEER_CREDENTIALS",
    );
  });
});

describe("stopping", () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    test(`${signal} closes the streams and exits with status 0`, async () => {
      const service = await startService({ args: ["--data", ":memory:", "--demo", "devices=4,hosts=4"] });
      const stream = await service.fetch(`${DEVICES}?format=events`);
      expect(stream.status).toBe(200);
      const ended = stream.text().catch(() => "cut off");
      process.kill(service.pid, signal);
      expect(await service.exited).toBe(0);
      expect(await ended).toContain("event: ");
      await expect(fetch(`${service.url}/healthz`)).rejects.toThrow();
    });
  }

  test("a Ctrl-C that is delivered many times at once stops it in order", async () => {
    const service = await startService({ args: ["--data", ":memory:", "--demo", "devices=4,hosts=4"] });
    // Less than the time after which another Ctrl-C ends the process at once.
    for (const began = performance.now(); performance.now() - began < 300; await Bun.sleep(0)) {
      try {
        process.kill(service.pid, "SIGINT");
      } catch {
        break; // It has ended.
      }
    }
    expect(await service.exited).toBe(0);
  });

  test("the pid is that of the service, and SIGKILL loses no committed change", async () => {
    const data = temporaryFolder();
    const args = ["--data", data, "--demo", "devices=20,hosts=50,churn=200"];
    const first = await startService({ args });
    const revision = async (path: string) =>
      Number((await first.fetch(path)).headers.get("gazetteer-revision"));
    const start = await revision(DEVICES);
    const seen = await until(
      async () => {
        const now = await revision(DEVICES);
        return now > start + 50 ? now : 0;
      },
      { what: "churn" },
    );
    await first.kill();
    const second = await startService({ args: ["--data", data, "--demo", "devices=20,hosts=50,churn=0"] });
    const after = Number((await second.fetch(DEVICES)).headers.get("gazetteer-revision"));
    expect(after).toBeGreaterThanOrEqual(seen);
    expect(await second.stop()).toBe(0);
  });

  test("started through npm, one Ctrl-C to the whole process group stops it in order", async () => {
    const root = join(import.meta.dir, "..", "..");
    const run = ["node", "scripts/run.mjs", "src/main.ts", "serve", "--port", "0", "--data", ":memory:"];
    const child = Bun.spawn(["setsid", ...run], { cwd: root, stdout: "pipe", stderr: "pipe" });
    const reader = child.stdout.getReader();
    let output = "";
    await until(
      async () => {
        const { value, done } = await reader.read();
        output += new TextDecoder().decode(value);
        return done || output.includes("listening on");
      },
      { what: "the listening line" },
    );
    // To the process group of setsid, as a terminal sends it.
    process.kill(-child.pid, "SIGINT");
    expect(await child.exited).toBe(0);
  });
});

test("an alias serves the same resources", async () => {
  const service = await startService({
    args: ["--data", ":memory:", "--demo", "devices=4,hosts=0,churn=0", "--alias", "lab"],
  });
  const [canonical, alias] = await Promise.all([service.fetch(DEVICES), service.fetch("/lab/v1/devices")]);
  expect(alias.status).toBe(200);
  expect(await alias.text()).toBe(await canonical.text());
  expect(await service.stop()).toBe(0);
});

test("the claims of a source that is no longer configured are removed", async () => {
  const data = temporaryFolder();
  const file = join(data, "network.yaml");
  writeFileSync(file, "devices:\n  - id: of:1\n");
  const first = await startService({
    args: ["--data", data, "--demo", "devices=4,hosts=4,churn=0", "--file", file],
  });
  expect(await (await first.fetch(DEVICES)).json()).toHaveProperty("devices.length", 5);
  expect(await first.stop()).toBe(0);
  const second = await startService({ args: ["--data", data, "--file", file] });
  const { devices } = await (await second.fetch(DEVICES)).json();
  expect(devices.map((device: { id: string }) => device.id)).toEqual(["of:1"]);
  expect(await (await second.fetch("/controller/v1/topology")).json()).toMatchObject({
    devices: 1,
    hosts: 0,
    links: 0,
  });
  expect(await second.stop()).toBe(0);
});
