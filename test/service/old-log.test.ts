/** A log that an older version wrote is converted when the service starts for the first time, and only then. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Device, Host, Link, Port } from "../../src/model/entity.ts";
import { writeOldLog } from "../support/old-log.ts";
import { startService } from "../support/service.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gazetteer-old-log-"));
});
afterAll(() => rm(folder, { recursive: true }));

test("ids, port types and annotations are in the current form, and history stays readable", async () => {
  const data = join(folder, "data");
  await writeOldLog(join(data, "log.sqlite"));
  // The sources of the log are configured but have nothing to say yet: their last claims stay.
  const config = join(folder, "gazetteer.json");
  const sources = ["first", "second"].map((name) => ({
    type: "file",
    name,
    path: join(folder, `${name}.json`),
  }));
  await writeFile(config, JSON.stringify({ data, sources }));
  const args = ["--config", config];

  await using service = await startService({ args });
  const get = async <T>(path: string): Promise<T> => {
    const response = await service.fetch(`/controller/v1/${path}`);
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json() as Promise<T>;
  };
  const { devices } = await get<{ devices: Device[] }>("devices");
  expect(devices.map(({ id, sources, mfr, firstSeen }) => ({ id, sources, mfr, firstSeen }))).toEqual([
    { id: "Leaf", sources: ["first", "second"], mfr: "maker", firstSeen: "2026-01-01T00:00:00.000Z" },
    {
      id: "of:00000000000000aa",
      sources: ["first"],
      mfr: "unknown",
      firstSeen: "2026-01-01T00:00:00.000Z",
    },
    { id: "plain", sources: ["first"], mfr: "unknown", firstSeen: "2026-01-01T00:00:00.000Z" },
  ]);
  const { ports } = await get<{ ports: Port[] }>("devices/ports");
  expect(ports.map(({ element, port, type, annotations }) => ({ element, port, type, annotations }))).toEqual(
    [
      { element: "of:00000000000000aa", port: "1", type: "oduclt", annotations: undefined },
      { element: "plain", port: "1", type: "copper", annotations: undefined },
      { element: "plain", port: "2", type: "copper", annotations: { portName: "two" } },
    ],
  );
  const { links } = await get<{ links: Link[] }>("links?device=LEAF");
  expect(links.map(({ id, bidirectional }) => ({ id, bidirectional }))).toEqual([
    { id: "Leaf/1-of:00000000000000aa/1", bidirectional: true },
    { id: "of:00000000000000aa/1-Leaf/1", bidirectional: true },
  ]);
  const { hosts } = await get<{ hosts: Host[] }>("hosts");
  expect(hosts.map(({ location }) => location)).toEqual([{ elementId: "Leaf", port: "7" }]);
  const before = await get<{ devices: Device[] }>("devices?at=1");
  expect(before.devices.map(({ id }) => id)).toEqual(["Leaf", "leaf", "of:00000000000000AA", "plain"]);
  expect(service.stderr() + service.stdout()).toContain("log converted");
  await service.stop();

  await using again = await startService({ args });
  // That the sources fail and how they are merged are revisions too, in which no entity changes.
  const response = await again.fetch("/controller/v1/topology?since=2");
  expect((await response.json()).changes).toEqual([]);
  expect(again.stderr() + again.stdout()).not.toContain("log converted");
});
