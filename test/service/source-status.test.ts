/**
 * The status of sources in the running service: a source that fails ranks behind the others, its claims are withdrawn where
 * that is configured, and both hold over a restart and in the past. The failure and its reason are a problem of the network.
 */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folder.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const DEVICES = "/controller/v1/devices";

interface TwoFiles {
  readonly args: readonly string[];
  /** Writes the network of a source: the device `of:1`, and one of its own. */
  write(name: string, mfr: string): void;
  /** Makes the file of a source invalid. */
  spoil(name: string): void;
  /** Writes this text as the file of a source. */
  fault(name: string, text: string): void;
  /** Writes the configuration again. */
  configure(options: object): void;
}

/** Two sources of files, `first` and `second`. `options` are those of the first one. */
function twoFiles(options: object = {}): TwoFiles {
  const folder = temporaryFolder();
  const pathOf = (name: string) => join(folder, `${name}.yaml`);
  const config = join(folder, "g.yaml");
  const write = (name: string, mfr: string) =>
    writeFileSync(pathOf(name), `devices:\n  - { id: "of:1", mfr: ${mfr} }\n  - { id: "${name}:1" }\n`);
  const configure = (more: object) =>
    writeFileSync(
      config,
      JSON.stringify({
        sources: [
          { type: "file", name: "first", path: pathOf("first"), ...more },
          { type: "file", name: "second", path: pathOf("second") },
        ],
      }),
    );
  configure(options);
  write("first", "one");
  write("second", "two");
  const args = ["--config", config, "--data", join(folder, "data")];
  const fault = (name: string, text: string) => writeFileSync(pathOf(name), text);
  return { args, write, configure, fault, spoil: (name) => fault(name, "devices: [\n") };
}

/** A service whose sources have synced. */
async function startSynced({ args }: TwoFiles): Promise<Service> {
  const service = await startService({ args });
  const isSynced = async () => {
    const { sources } = await (await service.fetch("/readyz")).json();
    return sources.every(({ status }: { status: string }) => status === "synced");
  };
  await until(isSynced, { what: "the sources" });
  return service;
}

async function mfr({ fetch }: Service, query = ""): Promise<string> {
  return (await (await fetch(`${DEVICES}/of:1${query}`)).json()).mfr;
}
async function ids({ fetch }: Service): Promise<string[]> {
  const { devices } = await (await fetch(DEVICES)).json();
  return devices.map(({ id }: { id: string }) => id);
}
async function revisionOf({ fetch }: Service): Promise<number> {
  return Number((await fetch(DEVICES)).headers.get("gazetteer-revision"));
}
const shows = (service: Service, value: string) =>
  until(async () => (await mfr(service)) === value, { what: `mfr ${value}` });

test("a source that fails ranks behind the others until it reports again, and the past agrees", async () => {
  const files = twoFiles();
  const service = await startSynced(files);
  expect(await mfr(service)).toBe("one");
  const before = await revisionOf(service);
  files.spoil("first");
  await shows(service, "two");
  const device = await (await service.fetch(`${DEVICES}/of:1`)).json();
  expect(device.sources).toEqual(["first", "second"]);
  expect(await ids(service)).toEqual(["first:1", "of:1", "second:1"]);
  const stale = await revisionOf(service);
  expect(stale).toBe(before + 1);

  // Its status survives a restart, also one without an orderly stop.
  await service.kill();
  const restarted = await startService({ args: files.args });
  expect(await mfr(restarted)).toBe("two");
  files.write("first", "one");
  await shows(restarted, "one");
  expect(await mfr(restarted, `?at=${before}`)).toBe("one");
  expect(await mfr(restarted, `?at=${stale}`)).toBe("two");
  expect(await restarted.stop()).toBe(0);
});

test("claims from before a restart count as live until their source fails", async () => {
  const files = twoFiles();
  const service = await startSynced(files);
  expect(await service.stop()).toBe(0);
  const unchanged = await startSynced(files);
  const revision = await revisionOf(unchanged);
  expect(await mfr(unchanged)).toBe("one");
  expect(await unchanged.stop()).toBe(0);
  files.spoil("first");
  const broken = await startService({ args: files.args });
  await shows(broken, "two");
  expect(await mfr(broken, `?at=${revision}`)).toBe("one");
  expect(await broken.stop()).toBe(0);
});

test("withdrawAfterSeconds withdraws the claims of a source that fails; they come back with it", async () => {
  const files = twoFiles({ withdrawAfterSeconds: 1 });
  const service = await startSynced(files);
  files.spoil("first");
  await until(async () => !(await ids(service)).includes("first:1"), { what: "the withdrawal" });
  const device = await (await service.fetch(`${DEVICES}/of:1`)).json();
  expect(device).toMatchObject({ mfr: "two", sources: ["second"] });
  expect(service.stderr()).toContain("claims of a stale source withdrawn source=first\n");
  // The content is the same as before it failed: it must be reported in full again.
  files.write("first", "one");
  await shows(service, "one");
  expect(await ids(service)).toEqual(["first:1", "of:1", "second:1"]);
  expect(await service.stop()).toBe(0);
});

