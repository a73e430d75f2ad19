/**
 * The configuration of the program: flag, environment, file, default, for every key. The tests walk the schema, so that
 * a key that is added later is covered too.
 */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { CONFIG_KEYS, type ConfigKey } from "../../src/config/settings.ts";
import { schemaOption } from "../../src/lib/schema-faults.ts";
import { runCommand } from "../support/command.ts";
import { sampleValues, textOf } from "../support/config-samples.ts";
import { temporaryFolder } from "../support/folder.ts";
import { basic, spawnCommand, startService } from "../support/service.ts";

function writeTemporary(name: string, text: string): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, part) => new Map(Object.entries(value ?? {})).get(part), root);
}

/** A file with one line for each key. */
function fileWithAllKeys(): string {
  const opened = new Set<string>();
  const lines: string[] = [];
  for (const key of CONFIG_KEYS) {
    const indent = (depth: number) => "  ".repeat(depth);
    for (const [depth, section] of key.path.slice(0, -1).entries()) {
      const path = key.path.slice(0, depth + 1).join(".");
      if (!opened.has(path)) lines.push(`${indent(depth)}${section}:`);
      opened.add(path);
    }
    const value = JSON.stringify(sampleValues(key)[0]);
    lines.push(`${indent(key.path.length - 1)}${key.path.at(-1)}: ${value}`);
  }
  return writeTemporary("g.yaml", `${lines.join("\n")}\n`);
}

/** The effective values and the origins, which stand in comments. */
async function show(args: string[], env: Record<string, string> = {}) {
  const { stdout } = await runCommand(["check", "--show", "--users", "/nonexistent", ...args], { env });
  return { values: parse(stdout), text: stdout };
}

/** The value as it is shown: a path is absolute, and relative to the file, or else to the working folder. */
const shownValue = ({ schema }: ConfigKey, value: unknown, folder = process.cwd()): unknown =>
  schemaOption(schema, "path") === undefined || value === undefined ? value : join(folder, String(value));

describe("flag, environment, file, default", () => {
  const file = fileWithAllKeys();
  const environment = Object.fromEntries(
    CONFIG_KEYS.map((key) => [key.variable, textOf(sampleValues(key)[1])]),
  );
  const flags = CONFIG_KEYS.filter((key) => !key.isList && key.name !== "users").flatMap((key) => [
    "--set",
    `${key.name}=${sampleValues(key)[2]}`,
  ]);
  const keys = CONFIG_KEYS.filter((key) => key.name !== "users");

  test("without anything, every key has its default", async () => {
    const { values } = await show([]);
    for (const key of keys)
      expect([key.name, valueAt(values, key.path)]).toEqual([key.name, shownValue(key, key.defaultValue)]);
  });

  test("every key of the file is used", async () => {
    const { values, text } = await show(["--config", file]);
    for (const key of keys) {
      const expected = shownValue(key, sampleValues(key)[0], dirname(file));
      expect([key.name, valueAt(values, key.path)]).toEqual([key.name, expected]);
    }
    expect(text).not.toContain("# default");
  });

  test("every variable overrides the file", async () => {
    const { values, text } = await show(["--config", file], environment);
    for (const key of keys)
      expect([key.name, valueAt(values, key.path)]).toEqual([
        key.name,
        shownValue(key, sampleValues(key)[1]),
      ]);
    for (const key of keys) expect(text).toContain(`# ${key.variable}\n`);
  });

  test("--set overrides both for every key that is not a list", async () => {
    const { values, text } = await show(["--config", file, ...flags], environment);
    for (const key of keys) {
      const expected = shownValue(key, sampleValues(key)[key.isList ? 1 : 2]);
      expect([key.name, valueAt(values, key.path)]).toEqual([key.name, expected]);
      if (!key.isList) expect(text).toContain(`# --set ${key.name}\n`);
    }
  });

  test("users, which names a file, is taken from each place too", async () => {
    const inFile = writeTemporary("g.yaml", "users: in-file\n");
    const args = ["check", "--show", "--config", inFile];
    const shown = async (more: string[], env: Record<string, string> = {}) =>
      parse((await runCommand([...args, ...more], { env })).stdout).users;
    expect(await shown([])).toBe(join(dirname(inFile), "in-file"));
    const env = { GAZETTEER_USERS: "in-environment" };
    expect(await shown([], env)).toBe(resolve("in-environment"));
    expect(await shown(["--set", "users=in-flag"], env)).toBe(resolve("in-flag"));
  });

  for (const [flag, name] of [
    ["host", "host"],
    ["port", "port"],
    ["data", "data"],
    ["readers", "readers"],
  ] as const) {
    test(`--${flag} overrides the environment`, async () => {
      const key = CONFIG_KEYS.find((candidate) => candidate.name === name);
      if (!key) throw new Error(`there is no key ${name}`);
      const [, second, third] = sampleValues(key);
      const { values } = await show([`--${flag}`, String(third)], { [key.variable]: textOf(second) });
      expect(values[name]).toEqual(shownValue(key, third));
    });
  }
});

