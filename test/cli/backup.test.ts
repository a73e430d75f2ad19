/** `gazetteer backup` of a running service, `restore` into an empty folder, and the reads of both. */
import { expect, test } from "bun:test";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { basic, type Service, startService } from "../support/service.ts";

const RESOURCES = ["devices", "links", "hosts", "topology"];
const NETWORK = `
devices: [{id: "of:0000000000000001"}, {id: "of:0000000000000002"}]
links:
  - {src: {device: "of:0000000000000001", port: 1}, dst: {device: "of:0000000000000002", port: 1}, bidirectional: true}
hosts:
  - {mac: "00:00:00:00:00:01", ipAddresses: [10.0.0.1], locations: [{elementId: "of:0000000000000001", port: 2}]}
`;

const read = async (service: Service, path: string) => {
  const response = await service.fetch(`/controller/v1/${path}`, {
    headers: { authorization: basic("ann:secret") },
  });
  return { body: await response.text(), log: response.headers.get("gazetteer-log") };
};

test("the backup of a running service is restored with network, history, users and state of sources", async () => {
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  writeFileSync(at("network.yaml"), NETWORK);
  mkdirSync(join(at("data"), "sources"), { recursive: true });
  writeFileSync(join(at("data"), "sources", "lab.json"), "{}");
  await runCommand(["passwd", join(at("data"), "users"), "ann"], { stdin: "secret\n" });
  const start = (data: string) =>
    startService({ args: ["--data", at(data), "--file", at("network.yaml")], credentials: null });
  await using service = await start("data");
  const backup = await runCommand(["backup", at("backup"), "--data", at("data")]);
  expect([backup.status, backup.stdout]).toEqual([0, expect.stringContaining("log.sqlite up to revision ")]);
  expect(statSync(at("backup")).mode & 0o777).toBe(0o700);
  expect(readdirSync(at("backup"), { recursive: true }).sort()).toEqual([
    "backup.json",
    "log.sqlite",
    "sources",
    "sources/lab.json",
    "users",
  ]);
  for (const name of ["backup.json", "log.sqlite", "users"])
    expect(statSync(join(at("backup"), name)).mode & 0o777).toBe(0o600);

  const restored = await runCommand(["restore", at("backup"), "--data", at("restored")]);
  expect([restored.status, restored.stderr]).toEqual([0, ""]);
  expect(readFileSync(join(at("restored"), "sources", "lab.json"), "utf8")).toBe("{}");
  await using again = await start("restored");
  const revision = JSON.parse(readFileSync(join(at("backup"), "backup.json"), "utf8")).revisions[
    "log.sqlite"
  ];
  expect(revision).toBeGreaterThan(0);
  for (const resource of RESOURCES) {
    const [before, after] = [await read(service, resource), await read(again, resource)];
    expect([resource, after.body]).toEqual([resource, before.body]);
    // The revisions after the backup are lost, so clients must not mistake their numbers for the old ones.
    expect(after.log).not.toBe(before.log);
    const path = `${resource}?at=${revision}`;
    expect((await read(again, path)).body).toBe((await read(service, path)).body);
  }
});

test("what cannot be backed up or restored is refused, and nothing is left or changed", async () => {
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  const run = async (...args: string[]) => {
    const { status, stderr } = await runCommand(args);
    return [status, stderr];
  };
  expect(await run("backup", at("b"), "--data", at("none"))).toEqual([
    1,
    expect.stringContaining("no data folder"),
  ]);
  expect(await run("backup", at("b"), "--data", ":memory:")).toEqual([
    1,
    expect.stringContaining(":memory:"),
  ]);
  mkdirSync(at("empty"));
  expect(await run("backup", at("b"), "--data", at("empty"))).toEqual([
    1,
    expect.stringContaining("has no log"),
  ]);
  expect(existsSync(at("b"))).toBe(false);
  expect(await run("restore", at("empty"), "--data", at("d"))).toEqual([
    1,
    expect.stringContaining("is not a complete backup"),
  ]);
  await (await startService({ args: ["--data", at("data")] })).stop();
  expect((await run("backup", at("b"), "--data", at("data")))[0]).toBe(0);
  expect(await run("backup", at("b"), "--data", at("data"))).toEqual([
    1,
    expect.stringContaining("is not empty"),
  ]);
  expect(await run("restore", at("b"), "--data", at("data"))).toEqual([
    1,
    expect.stringContaining("is not empty"),
  ]);
  const log = join(at("b"), "log.sqlite");
  writeFileSync(log, readFileSync(log).fill(0, 4096, 4100));
  expect(await run("restore", at("b"), "--data", at("d"))).toEqual([
    1,
    expect.stringContaining("missing or was changed"),
  ]);
  expect(existsSync(at("d"))).toBe(false);
});

test.skipIf(process.getuid?.() !== 0)(
  "the backup that root makes belongs to the owner of the data, and root restores into no folder of others",
  async () => {
    const folder = temporaryFolder();
    const [data, backup, target] = [join(folder, "data"), join(folder, "backup"), join(folder, "target")];
    await (await startService({ args: ["--data", data] })).stop();
    chownSync(data, 65_534, 65_534);
    expect((await runCommand(["backup", backup, "--data", data])).status).toBe(0);
    for (const name of ["", "log.sqlite", "backup.json"])
      expect(statSync(join(backup, name)).uid).toBe(65_534);
    mkdirSync(target);
    chownSync(target, 65_534, 65_534);
    const { status, stderr } = await runCommand(["restore", backup, "--data", target]);
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining("belongs to user 65534; restore as that user"),
    ]);
    expect(readdirSync(target)).toEqual([]);
  },
);
