/** Devices of several sources that are one by the rules of identity, case by case. */
import { describe, expect, test } from "bun:test";
import { ClaimedNetwork, describeBatch, openMemoryLog } from "../../../test/support/claims.ts";
import type { Log } from "../../log/log.ts";
import type { DeviceClaim } from "../../model/claim.ts";
import { IDENTITY_RULES, type IdentityRule, type MergeSettings } from "../../model/merge-settings.ts";
import { restoreView } from "../restore.ts";

const settings = (
  identity: readonly IdentityRule[] = IDENTITY_RULES,
  untrusted: string[] = [],
  others: string[] = [],
): MergeSettings => ({
  identity,
  sources: ["openflow", "snmp", "file", ...others].map((name) => ({
    name,
    role: "observed",
    merge: !untrusted.includes(name),
  })),
});

const VALUES: Readonly<Record<IdentityRule, Omit<DeviceClaim, "id">>> = {
  chassisId: { chassisId: "aa:bb:cc:dd:ee:01" },
  serial: { serial: "FOX1" },
  managementAddress: { annotations: { managementAddress: "192.0.2.1" } },
  systemName: { annotations: { name: "core" } },
};

const ids = (net: ClaimedNetwork) => net.all("devices").map(({ id }) => id);
const conflictOf = (net: ClaimedNetwork, id: string) => net.shown("devices", id)?.annotations.conflict;

describe.each(IDENTITY_RULES.map((rule) => [rule]))("the rule %s", (rule) => {
  const value = VALUES[rule];

  test("joins two devices, and none where it is not configured", async () => {
    const net = new ClaimedNetwork(settings([rule]));
    await net.set("snmp", "devices", { id: "lldp:1", ...value });
    await net.set("openflow", "devices", { id: "of:1", ...value });
    expect(net.shown("devices", "of:1")).toMatchObject({
      aliases: ["lldp:1"],
      sources: ["openflow", "snmp"],
    });
    expect(ids(net)).toEqual(["of:1"]);
    const without = new ClaimedNetwork(settings(IDENTITY_RULES.filter((other) => other !== rule)));
    await without.set("snmp", "devices", { id: "lldp:1", ...value });
    await without.set("openflow", "devices", { id: "of:1", ...value });
    expect(ids(without)).toEqual(["lldp:1", "of:1"]);
  });

  const claims = [
    ["openflow", { id: "of:1", ...value }],
    ["snmp", { id: "lldp:1", ...value }],
    ["snmp", { id: "lldp:2", ...value }],
  ] as const;
  const ORDERS = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]; // biome-ignore format: a table
  test.each(ORDERS.map((order) => [order]))(
    "a copy undoes the match and is flagged, in the order %j",
    async (order) => {
      const net = new ClaimedNetwork(settings());
      for (const i of order) {
        const [source, claim] = claims[i] ?? claims[0];
        await net.set(source, "devices", claim);
      }
      expect(ids(net)).toEqual(["lldp:1", "lldp:2", "of:1"]);
      for (const id of ids(net)) expect(conflictOf(net, id)).toEndWith("is that of several devices of snmp");
      await net.remove("snmp", "devices", "lldp:2");
      expect(ids(net)).toEqual(["of:1"]);
      expect(conflictOf(net, "of:1")).toBeUndefined();
    },
  );

  test("does not join a source with merge: false; an equal id does", async () => {
    const net = new ClaimedNetwork(settings(IDENTITY_RULES, ["file"]));
    await net.set("openflow", "devices", { id: "of:1", ...value });
    await net.set("file", "devices", { id: "forged", ...value }, { id: "OF:1", mfr: "m" });
    expect(ids(net)).toEqual(["forged", "of:1"]);
    expect(net.shown("devices", "of:1")).toMatchObject({ mfr: "m", sources: ["openflow", "file"] });
    for (const id of ids(net)) expect(conflictOf(net, id)).toBeUndefined();
  });
});

