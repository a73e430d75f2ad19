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
const macs = (cache: LocalCache) => [...cache.all("hosts").values()].map(({ mac }) => mac);
const fields = { resource: "hosts", time: 0, last: true } as const;

test("applies snapshots and changes", () => {
  const cache = new LocalCache();
  expect(cache.revision).toBeUndefined();
  cache.apply({ type: "snapshot", resource: "hosts", revision: 1, value: host("A") });
  expect(macs(cache)).toEqual([]);
  cache.apply({ type: "synced", revision: 4 });
  expect(macs(cache)).toEqual(["A"]);
  cache.apply({ ...fields, type: "added", revision: 5, value: host("B"), last: false });
  expect(cache.revision).toBe(4);
  cache.apply({
    ...fields,
    type: "updated",
    revision: 5,
    value: host("B", ["10.0.0.1"]),
    changed: ["ipAddresses"],
  });
  expect(cache.revision).toBe(5);
  expect(cache.all("hosts").get("B/None")?.ipAddresses).toEqual(["10.0.0.1"]);
  cache.apply({ ...fields, type: "removed", revision: 6, value: host("A") });
  expect(macs(cache)).toEqual(["B"]);
});

test("after a reset the old entities stay until the new snapshot is complete", () => {
  const cache = new LocalCache();
  cache.apply({ type: "snapshot", resource: "hosts", revision: 1, value: host("A") });
  cache.apply({ type: "synced", revision: 1 });
  cache.apply({ type: "reset" });
  cache.apply({ type: "snapshot", resource: "hosts", revision: 9, value: host("C") });
  cache.apply({ type: "reset" });
  cache.apply({ type: "snapshot", resource: "hosts", revision: 10, value: host("D") });
  expect(macs(cache)).toEqual(["A"]);
  expect(cache.revision).toBe(1);
  cache.apply({ type: "synced", revision: 10 });
  expect(macs(cache)).toEqual(["D"]);
});

test("an empty snapshot is a valid state", () => {
  const cache = new LocalCache();
  cache.apply({ type: "synced", revision: 3 });
  expect(macs(cache)).toEqual([]);
  expect(cache.revision).toBe(3);
});
