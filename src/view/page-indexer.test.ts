import { expect, test } from "bun:test";
import { ClaimedNetwork, snapshotNow } from "../../test/support/claims.ts";
import { runToEnd } from "../lib/steps.ts";
import type { Host } from "../model/entity.ts";
import { EncodedPage } from "./encoded-page.ts";
import { Indexes } from "./indexes.ts";
import { PageIndexer } from "./page-indexer.ts";
import { View } from "./view.ts";

const usual: Host = {
  id: "",
  mac: "00:00:00:00:00:01",
  vlan: "None",
  innerVlan: "None",
  outerTpid: "0x0000",
  configured: false,
  suspended: false,
  ipAddresses: ["10.0.0.1"],
  locations: [{ elementId: "of:0000000000000001", port: "1" }],
  location: { elementId: "of:0000000000000001", port: "1" },
  annotations: { name: "printer" },
  firstSeen: "2026-01-01T00:00:00.000Z",
  lastChanged: "2026-01-01T00:00:00.000Z",
  sources: ["a"],
  revision: 7,
};
const at = (...devices: string[]) => devices.map((elementId) => ({ elementId, port: "1" }));

/** Texts that could be taken for marks, numbers or the end of a string, and those that a key is not made of unchanged. */
const TEXTS = [
  "printer",
  "",
  "Printer",
  "S0",
  "s1",
  'a"b',
  "a\\",
  "a\\u0041",
  "ü",
  "👾",
  "\u0001",
  "x:5,",
  "true",
];
const CHANGES: readonly Partial<Host>[] = [
  ...TEXTS.map((name) => ({ annotations: { name } })),
  ...TEXTS.map((conflict) => ({ annotations: { name: "x", conflict } })),
  ...TEXTS.map((text) => ({ annotations: { [text]: "x", name: "y" } })),
  ...TEXTS.map((text) => ({ locations: at(text || "Core-1") })),
  ...TEXTS.map((text) => ({ locations: at(text || "Core-1", "core-1") })),
  ...TEXTS.map((text) => ({ sources: ["a", text || "b"] })),
  ...["1.2.3.4", "255.255.255.255", "0.0.0.0", "fe80::1", "::"].map((ip) => ({ ipAddresses: [ip] })),
  { locations: at("Core-1", "CORE-1") },
  { ipAddresses: [] },
  { ipAddresses: ["10.0.0.1", "fe80::1"] },
  ...[0, 12, -1, 1.5, 1e30].map((revision) => ({ revision })),
  { annotations: { 10: "x", 9: "y", name: "z" } },
  { drift: { state: "differs", since: "2026-01-01T00:00:00.000Z" } },
  { drift: { state: "unplanned", since: "2026-01-01T00:00:00.000Z" } },
  { configured: true },
];

const pageOf = (hosts: readonly Host[]): EncodedPage => {
  const [page = EncodedPage.empty] = EncodedPage.empty.withChanges(
    new Map(hosts.map((host) => [host.id, JSON.stringify(host)])),
  );
  return page;
};

const contentOf = (indexes: Indexes<"hosts">) =>
  indexes.all().map(({ name, index }) => ({
    name,
    size: index.size,
    keys: index.keys().map((key) => [key, [...index.get(key)].sort()]),
  }));

for (const [name, order] of [
  ["after a usual one", CHANGES],
  ["in the other order", CHANGES.toReversed()],
] as const)
  test(`pages are indexed as their parsed values are: each host ${name}`, () => {
    for (const change of order) {
      const [scanned, parsed] = [new Indexes("hosts"), new Indexes("hosts")];
      const indexer = new PageIndexer(scanned);
      const changes = [{}, change, change, ...order];
      const hosts = changes.map((one, i) => ({ ...usual, ...one, id: `h${1000 + i}` }));
      indexer.add(pageOf(hosts.slice(0, 100)));
      indexer.add(pageOf(hosts.slice(100)));
      for (const host of hosts) parsed.update(host.id, undefined, host);
      expect(contentOf(scanned)).toEqual(contentOf(parsed));
      for (const host of hosts) scanned.update(host.id, host, undefined);
      runToEnd(scanned.tidy());
      expect(scanned.ids.count).toBe(0);
    }
  });

test("only the first value of each shape is parsed", () => {
  const hosts = Array.from({ length: 100 }, (_, i) => ({
    ...usual,
    id: `h${i}`,
    locations: at(`Core-${i}`),
    ipAddresses: i < 50 ? [`10.0.0.${i}`] : [`10.0.0.${i}`, "fe80::1"],
    annotations: { name: `Printer ${i}` },
    revision: i,
  }));
  const parsed: string[] = [];
  const length = new PageIndexer(new Indexes("hosts")).add(pageOf(hosts), ({ id }) => parsed.push(id));
  expect(parsed).toEqual(["h0", "h50"]);
  expect(length).toBe(JSON.stringify(hosts[0]).length + JSON.stringify(hosts[50]).length);
});

test("a restored view has the same host counts", async () => {
  const net = new ClaimedNetwork(["first"]);
  await net.set("first", "devices", { id: "Core-1" }, { id: "core-2" }, { id: "of:000000000000000A" });
  const locations = [
    at("core-1"),
    at("core-2"),
    at("core-2"),
    at("core-2", "CORE-1"),
    at("of:000000000000000a"),
  ];
  const hosts = locations.map((where, i) => ({
    mac: `00:00:00:00:00:0${i}`,
    vlan: "None",
    locations: where,
  }));
  await net.set("first", "hosts", ...hosts);
  const restored = new View();
  restored.load(snapshotNow(net.view));
  const countsOf = (view: View) => {
    const { located, multihomed } = runToEnd(view.capture().hostCounts());
    return [new Map(located.entries()), new Map(multihomed.entries())];
  };
  expect(countsOf(restored)).toEqual(countsOf(net.view));
  expect(countsOf(restored)[0]?.get("Core-1")).toBe(2);
});