test("a device that matches two of one source by different rules is joined with neither", async () => {
  const net = new ClaimedNetwork(settings());
  await net.set("snmp", "devices", { id: "lldp:1", serial: "FOX1" }, { id: "lldp:2", chassisId: "77" });
  await net.set("openflow", "devices", { id: "of:1", serial: "FOX1", chassisId: "77" });
  expect(ids(net)).toEqual(["lldp:1", "lldp:2", "of:1"]);
  expect(conflictOf(net, "of:1")).toBe(
    "not joined with lldp:1 of snmp, lldp:2 of snmp: two devices of snmp would be one",
  );
  for (const id of ["lldp:1", "lldp:2"])
    expect(conflictOf(net, id)).toBe(
      "not joined with of:1 of openflow: two devices of one source would be one",
    );
  // Another device takes the place of one of them.
  await net.apply(
    "snmp",
    { op: "remove", kind: "devices", id: "lldp:2" },
    { op: "set", kind: "devices", claim: { id: "lldp:3", chassisId: "77" } },
  );
  expect(conflictOf(net, "of:1")).toContain("lldp:1 of snmp, lldp:3 of snmp: ");
});

test("a conflict names a few devices, and not all of a long id", async () => {
  const sources = ["openflow", "snmp", "snmp", "file", "open"];
  const net = new ClaimedNetwork({
    identity: IDENTITY_RULES,
    sources: [...new Set(sources)].map((name) => ({ name, role: "observed", merge: true })),
  });
  const annotations = { name: "core", managementAddress: "192.0.2.1" };
  await net.set("openflow", "devices", { id: "of:1", ...VALUES.chassisId, ...VALUES.serial, annotations });
  for (const [i, rule] of IDENTITY_RULES.entries())
    await net.set(sources[i + 1] ?? "", "devices", { id: `${rule}:${"x".repeat(200)}`, ...VALUES[rule] });
  const cut = (id: string) => id.padEnd(64, "x");
  expect(conflictOf(net, "of:1")).toBe(
    `not joined with ${cut("chassisid:")} of snmp, ${cut("managementaddress:")} of file, ${cut("serial:")} of snmp and 1 more: two devices of snmp would be one`,
  );
});

test("a conflict names the source that claims both devices, also when that is another one", async () => {
  const net = new ClaimedNetwork(settings(IDENTITY_RULES, ["file", "open"], ["open"]));
  await net.set("openflow", "devices", { id: "of:1", serial: "FOX1" });
  await net.set("snmp", "devices", { id: "lldp:1", serial: "FOX1" });
  const both = [{ id: "of:1" }, { id: "lldp:1" }];
  await net.set("file", "devices", ...both);
  const text = (source: string) => `not joined with lldp:1 of snmp: two devices of ${source} would be one`;
  expect(conflictOf(net, "of:1")).toBe(text("file"));
  await net.set("open", "devices", ...both);
  expect(conflictOf(net, "of:1")).toBe(text("file, open"));
  await net.remove("file", "devices", "lldp:1");
  expect(conflictOf(net, "of:1")).toBe(text("open"));
  await net.remove("open", "devices", "lldp:1");
  expect(ids(net)).toEqual(["of:1"]);
});

test("the same value on many devices of one source changes none of them when another source has it", async () => {
  const net = new ClaimedNetwork(settings());
  const many = Array.from({ length: 20 }, (_, i) => ({ id: `lldp:${i}`, serial: "FOX1" }));
  await net.set("snmp", "devices", ...many);
  const batch = await net.set("openflow", "devices", { id: "of:1", serial: "FOX1" });
  expect(describeBatch(batch)).toEqual(["added devices of:1"]);
  expect(conflictOf(net, "of:1")).toBe("serial fox1 is that of several devices of snmp");
});

test("one source alone has no conflict with itself", async () => {
  const net = new ClaimedNetwork(settings());
  await net.set("snmp", "devices", { id: "lldp:1", serial: "FOX1" }, { id: "lldp:2", serial: "FOX1" });
  for (const id of ids(net)) expect(conflictOf(net, id)).toBeUndefined();
});

