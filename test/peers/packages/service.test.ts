/** The package `netgazetteer` as npm packs it, installed by npx into an empty folder, without running install scripts. */
import { beforeAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folder.ts";
import { needs, reportMissing } from "../../support/needs.ts";
import { until } from "../../support/until.ts";
import { checkPage, checkProgram, startInstalled } from "./check-program.ts";
import { canReachRegistry, pack } from "./npm.ts";

const folder = temporaryFolder();
let tarball = "";
beforeAll(() => {
  tarball = pack(".", folder);
});

const isPossible = needs("chromium", "npm") && canReachRegistry();
if (!isPossible) reportMissing("npm's registry cannot be reached");

test.skipIf(!isPossible)("npx --ignore-scripts runs it from the tarball", async () => {
  const cwd = join(folder, "empty");
  mkdirSync(cwd);
  const npx = [
    "npx",
    "--yes",
    "--ignore-scripts",
    "--package",
    tarball,
    "--cache",
    join(folder, "cache"),
    "--",
  ];
  const version = Bun.spawnSync([...npx, "gazetteer", "version"], { cwd });
  expect(version.stderr.toString()).not.toContain("allow-scripts");
  expect(version.stdout.toString()).toStartWith("gazetteer ");
  const program = [...npx, "gazetteer"];
  const first = await startInstalled(join(folder, "first"), { program, credentials: null });
  expect(first.stdout()).toContain("To change it:  npx netgazetteer passwd data/users reader\n");
  // npx ends with the status of the signal, whatever the command's own is, and passes no SIGHUP on.
  expect(await first.stop()).toBe(143);
  const isGone = () =>
    fetch(first.url).then(
      () => false,
      () => true,
    );
  await until(isGone, { what: "the end of the service" });
  const found = Bun.spawnSync([...npx.slice(0, -1), "-c", "command -v gazetteer"], { cwd });
  const installed = found.stdout.toString().trim();
  await using service = await startInstalled(join(folder, "second"), { program: [installed] });
  await checkProgram(service, join(folder, "second"));
  await checkPage(service);
  expect(await service.stop()).toBe(0);
});