test("serve uses the file: host, port, data, users and readers", async () => {
  const folder = temporaryFolder();
  const data = join(folder, "log");
  mkdirSync(data);
  const users = join(folder, "people");
  await runCommand(["passwd", users, "ann"], { stdin: "secret\n" });
  const config = join(folder, "g.yaml");
  // Both paths are relative to the file.
  const text = "host: localhost\nport: 1\ndata: log\nusers: people\nreaders: 2\n";
  writeFileSync(config, text);
  // The helper gives --port 0, which overrides the file.
  const service = await startService({ args: ["--config", config], credentials: null });
  expect(service.url).toStartWith("http://localhost:");
  expect(service.stdout()).toContain("Users: ann\n");
  const response = await service.fetch("/controller/v1/devices", {
    headers: { authorization: basic("ann:secret") },
  });
  expect(response.status).toBe(200);
  expect(readFileSync(join(data, "log.sqlite")).length).toBeGreaterThan(0);
  expect(await service.stop()).toBe(0);
  const refused = await spawnCommand([
    "serve",
    "--config",
    config,
    "--host",
    "192.0.2.1",
    "--allow-plaintext",
  ]);
  expect(refused.stderr).toContain("http://192.0.2.1:1 ");
});

test("an unknown GAZETTEER_ variable is a warning with the nearest name", async () => {
  const args = ["serve", "--data", ":memory:", "--host", "192.0.2.1", "--allow-plaintext"];
  const { stderr } = await runCommand(args, { env: { GAZETTEER_ACCESSLOG: "-" } });
  expect(stderr).toStartWith(
    "gazetteer serve: warning: GAZETTEER_ACCESSLOG is not known; did you mean GAZETTEER_ACCESS_LOG?\n",
  );
});