/** Known to SNMP, with a port, a link and a host; then to OpenFlow, which numbers its ports in another way. */
async function knownToTwo(log?: Log): Promise<ClaimedNetwork> {
  const net = new ClaimedNetwork(settings(), log);
  await net.set("snmp", "devices", { id: "lldp:1", serial: "FOX1", sw: "5.0" }, { id: "lldp:2" });
  await net.set("snmp", "ports", {
    element: "lldp:1",
    port: "10101",
    portSpeed: 10,
    annotations: { portName: "Gi0/1" },
  });
  await net.set("snmp", "links", {
    src: { device: "lldp:1", port: "10101" },
    dst: { device: "lldp:2", port: "1" },
  });
  await net.set("snmp", "hosts", {
    mac: "00:00:00:00:00:01",
    locations: [{ elementId: "lldp:1", port: "10101" }],
  });
  await net.set("openflow", "ports", { element: "of:1", port: "1", annotations: { portName: "gi0/1" } });
  return net;
}

describe("a device that a better source reports", () => {
  test("has its id, with ports, links and hosts, in one revision", async () => {
    const net = await knownToTwo();
    const { firstSeen } = net.shown("devices", "lldp:1") ?? {};
    await net.clock.advance(60_000);
    const batch = await net.set("openflow", "devices", { id: "of:1", serial: "fox1", sw: "4.2" });
    expect(describeBatch(batch)).toEqual([
      "added devices of:1",
      "added links of:1/1-lldp:2/1",
      "added ports of:1/1",
      "removed devices lldp:1",
      "removed links lldp:1/10101-lldp:2/1",
      "removed ports lldp:1/10101",
      "updated hosts 00:00:00:00:00:01/None (locations, location)",
    ]);
    expect(net.shown("devices", "of:1")).toMatchObject({ sw: "4.2", aliases: ["lldp:1"], firstSeen });
    expect(net.shown("ports", "of:1/1")).toMatchObject({ portSpeed: 10, sources: ["openflow", "snmp"] });
    expect(net.view.heldBack).toEqual({ devices: 0, ports: 0, links: 0, hosts: 0 });
  });

  test("keeps that id as an alias when the source withdraws it, until it is claimed again", async () => {
    const net = await knownToTwo();
    await net.set("openflow", "devices", { id: "of:1", serial: "FOX1" });
    const batch = await net.remove("openflow", "devices", "of:1");
    expect(describeBatch(batch)).toContain("added devices lldp:1");
    expect(net.shown("devices", "lldp:1")?.aliases).toEqual(["of:1"]);
    expect(net.shown("links", "lldp:1/10101-lldp:2/1")).toBeDefined();
    await net.set("snmp", "devices", { id: "lldp:1", serial: "FOX1", sw: "5.1" });
    expect(net.shown("devices", "lldp:1")?.aliases).toEqual(["of:1"]);
    await net.set("openflow", "devices", { id: "of:1", serial: "another" });
    expect(net.shown("devices", "lldp:1")?.aliases).toBeUndefined();
    expect(ids(net)).toEqual(["lldp:1", "lldp:2", "of:1"]);
  });

  test("is what each source claimed when the sources report all their claims again", async () => {
    const net = await knownToTwo();
    await net.set("openflow", "devices", { id: "of:1", serial: "FOX1" });
    const { devices, ports, links } = await net.source("snmp").lastClaims();
    expect([...(devices ?? [])].map(({ id }) => id).sort()).toEqual(["lldp:1", "lldp:2"]);
    expect([...(ports ?? [])]).toMatchObject([{ element: "lldp:1", port: "10101" }]);
    expect([...(links ?? [])]).toMatchObject([{ src: { device: "lldp:1" } }]);
    await net.source("snmp").replace({ devices: [{ id: "lldp:1", serial: "FOX1" }] });
    expect(net.shown("devices", "of:1")?.sources).toEqual(["openflow", "snmp"]);
    expect(net.shown("ports", "of:1/1")?.sources).toEqual(["openflow"]);
    expect(net.all("links")).toEqual([]);
  });

  test("is not joined when the append fails, and is joined by the next commit", async () => {
    const log = openMemoryLog();
    let fails = false;
    const append = log.append.bind(log);
    log.append = (batch) => (fails ? Promise.reject(new Error("disk full")) : append(batch));
    const net = await knownToTwo(log);
    fails = true;
    await expect(net.set("openflow", "devices", { id: "of:1", serial: "FOX1" })).rejects.toThrow("disk full");
    expect(net.view.indexes("claims").named("joined").size).toBe(0);
    expect(net.view.indexes("claims").named("claimedAs").size).toBe(0);
    expect([...net.view.indexes("devices").named("identity").get("serial\u0000fox1\u0000snmp")]).toEqual([
      "lldp:1",
    ]);
    fails = false;
    await net.set("openflow", "devices", { id: "of:1", serial: "FOX1" });
    expect(ids(net)).toEqual(["lldp:2", "of:1"]);
  });
});

