/** How the processes of one service live and end together. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folder.ts";
import { basic, runCommand, type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { oneToEach, processesOf } from "./connection.ts";
import { startThree, threeListen } from "./start-with-readers.ts";

const API = "/controller/v1";
const DEMO = ["--data", ":memory:", "--demo", "devices=10,hosts=20,churn=20"];

/** Ended and buried: what has ended but was not asked for its status yet does not count as there. */
const isThere = (pid: number): boolean => {
  try {
    readlinkSync(`/proc/${pid}/exe`);
    return true;
  } catch {
    return false;
  }
};
const gone = (pids: readonly number[]) =>
  until(() => !pids.some(isThere), { what: "the end of all processes" });

/** The service with a place of its own for the socket, so that what is left behind is seen. */
async function startHere(args = DEMO): Promise<{ service: Service; sockets: () => string[] }> {
  const folder = temporaryFolder();
  const service = await startThree({ args, env: { TMPDIR: folder } });
  const sockets = () => readdirSync(folder).filter((name) => name.startsWith("gazetteer-readers-"));
  expect(sockets()).toHaveLength(1);
  return { service, sockets };
}

describe("the end", () => {
  test("SIGTERM ends all of them, streams and connections too, and leaves nothing behind", async () => {
    const { service, sockets } = await startHere();
    const pids = processesOf(service);
    expect(pids).toHaveLength(3);
    const idle = await oneToEach(service, pids);
    const farewells: Promise<string>[] = [];
    // Since the beginning: that a reader asks of the writer.
    for (const path of ["/topology", "/topology?since=1"]) {
      for (const stream of await oneToEach(service, pids)) {
        stream.send(API + path, { Accept: "text/event-stream" });
        expect((await stream.head()).status).toBe(200);
        expect((await stream.chunk()).toString()).toContain(": connected");
        farewells.push(stream.rest());
      }
    }
    expect(await service.stop()).toBe(0);
    for (const text of await Promise.all(farewells)) {
      expect(text).toContain('event: closing\ndata: {"reason":"shutdown"}');
    }
    for (const connection of idle) connection.close();
    await gone(pids);
    expect(sockets()).toEqual([]);
    expect(service.stderr()).not.toContain("reader ended");
  });

  test("a signal to all of them at once, as a terminal sends it, is the same", async () => {
    const { service, sockets } = await startHere();
    const pids = processesOf(service);
    for (const pid of pids) process.kill(pid, "SIGINT");
    expect(await service.exited).toBe(0);
    await gone(pids);
    expect(sockets()).toEqual([]);
    expect(service.stderr()).not.toContain("reader ended");
  });

  test("when the writer is killed, nobody goes on showing what nobody keeps", async () => {
    const { service, sockets } = await startHere();
    const pids = processesOf(service);
    await service.kill();
    await gone(pids);
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow();
    expect(sockets()).toEqual([]);
    // And the port is free for the next at once.
    const { port } = new URL(service.url);
    const again = await startService({ args: [...DEMO, "--readers", "2"], port: Number(port) });
    expect(await again.stop()).toBe(0);
  });
});

test("a reader that is killed is missed by its own connections only, and comes back", async () => {
  const { service } = await startHere();
  const before = processesOf(service);
  const [toWriter, toVictim, toOther] = await oneToEach(service, before);
  process.kill(before[1] ?? 0, "SIGKILL");
  await until(() => toVictim?.ended, { what: "the end of the connection" });
  for (const connection of [toWriter, toOther]) {
    expect((await connection?.get(`${API}/devices`))?.status).toBe(200);
  }
  await threeListen(service, 1);
  expect(service.stderr()).toContain("reader ended reader=2 status=SIGKILL");
  const after = processesOf(service);
  expect(after).toHaveLength(3);
  expect(after).not.toContain(before[1] ?? 0);
  for (const connection of await oneToEach(service, after)) {
    expect((await connection.get(`${API}/devices`)).status).toBe(200);
  }
  expect(await (await service.fetch("/metrics")).text()).toContain(
    'gazetteer_reader_processes{state="configured"} 3\ngazetteer_reader_processes{state="alive"} 3\n',
  );
  expect(await service.stop()).toBe(0);
});

