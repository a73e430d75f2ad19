import { expect, test } from "bun:test";
import type { Host } from "../model/entity.ts";
import { LocalCache } from "./local-cache.ts";

const host = (mac: string, ipAddresses: string[] = []): Host => ({
  id: `${mac}/None`,
  mac,
  vlan: "None",
  innerVlan: "None",
  outerTpid: "0x0000",
  configured: false,
  suspended: false,
  ipAddresses,
  locations: [{ elementId: "of:1", port: "1" }],
  location: { elementId: "of:1", port: "1" },
  firstSeen: "2026-11-15T01:00:00Z",
  lastChanged: "2026-11-15T01:00:00Z",
  sources: ["test"],
  revision: 1,
});
const macs = (mirror: LocalCache) => [...mirror.all("hosts").values()].map(({ mac }) => mac);
const facts = { resource: "hosts", time: 0, last: true } as const;

test("shows what the events add up to", () => {
  const mirror = new LocalCache();
  expect(mirror.revision).toBeUndefined();
  mirror.apply({ type: "snapshot", resource: "hosts", revision: 1, value: host("A") });
  expect(macs(mirror)).toEqual([]);
  mirror.apply({ type: "synced", revision: 4 });
  expect(macs(mirror)).toEqual(["A"]);
  mirror.apply({ ...facts, type: "added", revision: 5, value: host("B"), last: false });
  expect(mirror.revision).toBe(4);
  mirror.apply({
    ...facts,
    type: "updated",
    revision: 5,
    value: host("B", ["10.0.0.1"]),
    changed: ["ipAddresses"],
  });
  expect(mirror.revision).toBe(5);
  expect(mirror.all("hosts").get("B/None")?.ipAddresses).toEqual(["10.0.0.1"]);
  mirror.apply({ ...facts, type: "removed", revision: 6, value: host("A") });
  expect(macs(mirror)).toEqual(["B"]);
});

test("after a reset the old view stays until the new one is whole", () => {
  const mirror = new LocalCache();
  mirror.apply({ type: "snapshot", resource: "hosts", revision: 1, value: host("A") });
  mirror.apply({ type: "synced", revision: 1 });
  mirror.apply({ type: "reset" });
  mirror.apply({ type: "snapshot", resource: "hosts", revision: 9, value: host("C") });
  mirror.apply({ type: "reset" });
  mirror.apply({ type: "snapshot", resource: "hosts", revision: 10, value: host("D") });
  expect(macs(mirror)).toEqual(["A"]);
  expect(mirror.revision).toBe(1);
  mirror.apply({ type: "synced", revision: 10 });
  expect(macs(mirror)).toEqual(["D"]);
});

test("an empty snapshot is a view too", () => {
  const mirror = new LocalCache();
  mirror.apply({ type: "synced", revision: 3 });
  expect(macs(mirror)).toEqual([]);
  expect(mirror.revision).toBe(3);
});