describe("other settings", () => {
  test("join and separate what is there", async () => {
    const net = new ClaimedNetwork(settings(["chassisId"]));
    await net.set("snmp", "devices", { id: "lldp:1", serial: "FOX1" });
    await net.set("openflow", "devices", { id: "of:1", serial: "FOX1" });
    await net.committer.setSettings(settings(["serial"]));
    expect(ids(net)).toEqual(["of:1"]);
    await net.committer.setSettings(settings([]));
    expect(ids(net)).toEqual(["lldp:1", "of:1"]);
  });

  test("another order of the sources gives another id", async () => {
    const net = await knownToTwo();
    await net.set("openflow", "devices", { id: "of:1", serial: "FOX1" });
    const { identity, sources } = settings();
    await net.committer.setSettings({ identity, sources: sources.toReversed() });
    expect(net.shown("devices", "lldp:1")).toMatchObject({
      aliases: ["of:1"],
      sources: ["snmp", "openflow"],
    });
    expect(net.shown("ports", "lldp:1/10101")?.sources).toEqual(["snmp", "openflow"]);
    expect(net.shown("links", "lldp:1/10101-lldp:2/1")).toBeDefined();
  });
});

test("a planned device is joined too, and gives neither id nor alias nor source", async () => {
  const { identity, sources } = settings();
  const planned: MergeSettings = {
    identity,
    sources: [{ name: "plan", role: "intended", merge: true }, ...sources],
  };
  const net = new ClaimedNetwork(planned);
  await net.set("plan", "devices", { id: "rack1-u1", serial: "FOX1" });
  await net.set("snmp", "devices", { id: "lldp:1", serial: "FOX1" });
  expect(ids(net)).toEqual(["lldp:1"]);
  expect(net.shown("devices", "lldp:1")).toMatchObject({ sources: ["snmp"] });
  expect(net.shown("devices", "lldp:1")?.aliases).toBeUndefined();
  await net.set("openflow", "devices", { id: "of:1", serial: "FOX1" });
  expect(net.shown("devices", "of:1")).toMatchObject({ sources: ["openflow", "snmp"], aliases: ["lldp:1"] });
});

describe("what refers to a joined device by the id of the plan", () => {
  const planned = (role: "observed" | "intended"): MergeSettings => ({
    identity: ["serial"],
    sources: [
      { name: "openflow", role, merge: true },
      { name: "plan", role: "intended", merge: true },
      { name: "snmp", role: "observed", merge: true },
    ],
  });
  const link = { src: { device: "rack1-u1", port: "1" }, dst: { device: "lldp:2", port: "1" } };

  test("is shown once the device is", async () => {
    const net = new ClaimedNetwork(planned("intended"));
    await net.set("plan", "devices", { id: "rack1-u1", serial: "FOX1" });
    await net.set("openflow", "devices", { id: "of:1", serial: "FOX1" });
    await net.set("snmp", "devices", { id: "lldp:2" });
    await net.set("snmp", "links", link);
    expect(net.all("links")).toEqual([]);
    await net.committer.setSettings(planned("observed"));
    expect(net.all("links").map(({ id }) => id)).toEqual(["of:1/1-lldp:2/1"]);
  });

  test("is missing with the id that the device has now", async () => {
    const net = new ClaimedNetwork(planned("observed"));
    await net.sync("openflow", "plan", "snmp");
    await net.set("openflow", "devices", { id: "Leaf", serial: "FOX1" });
    await net.set("plan", "devices", { id: "rack1-u1", serial: "FOX1" }, { id: "lldp:2" });
    await net.set("plan", "links", link);
    expect(net.missing("links", "Leaf/1-lldp:2/1")).toBeDefined();
    await net.set("openflow", "devices", { id: "leaf", serial: "FOX1" });
    expect(net.missing("links", "leaf/1-lldp:2/1")).toBeDefined();
    expect(net.missing("links", "Leaf/1-lldp:2/1")).toBeUndefined();
  });
});

