/**
 * Downloads and compiles ONOS before the suites that need it run (scripts/test/preparations.ts). Its script does that
 * before it reads the network; the one given here has no files, so that it then ends.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { lockProcesses } from "../../support/process-lock.ts";
import { missingForOnos, SERVE } from "./onos-install.ts";

const CACHE = process.env.GAZETTEER_PEERS ?? join(homedir(), ".cache/gazetteer-peers");

if (missingForOnos() === undefined && !existsSync(join(CACHE, "onos/classes/OnosRest.class"))) {
  console.log("installing ONOS with Maven for the tests …");
  await using _lock = await lockProcesses("onos");
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-onos-"));
  const child = Bun.spawn([SERVE, folder, "1"], { stdio: ["ignore", "ignore", "ignore"] });
  await child.exited;
  rmSync(folder, { recursive: true, force: true });
}