test("a reader that was held up catches up without a gap, also past what the writer keeps at hand", async () => {
  const config = join(temporaryFolder(), "g.yaml");
  writeFileSync(config, "limits:\n  streamBufferBytes: 65536\n");
  const { service } = await startHere([
    ...["--config", config, "--data", ":memory:"],
    ...["--demo", "devices=10,hosts=20,churn=2000"],
  ]);
  const pids = processesOf(service);
  const [toWriter, toReader] = await oneToEach(service, pids);
  const revision = async () => (await toWriter?.get(`${API}/topology`))?.revision ?? 0;
  const from = await revision();
  process.kill(pids[1] ?? 0, "SIGSTOP");
  await until(async () => (await revision()) > from + 60, { what: "changes" });
  process.kill(pids[1] ?? 0, "SIGCONT");
  const missed = await revision();
  const late = await until(
    async () => {
      const reply = await toReader?.get(`${API}/hosts`);
      return reply && reply.revision >= missed ? reply : undefined;
    },
    { what: "the reader to catch up" },
  );
  const same = await toWriter?.get(`${API}/hosts?at=${late.revision}`);
  expect(late.body.toString()).toBe(same?.body.toString() ?? "");
  expect(service.stderr()).not.toContain("reader ended");
  expect(await service.stop()).toBe(0);
}, 180_000);

test("the figures are those of all processes, also of one that is gone", async () => {
  const { service } = await startHere(["--data", ":memory:", "--demo", "devices=4,hosts=4,churn=0"]);
  const pids = processesOf(service);
  const [toWriter, ...toReaders] = await oneToEach(service, pids);
  const told = async (line: string) => (await toWriter?.get("/metrics"))?.body.includes(`\n${line}\n`);
  const devices = (n: number) => `gazetteer_http_requests_total{read="devices",status="200"} ${n}`;
  for (const connection of [toWriter, ...toReaders]) {
    for (let n = 0; n < 5; n++) await connection?.get(`${API}/devices`);
  }
  await until(() => told(devices(15)), { what: "15 requests" });
  process.kill(pids[1] ?? 0, "SIGKILL");
  await threeListen(service, 1);
  expect(await told(devices(15))).toBe(true);
  expect(await service.stop()).toBe(0);
});

test("a port that another service shares among its own is in use for everybody else", async () => {
  const { service } = await startHere();
  const { port } = new URL(service.url);
  const second = await runCommand(["serve", "--data", ":memory:", "--readers", "2", "--port", port]);
  expect(second.status).toBe(2);
  expect(second.stderr).toContain("is in use");
  expect(await service.stop()).toBe(0);
});

test("another password counts for all of them, and ends the streams opened with the old one", async () => {
  const users = join(temporaryFolder(), "users");
  const passwd = (name: string, password: string) =>
    runCommand(["passwd", users, name], { stdin: `${password}\n` });
  await passwd("ann", "first");
  const service = await startThree({
    args: ["--data", ":memory:", "--users", users, "--demo", "devices=4,hosts=4,churn=0"],
    credentials: null,
  });
  const pids = processesOf(service);
  const connections = await oneToEach(service, pids);
  const statuses = (credentials: string) =>
    Promise.all(
      connections.map(async (connection) => {
        const { status } = await connection.get(`${API}/devices`, { Authorization: basic(credentials) });
        return status;
      }),
    );
  expect(await statuses("ann:first")).toEqual([200, 200, 200]);
  const streams = await oneToEach(service, pids);
  const farewells = streams.map(async (stream) => {
    stream.send(`${API}/hosts`, { Accept: "text/event-stream", Authorization: basic("ann:first") });
    expect((await stream.head()).status).toBe(200);
    return stream.rest();
  });
  await passwd("ann", "second");
  for (const text of await Promise.all(farewells)) {
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

test("the password of the first start is good for all of them", async () => {
  const data = join(temporaryFolder(), "data");
  const service = await startThree({ args: ["--data", data], credentials: null });
  const [, credentials = ""] = /^ {2}curl -u (\S+) /m.exec(service.stdout()) ?? [];
  for (const connection of await oneToEach(service, processesOf(service))) {
    const { status } = await connection.get(`${API}/devices`, { Authorization: basic(credentials) });
    expect(status).toBe(200);
  }
  expect(existsSync(join(data, "users"))).toBe(true);
  expect(await service.stop()).toBe(0);
});
