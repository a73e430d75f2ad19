/** What a service writes into its data folder, and a folder that is damaged or was written by a wrong clock, on real files. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folder.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const API = "/controller/v1";

test("everything in the data folder is readable for its owner only, also files of an earlier version", async () => {
  const data = join(temporaryFolder(), "data");
  const modes = () =>
    Object.fromEntries(readdirSync(data).map((name) => [name, statSync(join(data, name)).mode & 0o777]));
  const umask = process.umask(0);
  try {
    for (const round of ["new", "again"]) {
      const service = await startService({
        args: ["--data", data, "--demo", "devices=4"],
        credentials: null,
      });
      const found = modes();
      expect([round, Object.keys(found).sort()]).toEqual([
        round,
        ["first-password", "log.sqlite", "log.sqlite-lock", "log.sqlite-shm", "log.sqlite-wal", "users"],
      ]);
      expect([...new Set(Object.values(found))]).toEqual([0o600]);
      expect(statSync(data).mode & 0o777).toBe(0o700);
      await service.kill();
      for (const name of Object.keys(found)) if (name.startsWith("log")) chmodSync(join(data, name), 0o644);
    }
  } finally {
    process.umask(umask);
  }
});

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
