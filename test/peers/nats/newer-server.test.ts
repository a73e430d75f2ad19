/** The tests of the log on the engine pass with a current release of nats-server too. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { newerServer } from "../../support/newer-nats-server.ts";

const ROOT = join(import.meta.dir, "../../..");
const FILES = [
  "./test/cluster/shared-log.test.ts",
  "./test/cluster/stream-messages.test.ts",
  "./test/cluster/snapshots.test.ts",
  "./test/cluster/sample.test.ts",
];
/** As that of the runner, for each of them. */
const TEST_TIMEOUT_MS = 180_000;

const server = await newerServer();

test.skipIf(server === undefined)(
  "messages, parts, lost answers, snapshots and several servers, and the sample of the page, with a current nats-server",
  async () => {
    const command = [process.execPath, "test", "--isolate", `--timeout=${TEST_TIMEOUT_MS}`, ...FILES];
    const child = Bun.spawn(command, {
      cwd: ROOT,
      env: { ...process.env, NATS_SERVER: server },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr, status] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (status !== 0) throw new Error(`${stdout}\n${stderr}`);
    expect(stderr).toMatch(/^ *0 fail$/m);
  },
  30 * 60_000,
);
