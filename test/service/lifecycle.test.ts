/** Start, restart and end of the processes of one service (`serve --readers N`). */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { basic, generatedCredentials, type Service, spawnCommand, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { connectToEachProcess, processIdsOf } from "./connection.ts";
import { startThreeProcesses, waitForReaders } from "./start-with-readers.ts";

const API = "/controller/v1";
const DEMO = ["--data", ":memory:", "--demo", "devices=10,hosts=20,churn=20"];

/** A zombie (ended, but not yet waited for) has no `exe` and does not count as running. */
const isRunning = (pid: number): boolean => {
  try {
    readlinkSync(`/proc/${pid}/exe`);
    return true;
  } catch {
    return false;
  }
};
const waitForExit = (pids: readonly number[]) =>
  until(() => !pids.some(isRunning), { what: "the end of all processes" });

/** Starts the service with its own TMPDIR, so that the test sees whether a socket folder is left behind. */
async function startInOwnTmpdir(args = DEMO): Promise<{ service: Service; socketFolders: () => string[] }> {
  const folder = temporaryFolder();
  const service = await startThreeProcesses({ args, env: { TMPDIR: folder } });
  const socketFolders = () => readdirSync(folder).filter((name) => name.startsWith("gazetteer-readers-"));
  expect(socketFolders()).toHaveLength(1);
  return { service, socketFolders };
}

describe("the end of the service", () => {
  test("SIGTERM ends all processes, streams and connections, and removes the socket folder", async () => {
    const { service, socketFolders } = await startInOwnTmpdir();
    const pids = processIdsOf(service);
    expect(pids).toHaveLength(3);
    const idle = await connectToEachProcess(service, pids);
    const streamTexts: Promise<string>[] = [];
    // A reader relays `since=1` to the writer, because its replica has no history.
    for (const path of ["/topology", "/topology?since=1"]) {
      for (const stream of await connectToEachProcess(service, pids)) {
        stream.send(API + path, { Accept: "text/event-stream" });
        expect((await stream.readHead()).status).toBe(200);
        expect((await stream.readChunk()).toString()).toContain(": connected");
        streamTexts.push(stream.readRest());
      }
    }
    expect(await service.stop()).toBe(0);
    for (const text of await Promise.all(streamTexts)) {
      expect(text).toContain('event: closing\ndata: {"reason":"shutdown"}');
    }
    for (const connection of idle) connection.close();
    await waitForExit(pids);
    expect(socketFolders()).toEqual([]);
    expect(service.stderr()).not.toContain("reader ended");
  });

  test("a signal to all processes at once, as a terminal sends it, ends them the same way", async () => {
    const { service, socketFolders } = await startInOwnTmpdir();
    const pids = processIdsOf(service);
    for (const pid of pids) process.kill(pid, "SIGINT");
    expect(await service.exited).toBe(0);
    await waitForExit(pids);
    expect(socketFolders()).toEqual([]);
    expect(service.stderr()).not.toContain("reader ended");
  });

  test("when the writer is killed, its readers end at once", async () => {
    const { service, socketFolders } = await startInOwnTmpdir();
    const pids = processIdsOf(service);
    await service.kill();
    await waitForExit(pids);
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow();
    expect(socketFolders()).toEqual([]);
    // The port is free for the next service at once.
    const { port } = new URL(service.url);
    const again = await startService({ args: [...DEMO, "--readers", "2"], port: Number(port) });
    expect(await again.stop()).toBe(0);
  });
});

test("a reader that is killed closes only its own connections, and is started again", async () => {
  const { service } = await startInOwnTmpdir();
  const before = processIdsOf(service);
  const [toWriter, toKilled, toOther] = await connectToEachProcess(service, before);
  process.kill(before[1] ?? 0, "SIGKILL");
  await until(() => toKilled?.ended, { what: "the end of the connection" });
  for (const connection of [toWriter, toOther]) {
    expect((await connection?.get(`${API}/devices`))?.status).toBe(200);
  }
  await waitForReaders(service, 1);
  expect(service.stderr()).toContain("reader ended reader=2 status=SIGKILL");
  const after = processIdsOf(service);
  expect(after).toHaveLength(3);
  expect(after).not.toContain(before[1] ?? 0);
  for (const connection of await connectToEachProcess(service, after)) {
    expect((await connection.get(`${API}/devices`)).status).toBe(200);
  }
  expect(await (await service.fetch("/metrics")).text()).toContain(
    'gazetteer_reader_processes{state="configured"} 3\ngazetteer_reader_processes{state="alive"} 3\n',
  );
  expect(await service.stop()).toBe(0);
});

test("a reader that was suspended catches up without a gap, also past the change ring of the writer", async () => {
  const config = join(temporaryFolder(), "g.yaml");
  writeFileSync(config, "limits:\n  streamBufferBytes: 65536\n");
  const { service } = await startInOwnTmpdir([
    ...["--config", config, "--data", ":memory:"],
    ...["--demo", "devices=10,hosts=20,churn=2000"],
  ]);
  const pids = processIdsOf(service);
  const [toWriter, toReader] = await connectToEachProcess(service, pids);
  const revision = async () => (await toWriter?.get(`${API}/topology`))?.revision ?? 0;
  const from = await revision();
  process.kill(pids[1] ?? 0, "SIGSTOP");
  await until(async () => (await revision()) > from + 60, { what: "60 changes" });
  process.kill(pids[1] ?? 0, "SIGCONT");
  const missed = await revision();
  const late = await until(
    async () => {
      const response = await toReader?.get(`${API}/hosts`);
      return response && response.revision >= missed ? response : undefined;
    },
    { what: "the reader to catch up" },
  );
  const same = await toWriter?.get(`${API}/hosts?at=${late.revision}`);
  expect(late.body.toString()).toBe(same?.body.toString() ?? "");
  expect(service.stderr()).not.toContain("reader ended");
  expect(await service.stop()).toBe(0);
}, 180_000);

test("the metrics are sums over all processes, also of one that has ended", async () => {
  const { service } = await startInOwnTmpdir(["--data", ":memory:", "--demo", "devices=4,hosts=4,churn=0"]);
  const pids = processIdsOf(service);
  const [toWriter, ...toReaders] = await connectToEachProcess(service, pids);
  const hasMetric = async (line: string) => (await toWriter?.get("/metrics"))?.body.includes(`\n${line}\n`);
  const requests = (n: number) => `gazetteer_http_requests_total{read="devices",status="200"} ${n}`;
  for (const connection of [toWriter, ...toReaders]) {
    for (let n = 0; n < 5; n++) await connection?.get(`${API}/devices`);
  }
  await until(() => hasMetric(requests(15)), { what: "15 requests" });
  process.kill(pids[1] ?? 0, "SIGKILL");
  await waitForReaders(service, 1);
  expect(await hasMetric(requests(15))).toBe(true);
  expect(await service.stop()).toBe(0);
});

test("a second service cannot share the port of the first", async () => {
  const { service } = await startInOwnTmpdir();
  const { port } = new URL(service.url);
  const second = await spawnCommand(["serve", "--data", ":memory:", "--readers", "2", "--port", port]);
  expect(second.status).toBe(2);
  expect(second.stderr).toContain("is in use");
  expect(await service.stop()).toBe(0);
});

test("a new password is valid in all processes, and ends the streams opened with the old one", async () => {
  const users = join(temporaryFolder(), "users");
  const passwd = (name: string, password: string) =>
    runCommand(["passwd", users, name], { stdin: `${password}\n` });
  await passwd("ann", "first");
  const service = await startThreeProcesses({
    args: ["--data", ":memory:", "--users", users, "--demo", "devices=4,hosts=4,churn=0"],
    credentials: null,
  });
  const pids = processIdsOf(service);
  const connections = await connectToEachProcess(service, pids);
  const statuses = (credentials: string) =>
    Promise.all(
      connections.map(async (connection) => {
        const { status } = await connection.get(`${API}/devices`, { Authorization: basic(credentials) });
        return status;
      }),
    );
  expect(await statuses("ann:first")).toEqual([200, 200, 200]);
  const streams = await connectToEachProcess(service, pids);
  const streamTexts = streams.map(async (stream) => {
    stream.send(`${API}/hosts`, { Accept: "text/event-stream", Authorization: basic("ann:first") });
    expect((await stream.readHead()).status).toBe(200);
    return stream.readRest();
  });
  await passwd("ann", "second");
  for (const text of await Promise.all(streamTexts)) {
    expect(text).toContain('event: closing\ndata: {"reason":"credentials"}');
  }
  expect(await statuses("ann:first")).toEqual([401, 401, 401]);
  expect(await statuses("ann:second")).toEqual([200, 200, 200]);
  await passwd("bob", "new");
  await until(async () => (await statuses("bob:new")).every((status) => status === 200), {
    what: "the new user",
    everyMs: 500,
  });
  expect(await service.stop()).toBe(0);
});

test("the generated password of the first start is valid in all processes", async () => {
  const data = join(temporaryFolder(), "data");
  const service = await startThreeProcesses({ args: ["--data", data], credentials: null });
  const credentials = generatedCredentials(service);
  for (const connection of await connectToEachProcess(service, processIdsOf(service))) {
    const { status } = await connection.get(`${API}/devices`, { Authorization: basic(credentials) });
    expect(status).toBe(200);
  }
  expect(existsSync(join(data, "users"))).toBe(true);
  expect(await service.stop()).toBe(0);
});