describe("an ambiguous plan", () => {
  const { identity, sources } = settings();
  const planned: MergeSettings = {
    identity,
    sources: [{ name: "plan", role: "intended", merge: true }, ...sources],
  };

  test.each([
    ["a serial number twice", [{ id: "rack1", serial: "FOX1" }, { id: "rack2", serial: "FOX1" }]],
    ["two devices that are one", [{ id: "rack1", serial: "FOX1" }, { id: "rack2", chassisId: "a1" }]],
  ])("separates nothing that is observed: %s", async (_, devices) => {
    for (const isFirst of [true, false]) {
      const net = new ClaimedNetwork(planned);
      await net.sync("plan", "openflow", "snmp", "file");
      if (isFirst) await net.set("plan", "devices", ...devices);
      await net.set("snmp", "devices", { id: "lldp:1", serial: "FOX1" });
      await net.set("openflow", "devices", { id: "of:1", serial: "FOX1", chassisId: "a1" });
      if (!isFirst) await net.set("plan", "devices", ...devices);
      expect(net.all("devices")).toMatchObject([{ id: "of:1", aliases: ["lldp:1"], drift: { state: "unplanned" } }]);
      expect(conflictOf(net, "of:1")).toMatch(/(several|two) devices of plan/);
      for (const { id } of devices) expect(net.missing("devices", id)).toBeDefined();
    }
  }); // biome-ignore format: a table
});

test("a device that gets another id is connected since the same time", async () => {
  const net = new ClaimedNetwork(settings());
  await net.set("snmp", "devices", { id: "lldp:1", serial: "FOX1" });
  const { lastUpdate, humanReadableLastUpdate } = net.shown("devices", "lldp:1") ?? {};
  await net.clock.advance(60_000);
  await net.set("openflow", "devices", { id: "of:1", serial: "FOX1" });
  expect(net.shown("devices", "of:1")).toMatchObject({ lastUpdate, humanReadableLastUpdate });
  await net.clock.advance(60_000);
  await net.remove("openflow", "devices", "of:1");
  expect(net.shown("devices", "lldp:1")).toMatchObject({ lastUpdate, humanReadableLastUpdate });
});

describe("the index of what identifies devices", () => {
  const identified = (net: ClaimedNetwork) => net.view.findIndex("devices", "identity")?.keys();

  test("is not built where nothing can be joined", async () => {
    const net = new ClaimedNetwork({ ...settings(), sources: settings().sources.slice(0, 1) });
    await net.set("openflow", "devices", { id: "of:1", serial: "FOX1" });
    expect(identified(net)).toBeUndefined();
    expect(restoreView(net.log).view.findIndex("devices", "identity")).toBeUndefined();
  });

  test("is built from what is known when a second source can be joined, and then kept up to date", async () => {
    const only = { ...settings(), sources: settings().sources.slice(0, 1) };
    const net = new ClaimedNetwork(only);
    await net.set("openflow", "devices", { id: "of:1", serial: "FOX1" }, { id: "of:2", serial: "FOX2" });
    await net.committer.setSettings(settings());
    expect(identified(net)?.map((key) => key.split("\0"))).toEqual([
      ["serial", "fox1", "openflow"],
      ["serial", "fox2", "openflow"],
    ]);
    await net.set("openflow", "devices", { id: "of:2", serial: "FOX3" });
    expect(identified(net)?.map((key) => key.split("\0")[1])).toEqual(["fox1", "fox3"]);
  });
});
