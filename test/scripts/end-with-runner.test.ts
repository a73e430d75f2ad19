/** What a runner has started ends with it, also when it is killed with SIGKILL. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folder.ts";
import { until } from "../support/until.ts";

const ROOT = join(import.meta.dir, "../..");
const STARTED = /^started ([\d ]+)$/m;

/** As `npm run cluster` starts them. */
const NODE_RUNNER = `
import { findNatsServer, startServers } from "${ROOT}/scripts/cluster/nats.ts";
import { startNode } from "${ROOT}/scripts/cluster/node.ts";
const folder = process.argv[2];
const servers = await startServers({ binary: findNatsServer(), count: 1, folder });
const { pid } = await startNode({
  name: "a", port: 0, data: folder + "/a", credentials: "u:p", servers: servers.urls,
  secretFile: servers.secretFile, args: [], isQuiet: true,
});
console.log("started", pid, ...servers.pids);
await new Promise(() => {});
`;

/** As a test starts them, such as that of `npm run chaos`. */
const TEST_RUNNER = `
import { test } from "bun:test";
import { startNatsServers } from "${ROOT}/test/support/nats-servers.ts";
import { startService } from "${ROOT}/test/support/service.ts";
test("runs", async () => {
  const nats = await startNatsServers();
  const { pid } = await startService();
  console.log("started", pid, ...nats.servers.map((server) => server.pid));
  await new Promise(() => {});
}, 600_000);
`;

const RUNNERS = {
  "the scripts of a cluster": { file: "runner.ts", text: NODE_RUNNER, command: ["run"] },
  "a test": { file: "runner.test.ts", text: TEST_RUNNER, command: ["test", "--timeout=600000"] },
};

/** Not there, or only its exit status is. */
const hasEnded = (pid: string): boolean => {
  const { stdout } = Bun.spawnSync(["ps", "-o", "stat=", "-p", pid]);
  return /^Z|^$/.test(stdout.toString().trim());
};

describe("nodes and NATS servers end with a killed runner", () => {
  test.each(Object.entries(RUNNERS))("%s", async (_, { file, text, command }) => {
    const folder = temporaryFolder();
    const path = join(folder, file);
    writeFileSync(path, text);
    const runner = Bun.spawn([process.execPath, ...command, path, folder], {
      cwd: ROOT,
      stdio: ["ignore", Bun.file(join(folder, "output.txt")), "inherit"],
    });
    let pids: readonly string[] = [];
    const output = () => Bun.file(join(folder, "output.txt")).text();
    try {
      const started = await until(async () => STARTED.exec(await output())?.[1], {
        what: "the start of the runner",
        deadlineMs: 120_000,
      });
      pids = started.split(" ");
      expect(pids.map(hasEnded)).toEqual([false, false]);
      runner.kill("SIGKILL");
      await until(() => pids.every(hasEnded), { what: `the end of ${started}` });
    } finally {
      runner.kill("SIGKILL");
      for (const pid of pids) if (!hasEnded(pid)) process.kill(Number(pid), "SIGKILL");
    }
  });
});

test("a script ends when the process is killed that has started it through npm", async () => {
  const code = `import { starterEnded } from "${ROOT}/scripts/end-with-runner.ts";
    const ended = starterEnded();
    console.log("started", process.pid);
    await ended;`;
  // As npm does it: with a shell in between, which waits for the script and passes no signal on.
  const shell = `sh -c '"$0" -e "$1"; : run.mjs' "$0" "$1"; :`;
  const starter = Bun.spawn(["sh", "-c", shell, process.execPath, code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  for await (const chunk of starter.stdout) {
    output += Buffer.from(chunk).toString();
    if (STARTED.test(output)) break;
  }
  const pid = STARTED.exec(output)?.[1] ?? "";
  expect(hasEnded(pid)).toBe(false);
  starter.kill("SIGKILL");
  await until(() => hasEnded(pid), { what: `the end of ${pid}` });
});
