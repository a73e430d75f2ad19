/**
 * A current release of nats-server, beside Debian's, which is the oldest one that is supported. Built with Go once, in a folder
 * that outlives the test run. Where there is no Go that can build it, or modules cannot be reached, the tests are skipped with a
 * SKIP line, also where CI=true.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { printSkip } from "./needs.ts";
import { lockProcesses } from "./process-lock.ts";

const VERSION = "v2.15.2";
const CACHE = process.env.GAZETTEER_PEERS ?? join(homedir(), ".cache/gazetteer-peers");
const FOLDER = join(CACHE, "nats-server", VERSION);
const PROGRAM = join(FOLDER, "nats-server");
/** Compiling takes minutes on a busy machine. */
const INSTALL_TIMEOUT_MS = 20 * 60_000;
const UNREACHABLE =
  /dial tcp|lookup |no such host|i\/o timeout|connection re|module lookup disabled|requires go >=/i;

/** The program; undefined, with a SKIP line, where it cannot be installed. */
export async function newerServer(): Promise<string | undefined> {
  if (existsSync(PROGRAM)) return PROGRAM;
  const skipped = (reason: string) =>
    printSkip(`nats-server ${VERSION} is not tested, only the one of Debian: ${reason}`);
  const go = Bun.which("go", { PATH: `${process.env.PATH ?? ""}:/usr/local/go/bin` });
  if (go === null) return void skipped("Go is not installed");
  await using _lock = await lockProcesses("nats-server");
  if (existsSync(PROGRAM)) return PROGRAM;
  console.log(`building nats-server ${VERSION} with Go for the tests …`);
  const failure = install(go);
  if (failure === undefined) return PROGRAM;
  if (!UNREACHABLE.test(failure)) throw new Error(failure);
  return void skipped(`it cannot be installed:\n${failure.slice(-500)}`);
}

function install(go: string): string | undefined {
  const building = join(FOLDER, "building");
  mkdirSync(building, { recursive: true });
  const { success, stderr } = Bun.spawnSync([go, "install", `github.com/nats-io/nats-server/v2@${VERSION}`], {
    env: { ...process.env, GOBIN: building },
    timeout: INSTALL_TIMEOUT_MS,
  });
  if (!success) return `go install failed: timed out or\n${stderr}`;
  renameSync(join(building, "nats-server"), PROGRAM);
  rmSync(building, { recursive: true });
  return undefined;
}
