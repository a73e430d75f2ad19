/** A service with a plan and an observed network, each in a file: drift over HTTP, at start, after changes, after a restart. */
import { expect, test } from "bun:test";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folder.ts";
import { type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

interface Shown {
  readonly id: string;
  readonly sources: string[];
  readonly drift?: { readonly state: string; readonly since: string };
}

async function driftOf({ fetch }: Service): Promise<Record<string, string>> {
  const { devices } = await (await fetch("/controller/v1/devices?drift=any")).json();
  return Object.fromEntries((devices as Shown[]).map(({ id, drift }) => [id, `${drift?.state} ${drift?.since}`]));
} // biome-ignore format: short

const statesOf = (drift: Record<string, string>) =>
  Object.fromEntries(Object.entries(drift).map(([id, text]) => [id, text.split(" ")[0]]));

test("a network is compared with its plan; the state and its time survive a restart", async () => {
  const folder = temporaryFolder();
  const write = (name: string, value: object) => {
    writeFileSync(join(folder, "new"), JSON.stringify(value));
    renameSync(join(folder, "new"), join(folder, name));
  };
  write("plan.yaml", { devices: [{ id: "a", type: "ROUTER" }, { id: "b" }, { id: "x" }] });
  write("seen.yaml", { devices: [{ id: "a", type: "SWITCH" }, { id: "b" }, { id: "c" }] });
  write("g.yaml", {
    data: join(folder, "data"),
    sources: [
      { type: "file", name: "plan", path: join(folder, "plan.yaml"), role: "intended" },
      { type: "file", name: "seen", path: join(folder, "seen.yaml") },
    ],
  });
  const start = () => startService({ args: ["--config", join(folder, "g.yaml")] });
  const first = await start();
  const expected = { a: "differs", c: "unplanned", x: "missing" };
  await until(async () => Bun.deepEquals(statesOf(await driftOf(first)), expected), { what: "drift" });
  const { devices } = await (await first.fetch("/controller/v1/devices")).json();
  expect((devices as Shown[]).map(({ id, sources }) => [id, ...sources])).toEqual([
    ["a", "seen"],
    ["b", "seen"],
    ["c", "seen"],
  ]);

  write("seen.yaml", { devices: [{ id: "a", type: "ROUTER" }, { id: "c" }] });
  const changed = { b: "missing", c: "unplanned", x: "missing" };
  await until(async () => Bun.deepEquals(statesOf(await driftOf(first)), changed), { what: "the change" });
  const before = await driftOf(first);
  const topology = await (await first.fetch("/controller/v1/topology?drift=any")).json();
  expect(topology).toMatchObject({
    devices: 2,
    drift: { devices: { missing: 2, unplanned: 1, differs: 0 } },
  });
  await first.stop();

  await using second = await start();
  expect(await driftOf(second)).toEqual(before);
  write("plan.yaml", { devices: [] });
  await until(async () => Object.keys(await driftOf(second)).length === 0, { what: "no drift" });
}, 120_000);