test("the time before a restart counts for withdrawAfterSeconds, and the first failure decides", async () => {
  const files = twoFiles();
  const service = await startSynced(files);
  files.spoil("first");
  await shows(service, "two");
  await service.kill();
  files.configure({ withdrawAfterSeconds: 1 });
  const restarted = await startService({ args: files.args });
  await until(async () => !(await ids(restarted)).includes("first:1"), { what: "the withdrawal" });
  expect(await restarted.stop()).toBe(0);
});

test("a reload applies a time for withdrawal to a source that is stale, and does not start sources again", async () => {
  const files = twoFiles();
  const service = await startSynced(files);
  files.spoil("first");
  await shows(service, "two");
  files.configure({ withdrawAfterSeconds: 1 });
  process.kill(service.pid, "SIGHUP");
  await until(async () => !(await ids(service)).includes("first:1"), { what: "the withdrawal" });
  expect(service.stderr()).toContain("configuration reloaded sourcesChanged=first\n");
  expect(service.stderr().split("source synced source=first")).toHaveLength(2);
  expect(await service.stop()).toBe(0);
});

test("a failure is stored with its reason once, not at each attempt, and is a problem until the source works", async () => {
  const files = twoFiles();
  files.spoil("first");
  const service = await startService({ args: files.args });
  const problems = async ({ fetch }: Service) =>
    (await (await fetch("/controller/v1/topology/problems")).json()).problems;
  await until(async () => (await problems(service)).length === 1, { what: "the failure" });
  const [problem] = await problems(service);
  expect(problem).toMatchObject({ id: "source-failed:first", severity: "major", source: "first" });
  expect(problem.text).toMatch(/^Source first has never reported: first\.yaml:\d+: is not YAML: .*\.$/);
  await until(async () => (await ids(service)).length === 2, { what: "the second source" });
  const revision = await revisionOf(service);
  const sourceOf = async ({ fetch }: Service, name: string) =>
    (await (await fetch("/readyz")).json()).sources.find((source: { name: string }) => source.name === name);
  const failing = await sourceOf(service, "first");
  expect(failing).toMatchObject({ status: "starting", failedSince: Date.parse(problem.since) });

  // Another fault of the same file: what is told of the source now is in /readyz, the log has the first reason.
  files.fault("first", "devices: 5\n");
  await until(async () => (await sourceOf(service, "first")).error.includes("must be a list"), {
    what: "the other fault",
  });
  expect(await revisionOf(service)).toBe(revision);
  expect(await problems(service)).toEqual([problem]);

  // The time is kept over a restart. The reason is the one that is found then.
  await service.kill();
  const restarted = await startService({ args: files.args });
  await until(async () => (await problems(restarted))[0].text.includes("must be a list"), {
    what: "the reason",
  });
  expect(await problems(restarted)).toMatchObject([{ id: problem.id, since: problem.since }]);
  files.write("first", "one");
  await until(async () => (await problems(restarted)).length === 0, { what: "the end of the failure" });
  expect(await sourceOf(restarted, "first")).toMatchObject({
    status: "synced",
    entities: { devices: 2, ports: 0, links: 0, hosts: 0 },
  });
  expect(await sourceOf(restarted, "first")).not.toHaveProperty("failedSince");
  const past = await restarted.fetch(`/controller/v1/topology/problems?at=${revision}`);
  expect((await past.json()).problems).toMatchObject([{ id: problem.id, since: problem.since }]);
  expect(await restarted.stop()).toBe(0);
});

test("a service whose only source has never worked is not ready, although the log has the failure", async () => {
  const folder = temporaryFolder();
  const args = ["--file", join(folder, "none.yaml"), "--data", join(folder, "data")];
  const service = await startService({ args });
  await until(async () => (await revisionOf(service)) > 0, { what: "the failure in the log" });
  const response = await service.fetch("/readyz");
  expect([response.status, (await response.json()).status]).toEqual([503, "starting"]);
  expect(await service.stop()).toBe(0);
});

test("an intended source is named as such in /readyz, also after a reload", async () => {
  const files = twoFiles();
  const service = await startSynced(files);
  const roles = async () => {
    const { sources } = await (await service.fetch("/readyz")).json();
    return sources.map(({ role }: { role?: string }) => role);
  };
  expect(await roles()).toEqual([undefined, undefined]);
  files.configure({ role: "intended" });
  process.kill(service.pid, "SIGHUP");
  await until(async () => (await roles())[0] === "intended", { what: "the role" });
  expect(await service.stop()).toBe(0);
});
