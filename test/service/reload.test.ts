/** SIGHUP: what a running service takes over from a changed configuration, and what it refuses. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { basic, type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { connectToEachProcess, processIdsOf } from "./connection.ts";
import { waitForReaders } from "./start-with-readers.ts";

const DEVICES = "/controller/v1/devices";

interface ConfiguredService {
  readonly service: Service;
  readonly folder: string;
  /** Writes the configuration and sends SIGHUP. */
  reload(config: object): void;
  /** The same, and waits until the service says that it did it. */
  reloaded(config: object): Promise<void>;
}

async function startConfigured(config: object, args: string[] = []): Promise<ConfiguredService> {
  const folder = temporaryFolder();
  const file = join(folder, "g.yaml");
  // JSON is YAML.
  const write = (values: object) => writeFileSync(file, JSON.stringify(values, undefined, 1));
  write(config);
  const service = await startService({ args: ["--config", file, "--data", ":memory:", ...args] });
  const countReloads = () => service.stderr().split("configuration reloaded").length;
  const reload = (values: object) => {
    write(values);
    process.kill(service.pid, "SIGHUP");
  };
  return {
    service,
    folder,
    reload,
    async reloaded(values) {
      const before = countReloads();
      reload(values);
      await until(() => countReloads() > before, { what: "the reload" });
    },
  };
}

async function deviceIds({ fetch }: Service): Promise<string[]> {
  const { devices } = await (await fetch(DEVICES)).json();
  return devices.map(({ id }: { id: string }) => id);
}

const metric = async ({ fetch }: Service, name: string): Promise<string | undefined> =>
  new RegExp(`^${name} (.+)$`, "m").exec(await (await fetch("/metrics")).text())?.[1];

describe("sources", () => {
  const demo = { type: "demo", name: "lab", devices: 3, hosts: 0, churn: 0 };

  test("are added, removed and changed; the others are not touched", async () => {
    const { service, folder, reloaded } = await startConfigured({ sources: [demo] });
    const network = join(folder, "network.yaml");
    writeFileSync(network, "devices:\n  - id: of:a\n");
    const file = { type: "file", name: "racks", path: network };
    expect(await deviceIds(service)).toHaveLength(3);

    await reloaded({ sources: [demo, file] });
    await until(async () => (await deviceIds(service)).length === 4, { what: "the device of the file" });
    expect(service.stderr()).toContain("configuration reloaded sourcesAdded=racks\n");

    const other = join(folder, "other.yaml");
    writeFileSync(other, "devices:\n  - id: of:b\n  - id: of:c\n");
    await reloaded({ sources: [demo, { ...file, path: other }] });
    await until(async () => (await deviceIds(service)).length === 5, {
      what: "the devices of the other file",
    });
    expect(await deviceIds(service)).not.toContain("of:a");
    expect(service.stderr()).toContain("configuration reloaded sourcesChanged=racks\n");

    await reloaded({ sources: [{ ...file, path: other }] });
    await until(async () => (await deviceIds(service)).length === 2, { what: "the end of the demo" });
    expect(service.stderr()).toContain("configuration reloaded sourcesRemoved=lab\n");
    // The first source synced once: it was not started again by the reloads that did not concern it.
    expect(service.stderr().split("source synced source=lab")).toHaveLength(2);
    expect(await service.stop()).toBe(0);
  });

  test("a changed order of precedence merges again what several sources claim", async () => {
    const folder = temporaryFolder();
    const [a, b] = ["a", "b"].map((name) => {
      const path = join(folder, `${name}.yaml`);
      writeFileSync(path, `devices:\n  - { id: "of:1", mfr: ${name} }\n`);
      return { type: "file", name, path };
    });
    const { service, reloaded } = await startConfigured({ sources: [a, b] });
    const device = async () => (await service.fetch(`${DEVICES}/of:1`)).json();
    await until(async () => (await device()).sources?.length === 2, { what: "both sources" });
    expect((await device()).mfr).toBe("a");
    await reloaded({ sources: [b, a] });
    expect((await device()).mfr).toBe("b");
    expect(await service.stop()).toBe(0);
  });
});

test("limits apply at once, in all processes", async () => {
  const { service, reloaded } = await startConfigured({ readers: 3 }, [
    "--demo",
    "devices=3,hosts=0,churn=0",
  ]);
  await waitForReaders(service);
  const pids = processIdsOf(service);
  const connections = await connectToEachProcess(service, pids);
  const statuses = (path: string) =>
    Promise.all(connections.map(async (connection) => (await connection.get(path)).status));
  // Twice, so that the response is cached.
  for (let i = 0; i < 3; i++) expect(await statuses(`${DEVICES}?limit=5`)).toEqual([200, 200, 200]);
  await reloaded({ readers: 3, limits: { pageLimit: 4, headerBytes: 1024 } });
  await until(async () => (await statuses(`${DEVICES}?limit=5`)).every((status) => status === 400), {
    what: "the new limit in all processes",
  });
  expect(await statuses(`${DEVICES}?q=${"x".repeat(1024)}`)).toEqual([431, 431, 431]);
  expect(await service.stop()).toBe(0);
});

