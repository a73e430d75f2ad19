/** The disk below a running service: full, damaged, with times of a wrong clock. The whole process on real files. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildNetwork } from "../../sources/openflow/topologies.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { freePort } from "../../support/free-port.ts";
import { type Service, startService } from "../../support/service.ts";
import { canMount, fillDisk, mountSmallDisk } from "../../support/small-disk.ts";
import { until } from "../../support/until.ts";

const API = "/controller/v1";

const readiness = async (service: Service) => (await service.fetch("/readyz")).json();
const portsOf = async (service: Service, device: string): Promise<string> =>
  (await service.fetch(`${API}/devices/${device}/ports`)).text();

test.skipIf(!canMount)(
  "a full disk ends neither switch sessions nor reads; changes are stored once there is space",
  async () => {
    using disk = mountSmallDisk(2 * 1024 * 1024);
    const data = disk.folder;
    const openflowPort = freePort();
    await using service = await startService({
      args: ["--data", data, "--openflow", `127.0.0.1:${openflowPort}`],
    });
    const { net } = buildNetwork(2, [[1, 2]]);
    const [first, second] = [net.get(1), net.get(2)];
    for (const sw of [first, second]) await sw.connect({ port: openflowPort });
    await until(async () => (await (await service.fetch(`${API}/topology`)).json()).links === 2, {
      what: "the network",
    });
    expect((await readiness(service)).status).toBe("ready");

    const freeDisk = fillDisk(data);
    // Changes until one does not fit into what SQLite has already allocated.
    let up = true;
    const failing = await until(
      async () => {
        up = !up;
        first.setPort(1, up);
        const body = await readiness(service);
        return body.log && body;
      },
      { what: "a failed write", everyMs: 5 },
    );
    expect(failing).toMatchObject({
      status: "degraded",
      log: { status: "failing", error: expect.stringContaining("full") },
      sources: [{ status: "synced", restarts: 0 }],
    });
    const { revision } = failing;
    up = !up;
    first.setPort(1, up);
    const lastState = `"isEnabled":${up}`;
    second.setPort(1, false);
    for (let i = 0; i < 10; i++) {
      const response = await service.fetch(`${API}/topology`);
      expect(response.status).toBe(200);
      expect(response.headers.get("Gazetteer-Revision")).toBe(String(revision));
    }
    expect(await (await service.fetch("/metrics")).text()).toContain("gazetteer_log_writable 0");
    expect([first.connected, second.connected]).toEqual([true, true]);

    freeDisk();
    await until(async () => (await portsOf(service, second.id)).includes('"isEnabled":false'), {
      what: "the change that waited",
    });
    await until(async () => (await portsOf(service, first.id)).includes(lastState), {
      what: "the last state",
    });
    const body = await readiness(service);
    expect(body).toMatchObject({ status: "ready", sources: [{ status: "synced", restarts: 0 }] });
    expect(body.log).toBeUndefined();
    expect([first.connected, second.connected]).toEqual([true, true]);
    const lines = service.stderr().split("\n");
    expect(lines.filter((line) => line.includes("the log cannot be written"))).toHaveLength(1);
    expect(lines.filter((line) => line.includes("the log is written again"))).toHaveLength(1);

    // A stop does not wait for space either.
    fillDisk(data);
    await until(
      async () => {
        up = !up;
        first.setPort(1, up);
        return (await readiness(service)).log;
      },
      { what: "a failed write", everyMs: 5 },
    );
    expect(await service.stop()).toBe(0);
    first.disconnect();
    second.disconnect();
  },
);

const NETWORK = (devices: number) =>
  JSON.stringify({ devices: Array.from({ length: devices }, (_, i) => ({ id: `of:${i + 1}` })) });

const expectDevices = (service: Service, count: number) =>
  until(async () => (await (await service.fetch(`${API}/topology`)).json()).devices === count, {
    what: `${count} devices`,
  });

test("a clock that was set back: times of revisions do not decrease, and the skew is logged once", async () => {
  const folder = temporaryFolder();
  const [file, data] = [join(folder, "network.json"), join(folder, "data")];
  const args = ["--data", data, "--file", file];
  writeFileSync(file, NETWORK(1));
  const service = await startService({ args });
  await expectDevices(service, 1);
  await service.kill();
  // As if the clock had been a day ahead.
  const db = new Database(join(data, "log.sqlite"));
  db.run("UPDATE batch SET time = time + 86400000");
  const { time } = db.query<{ time: number }, []>("SELECT max(time) AS time FROM batch").get() ?? { time: 0 };
  db.close();
  await using again = await startService({ args });
  for (const devices of [2, 3]) {
    writeFileSync(file, NETWORK(devices));
    await expectDevices(again, devices);
    expect((await (await again.fetch(`${API}/topology`)).json()).time).toBe(time);
  }
  const line = "the clock is behind the time of the last revision";
  expect(again.stderr().split(line)).toHaveLength(2);
});

describe("a damaged snapshot", () => {
  /** A data folder with a snapshot of 1 device and one of 2, then 3 devices in a batch. Not running. */
  async function folderWithSnapshots(): Promise<{ data: string; file: string; args: string[] }> {
    const folder = temporaryFolder();
    const file = join(folder, "network.json");
    const data = join(folder, "data");
    const args = ["--data", data, "--file", file];
    for (const devices of [1, 2]) {
      writeFileSync(file, NETWORK(devices));
      const service = await startService({ args });
      await expectDevices(service, devices);
      expect(await service.stop()).toBe(0);
    }
    writeFileSync(file, NETWORK(3));
    const service = await startService({ args });
    await expectDevices(service, 3);
    await service.kill();
    return { data, file, args };
  }

  /** Flips bits in the stored pages of snapshots, as a bad block of a disk does. */
  function damage(data: string, table: "page" | "batch", where: string): void {
    const db = new Database(join(data, "log.sqlite"));
    for (const { id, data: bytes } of db
      .query<{ id: number; data: Uint8Array }, []>(`SELECT rowid AS id, data FROM ${table} WHERE ${where}`)
      .all()) {
      const middle = bytes.length >> 1;
      bytes[middle] = (bytes[middle] ?? 0) ^ 0x10;
      db.query(`UPDATE ${table} SET data = ? WHERE rowid = ?`).run(bytes, id);
    }
    db.close();
  }

  const newestSnapshotPages = "id > (SELECT min(id) FROM page)";

  test("the one before it and the changes since give the same network, with its revision and history", async () => {
    const { data, args } = await folderWithSnapshots();
    damage(data, "page", newestSnapshotPages);
    await using service = await startService({ args });
    await expectDevices(service, 3);
    expect(service.stderr()).toContain("a snapshot of the log is damaged and was not used revision=2");
    expect(service.stderr()).toContain("nothing is lost");
    const response = await service.fetch(`${API}/devices?at=2`);
    expect((await response.json()).devices).toHaveLength(2);
    expect((await service.fetch(`${API}/devices`)).headers.get("Gazetteer-Revision")).toBe("3");
    expect(await service.stop()).toBe(0);
    // Removed: the next start does not find it again.
    await using again = await startService({ args });
    await expectDevices(again, 3);
    expect(again.stderr()).not.toContain("damaged");
  });

  test("when no state can be read the service starts, states the loss and continues the revisions", async () => {
    const { data, args } = await folderWithSnapshots();
    damage(data, "page", "true");
    damage(data, "batch", "true");
    await using service = await startService({ args });
    await expectDevices(service, 3);
    expect(service.stderr()).toContain("the log is damaged: changes and history are lost");
    expect(service.stderr()).toContain("restoredRevision=0 newestRevision=3");
    expect((await service.fetch(`${API}/devices`)).headers.get("Gazetteer-Revision")).toBe("4");
    expect((await service.fetch(`${API}/devices?at=2`)).status).toBe(410);
    expect(await service.stop()).toBe(0);
    await using again = await startService({ args });
    await expectDevices(again, 3);
    expect(again.stderr()).not.toContain("damaged");
  });
});