describe("check", () => {
  test("reports all faults of file, environment, flags, sources and users in one pass", async () => {
    const users = writeTemporary("users", "ann\nbob:plain\n");
    const file = writeTemporary(
      "g.yaml",
      `prot: 1\nusers: ${users}\nsources:\n  - type: demo\n    devices: 0\n  - { type: dmeo }\n`,
    );
    const { status, stdout, stderr } = await runCommand(["check", file, "--openflow", "x"], {
      env: { GAZETTEER_READERS: "0", GAZETTEER_CREDENTIALS: "nocolon" },
    });
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr.replaceAll(file, "FILE").replaceAll(users, "USERS").trimEnd().split("\n")).toEqual([
      "FILE:1:1: prot: unknown key; did you mean port?",
      "GAZETTEER_READERS: must be a whole number from 1 to 256 or auto",
      "FILE:5:14: sources[0].devices: must be a whole number from 1 to 50000",
      "FILE:6:13: sources[1].type: dmeo is not a kind of source; did you mean demo?",
      "--openflow: listen: must be [HOST:]PORT, such as 6653 or 0.0.0.0:6653",
      "GAZETTEER_CREDENTIALS: there is no colon in it; it must be <USERNAME>:<PASSWORD>",
      "USERS:1:1: not NAME:HASH; make the line with gazetteer passwd",
      "USERS:2:5: not an argon2id or bcrypt hash; make the line with gazetteer passwd",
    ]);
  });

  test("reports unknown rules of identity and wrong options of merging, with the known ones", async () => {
    const file = writeTemporary(
      "g.yaml",
      "identity: [chassisId, serail]\nsources:\n  - { type: demo, role: planned, merge: 1, withdrawAfterSeconds: 0 }\n",
    );
    const rules = "chassisId, serial, managementAddress, systemName";
    const { status, stderr } = await runCommand(["check", file], { env: { GAZETTEER_IDENTITY: "name" } });
    expect(status).toBe(2);
    expect(stderr.replaceAll(file, "FILE").trimEnd().split("\n")).toEqual([
      `FILE:1:23: identity[1]: must be one of ${rules}`,
      `GAZETTEER_IDENTITY: [0]: must be one of ${rules}`,
      "FILE:3:25: sources[0].role: must be one of observed, intended",
      "FILE:3:41: sources[0].merge: must be true or false",
      "FILE:3:66: sources[0].withdrawAfterSeconds: must be a whole number from 1 to 31622400",
    ]);
    const twice = await runCommand(["check"], { env: { GAZETTEER_IDENTITY: "serial,serial" } });
    expect(twice.stderr).toBe(`GAZETTEER_IDENTITY: must be a list of ${rules}, each at most once\n`);
  });

  test("reports what is wrong in the file of a source", async () => {
    const network = writeTemporary("net.yaml", "devices:\n  - id: of:1\n    typ: SWITCH\n");
    const file = writeTemporary("g.yaml", `sources:\n  - { type: file, path: ${network} }\n`);
    const { status, stderr } = await runCommand(["check", file, "--file", "/nonexistent/n.yaml"]);
    expect(status).toBe(2);
    expect(stderr).toStartWith(`${file}:2:5: sources[0]: net.yaml:3: `);
    expect(stderr).toEndWith("--file: n.yaml: does not exist\n");
  });

  test("reports all faults of the file of a source, and notes what refers to a device that nobody has", async () => {
    const bad = writeTemporary("bad.yaml", "devices:\n  - { id: a, typ: x, mfr: 1 }\n  - {}\nswitches: []\n");
    const good = writeTemporary(
      "good.yaml",
      `devices: [{ id: leaf-1 }, { id: leaf-2, aliases: [rack-2] }]
links:
  - { src: { device: leaf-1, port: 1 }, dst: { device: RACK-2, port: 1 }, bidirectional: true }
  - { src: { device: leaf-1, port: 2 }, dst: { device: leef-2, port: 2 }, bidirectional: true }
hosts: [{ mac: "00:00:00:00:00:01", location: { elementId: spine-77, port: 1 } }]
`,
    );
    const faulty = await runCommand(["check", "--file", bad]);
    expect(faulty.status).toBe(2);
    expect(faulty.stderr.match(/^--file: bad\.yaml:\d+: \S+:/gm)).toEqual([
      "--file: bad.yaml:4: switches:",
      "--file: bad.yaml:2: devices[0].typ:",
      "--file: bad.yaml:2: devices[0].mfr:",
      "--file: bad.yaml:3: devices[1].id:",
    ]);
    const dangling = await runCommand(["check", "--file", good]);
    expect([dangling.status, dangling.stderr]).toEqual([
      0,
      'note: 3 records refer to 2 devices that no source has: "leef-2" (2; did you mean "leaf-2"?), "spine-77" (1); what refers to them will not be shown\n',
    ]);
    const beside = await runCommand(["check", "--file", good, "--demo"]);
    expect(beside.stderr).toContain("that none of the files has: ");
    expect(beside.stderr).toContain("; what refers to them is shown once another source reports them\n");
  });

  test("reports what is wrong in the files and programs that sources name, and connects to no server", async () => {
    const lines = writeTemporary("lines", "TOKEN\n");
    const authorities = writeTemporary("ca.pem", "no certificate\n");
    const url = "https://127.0.0.1:1/";
    const entries = [
      { type: "exec", name: "a", command: ["./nowhere/program"] },
      { type: "exec", name: "b", command: ["true"], environmentFile: lines },
      { type: "exec", name: "c", command: ["true"] },
      ...["http", "controller", "restconf"].flatMap((type) => [
        { type, name: `${type}-1`, url, ca: authorities },
        { type, name: `${type}-2`, url },
      ]),
    ];
    const sources = entries.map((entry) => `  - ${JSON.stringify(entry)}\n`).join("");
    const file = writeTemporary("g.yaml", `sources:\n${sources}`);
    const { status, stderr } = await runCommand(["check", file]);
    const faults = stderr.split("\n").filter((line) => line.startsWith(file));
    expect(faults.map((line) => line.slice(file.length).replace(/^:\d+:\d+: /, ""))).toEqual([
      "sources[0]: program: there is no such program that can be run",
      "sources[1]: environmentFile: line 1 is not NAME=VALUE",
      "sources[3]: ca: ca.pem has no certificate in PEM",
      "sources[5]: ca: ca.pem has no certificate in PEM",
      "sources[7]: ca: ca.pem has no certificate in PEM",
    ]);
    expect(status).toBe(2);
  });

  test("a port and a data folder in use are notes", async () => {
    const data = temporaryFolder();
    const service = await startService({ args: ["--data", data] });
    const { port } = new URL(service.url);
    const { status, stdout, stderr } = await runCommand(["check", "--data", data, "--port", port]);
    expect(stderr).toBe(`note: 127.0.0.1:${port} is in use\nnote: the data folder ${data} is in use\n`);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "the configuration: ok\n" });
    expect(await service.stop()).toBe(0);
  });

  test("--show names the origin of each value and hides secrets", async () => {
    const file = writeTemporary("g.yaml", "port: 9\naliases: [onos]\n");
    const { stdout } = await runCommand(["check", "--show", file, "--alias", "x", "--demo", "devices=3"], {
      env: { GAZETTEER_CREDENTIALS: "ann:secret", GAZETTEER_LIMITS_PAGE_LIMIT: "5" },
    });
    const lines = stdout.split("\n").map((line) => line.replace(/ {2,}#/, " #").replace(file, "FILE"));
    for (const line of [
      "host: 127.0.0.1 # default",
      "port: 9 # FILE:1:7",
      "  - onos # FILE:2:11",
      "  - x # --alias",
      "  - { type: demo, name: demo, devices: 3 } # --demo",
      "  pageLimit: 5 # GAZETTEER_LIMITS_PAGE_LIMIT",
      '# user "ann", password hidden: GAZETTEER_CREDENTIALS',
    ]) {
      expect(lines).toContain(line);
    }
    expect(stdout).not.toContain("secret");
  });
});