test("rate limit and stream limit apply at once", async () => {
  const { service, reloaded } = await startConfigured({});
  expect((await service.fetch(DEVICES)).headers.get("ratelimit-policy")).toBeNull();
  await reloaded({ limits: { requestsPerSecond: 1000, streamsPerUser: 0 } });
  expect((await service.fetch(DEVICES)).headers.get("ratelimit-policy")).toBe('"user";q=1000;w=1');
  expect((await service.fetch(`${DEVICES}?format=events`)).status).toBe(429);
  await reloaded({});
  expect((await service.fetch(DEVICES)).headers.get("ratelimit-policy")).toBeNull();
  expect(await service.stop()).toBe(0);
});

test("another users file is used, and watched from then on", async () => {
  const { service, folder, reloaded } = await startConfigured({});
  const users = join(folder, "people");
  await runCommand(["passwd", users, "ann"], { stdin: "one\n" });
  const status = async (credentials: string) =>
    (await service.fetch(DEVICES, { headers: { authorization: basic(credentials) } })).status;
  expect(await status("ann:one")).toBe(401);
  await reloaded({ users });
  expect(await status("ann:one")).toBe(200);
  await runCommand(["passwd", users, "bob"], { stdin: "two\n" });
  await until(async () => (await status("bob:two")) === 200, { what: "the added user", everyMs: 1000 });
  expect(await service.stop()).toBe(0);
});

test("a reload is all or nothing: a fault changes nothing, all faults are logged, the metric is 0", async () => {
  const { service, folder, reload, reloaded } = await startConfigured({ limits: { pageLimit: 7 } });
  const isPageLimit = async (limit: number) =>
    (await service.fetch(`${DEVICES}?limit=${limit}`)).status === 200 &&
    (await service.fetch(`${DEVICES}?limit=${limit + 1}`)).status === 400;
  const successful = () => metric(service, "gazetteer_config_last_reload_successful");
  expect(await successful()).toBe("1");
  const started = Number(await metric(service, "gazetteer_config_last_reload_success_timestamp_seconds"));
  expect(started).toBeGreaterThan(0);

  const users = join(folder, "people");
  writeFileSync(users, "ann:plain\n");
  reload({ users, limits: { pageLimit: 3, headerBytes: 1 }, sources: [{ type: "demo" }, { type: "dmeo" }] });
  await until(async () => (await successful()) === "0", { what: "the refused reload" });
  for (const fault of [
    "limits.headerBytes: must be a whole number from 1024 to 1048576",
    "sources[1].type: dmeo is not a kind of source",
    `${users}:1:5: not an argon2id or bcrypt hash`,
  ]) {
    expect(service.stderr()).toContain(fault);
  }
  expect(service.stderr().split("error reload refused")).toHaveLength(4);
  expect(await isPageLimit(7)).toBe(true);
  expect(await deviceIds(service)).toEqual([]);
  expect(await metric(service, "gazetteer_config_last_reload_success_timestamp_seconds")).toBe(
    String(started),
  );

  await reloaded({ limits: { pageLimit: 3 } });
  expect(await successful()).toBe("1");
  expect(await isPageLimit(3)).toBe(true);
  expect(await service.stop()).toBe(0);
});

test("what needs a restart is logged, and the rest is applied", async () => {
  const { service, reloaded } = await startConfigured({});
  await reloaded({ host: "::1", readers: 4, history: { keepDays: 1 }, limits: { pageLimit: 3 } });
  await until(() => service.stderr().includes("restart needed"), { what: "the warning" });
  expect(service.stderr()).toContain('warn restart needed keys="host,history.keepDays,readers"');
  expect((await service.fetch(`${DEVICES}?limit=4`)).status).toBe(400);
  expect(await service.stop()).toBe(0);
});

test("started from a terminal, SIGHUP ends the service like SIGTERM", async () => {
  let screen = "";
  const child = Bun.spawn(
    [join(import.meta.dir, "..", "..", "bin", "gazetteer"), "serve", "--port", "0", "--data", ":memory:"],
    {
      terminal: {
        data: (_terminal, bytes) => {
          screen += new TextDecoder().decode(bytes);
        },
      },
    },
  );
  await until(() => screen.includes("listening on"), { what: "the listening line" });
  child.kill("SIGHUP");
  expect(await child.exited).toBe(0);
  child.terminal?.close();
});
