/** `/topology/problems` of the running service, in every process of it, and `gazetteer problems`. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { startThreeProcesses } from "./start-with-readers.ts";

const PROBLEMS = "/controller/v1/topology/problems";

interface Body {
  readonly problems: readonly { readonly id: string; readonly kind: string; readonly since: string }[];
}

const LINK = (a: number, b: number) => [
  { src: { device: `of:${a}`, port: b }, dst: { device: `of:${b}`, port: a } },
  { src: { device: `of:${b}`, port: a }, dst: { device: `of:${a}`, port: b } },
];

function network(cables: readonly (readonly [number, number])[]): string {
  return JSON.stringify({
    devices: [1, 2, 3].map((n) => ({ id: `of:${n}` })),
    links: cables.flatMap(([a, b]) => LINK(a, b)),
    hosts: [{ mac: "00:00:00:00:00:01", locations: [{ elementId: "of:1", port: "9" }] }],
  });
}

test("a mistyped end of a link is a problem of a network that never changes", async () => {
  const file = join(temporaryFolder(), "network.json");
  writeFileSync(file, network([[1, 4]]));
  await using service = await startService({ args: ["--file", file, "--data", ":memory:"] });
  const read = async (): Promise<Body> => (await service.fetch(PROBLEMS)).json();
  await until(async () => (await read()).problems.length > 0, { what: "the problem" });
  expect((await read()).problems).toMatchObject([{ id: "device-unknown:of:4", references: 2 }]);
  await until(() => service.stderr().includes("no source reports devices"), { what: "the line in the log" });
  expect(service.stderr()).toMatch(/devices=1 records=2 examples="?of:4 \(links of:1\/4-of:4\/1\)/);
});

test("a lost link and a stale source, in every process, after a restart, and on the command line", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "network.json");
  const config = join(folder, "g.yaml");
  writeFileSync(
    file,
    network([
      [1, 2],
      [2, 3],
    ]),
  );
  writeFileSync(config, JSON.stringify({ sources: [{ type: "file", name: "plan", path: file }] }));
  const args = ["--config", config, "--data", join(folder, "data")];
  const service = await startThreeProcesses({ args });
  const read = async (): Promise<Body> => (await service.fetch(PROBLEMS)).json();
  await until(async () => (await (await service.fetch("/controller/v1/links")).json()).links.length === 4, {
    what: "the network",
  });
  expect((await read()).problems).toEqual([]);
  writeFileSync(file, network([[1, 2]]));
  await until(async () => (await read()).problems.length === 1, { what: "the lost link" });
  writeFileSync(file, "{");
  await until(async () => (await read()).problems.length === 2, { what: "the failed source" });
  // Connections are distributed among the processes, and each has the same.
  const bodies = await Promise.all(
    Array.from({ length: 12 }, async () => (await service.fetch(PROBLEMS, { keepalive: false })).text()),
  );
  expect(new Set(bodies).size).toBe(1);
  const { problems }: Body = JSON.parse(bodies[0] ?? "");
  expect(problems.map(({ id }) => id)).toEqual(["link-lost:of:2/3-of:3/2", "source-failed:plan"]);
  const stream = await service.fetch(PROBLEMS, { headers: { accept: "text/event-stream" } });
  const reader = stream.body?.getReader();
  let text = "";
  while (!text.includes("event: synced")) text += new TextDecoder().decode((await reader?.read())?.value);
  expect(text).toContain('"kind":"link-lost"');
  await reader?.cancel();
  const flags = { env: { GAZETTEER_URL: service.url, GAZETTEER_CREDENTIALS: service.credentials } };
  const table = await runCommand(["problems"], flags);
  expect(table.status).toBe(0);
  expect(table.stdout).toMatch(/^SEVERITY +KIND/);
  expect(table.stdout).toMatch(/critical +link-lost +\S+ +1 +0 +0 +- +Cable of:2\/3 to of:3\/2 is lost/);
  const json = await runCommand(["problems", "kind=source-failed", "-o", "json"], flags);
  expect(JSON.parse(json.stdout).problems).toMatchObject([
    {
      severity: "major",
      source: "plan",
      text: "Source plan failed: network.json:1: is not JSON: ends too early. What it last reported may have changed.",
    },
  ]);
  expect((await runCommand(["problems", "kind=none"], flags)).stderr).toContain("link-lost");
  await service.stop();
  await using again = await startService({ args });
  const body: Body = await (await again.fetch(PROBLEMS)).json();
  expect(body.problems[0]).toEqual(problems[0] ?? { id: "", kind: "", since: "" });
  // `--watch` prints the list, and prints it again when it changes.
  const watch = Bun.spawn([join(import.meta.dir, "../../bin/gazetteer"), "problems", "--watch"], {
    env: { ...process.env, GAZETTEER_URL: again.url, GAZETTEER_CREDENTIALS: again.credentials },
    stdout: "pipe",
  });
  const output = watch.stdout.getReader();
  let printed = "";
  while (!printed.includes("link-lost")) printed += new TextDecoder().decode((await output.read()).value);
  writeFileSync(
    file,
    network([
      [1, 2],
      [2, 3],
    ]),
  );
  while (!printed.includes("no problems")) printed += new TextDecoder().decode((await output.read()).value);
  watch.kill("SIGINT");
  expect(await watch.exited).toBe(0);
});
