/** `gazetteer status`, and what `get` says of an empty list, with a service of which one source does not work. */
import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

let service: Service;
beforeAll(async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "net.yaml"), "devices: [{ id: a }, { id: b }]\n");
  writeFileSync(join(folder, "bad.yaml"), "devices: 5\n");
  const sources = ["net", "bad"].map((name) => ({ type: "file", name, path: join(folder, `${name}.yaml`) }));
  const config = join(folder, "g.json");
  writeFileSync(config, JSON.stringify({ sources }));
  service = await startService({ args: ["--config", config, "--data", ":memory:"] });
  const isSettled = async () => (await (await service.fetch("/readyz")).json()).status === "degraded";
  await until(isSettled, { what: "the sources" });
});

const run = (...args: string[]) =>
  runCommand([...args, "--url", service.url], { env: { GAZETTEER_CREDENTIALS: service.credentials } });

test("status shows version, revision, storage, and each source with its state, reason, age and counts", async () => {
  const { status, stdout, stderr } = await run("status");
  expect([status, stderr]).toEqual([0, ""]);
  const [first, processes, storage, , titles, net, bad] = stdout.split("\n");
  expect(first).toMatch(/^gazetteer \d+\.\d+\.\d+: degraded, revision \d+$/);
  expect(processes).toBe("processes: 1 of 1 serve requests");
  expect(storage).toMatch(/^storage: \d+ KiB, 0 snapshots, history from revision 0$/);
  expect(titles).toMatch(/^SOURCE +KIND +STATE +FOR +REPORTED +DEVICES +PORTS +LINKS +HOSTS +REASON$/);
  expect(net).toMatch(/^net +file +synced +\d+s +\d+s ago +2 +0 +0 +0 +-$/);
  expect(bad).toMatch(/^bad +file +failed +\d+s +- +0 +0 +0 +0 +bad\.yaml:1: devices: must be a list$/);
  const json = JSON.parse((await run("status", "-o", "json")).stdout);
  expect(json).toMatchObject({
    status: "degraded",
    version: expect.any(String),
    sources: [{ entities: { devices: 2 } }, { failedSince: expect.any(Number) }],
    storage: { oldest: 0 },
  });
});

test("status is for users only", async () => {
  const { status, stdout, stderr } = await runCommand(["status", "--url", service.url], {
    env: { GAZETTEER_CREDENTIALS: "nobody:wrong" },
  });
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toStartWith("gazetteer status: 401: ");
  const open = await (await fetch(`${service.url}/readyz`)).json();
  expect(open).toEqual({ status: "ready" });
});

test("get says why a list is empty, in every format, and nothing more where it is not", async () => {
  const failed = "gazetteer get: source bad failed: bad.yaml:1: devices: must be a list\n";
  for (const [output, body] of [
    ["table", /^FROM .*\n$/],
    ["name", /^$/],
    ["yaml", /^links: \[\]\n$/],
    ["json", /^\{"links":\[\]\}\n$/],
    ["csv", /^src\.device,.*\r\n$/],
    ["ndjson", /^\n?$/],
  ] as const) {
    const { stdout, stderr, status } = await run("get", "links", "-o", output);
    expect([output, status, stderr]).toEqual([output, 0, `gazetteer get: no links\n${failed}`]);
    expect(stdout).toMatch(body);
  }
  const filtered = await run("get", "hosts", "device=a,typo");
  expect(filtered.stderr).toBe(
    `gazetteer get: no hosts match\n${failed}gazetteer get: device=typo: nobody knows that device\n`,
  );
  for (const output of ["table", "json", "csv"])
    expect((await run("get", "devices", "-o", output)).stderr).toBe("");
});
