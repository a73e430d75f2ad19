/** What a commit that touches a joined device reads of its ports. */
import { expect, test } from "bun:test";
import { ClaimedNetwork } from "../../../test/support/claims.ts";

const PORTS = 40;
const mac = (n: number) => `02:00:00:00:00:${n.toString(16).padStart(2, "0")}`;
const portOf = (element: string, n: number, first: number, more: object = {}) => ({
  element,
  port: String(first + n),
  annotations: { portMac: mac(n) },
  ...more,
});

/** A device of two sources that number its ports in different ways. */
async function joinedDevice(): Promise<ClaimedNetwork> {
  const net = new ClaimedNetwork(["openflow", "snmp"]);
  await net.set("openflow", "devices", { id: "of:1", serial: "FOX1" });
  await net.set("snmp", "devices", { id: "lldp:1", serial: "FOX1" });
  for (const [source, element, first] of [["openflow", "of:1", 1], ["snmp", "lldp:1", 101]] as const)
    await net.set(source, "ports", ...Array.from({ length: PORTS }, (_, n) => portOf(element, n, first))); // biome-ignore format: a table
  return net;
}

/** How often the ports of a device are listed meanwhile. */
async function listings(net: ClaimedNetwork, commit: () => Promise<unknown>): Promise<number> {
  const { view } = net;
  const range = view.range.bind(view);
  let count = 0;
  view.range = (kind, from, to) => {
    if (kind === "ports") count++;
    return range(kind, from, to);
  };
  await commit();
  view.range = range;
  return count;
}

const hostAt = (n: number) => ({ mac: mac(n), locations: [{ elementId: "lldp:1", port: String(101 + n) }] });

test("ports are matched once, and again when they or the joined devices change", async () => {
  const net = await joinedDevice();
  expect(net.all("ports")).toHaveLength(PORTS);
  const host = (n: number) => net.set("snmp", "hosts", hostAt(n));
  await host(0);
  expect(await listings(net, () => host(1))).toBe(0);
  const disabled = portOf("lldp:1", 3, 101, { isEnabled: false });
  expect(await listings(net, () => net.set("snmp", "ports", disabled))).toBe(0);
  expect(net.all("hosts").map(({ location }) => location)).toEqual([
    { elementId: "of:1", port: "1" },
    { elementId: "of:1", port: "2" },
  ]);

  const moved = portOf("lldp:1", 1, 101, { annotations: { portMac: mac(99) } });
  expect(await listings(net, () => net.set("snmp", "ports", moved))).toBeGreaterThan(0);
  expect(net.all("hosts").at(1)?.location).toEqual({ elementId: "of:1", port: "102" });
  await host(2);
  expect(await listings(net, () => host(3))).toBe(0);

  await net.set("snmp", "devices", { id: "lldp:1", serial: "FOX2" });
  expect(net.all("hosts").at(0)?.location).toEqual({ elementId: "lldp:1", port: "101" });
  await net.set("snmp", "ports", portOf("lldp:1", 1, 101));
  await net.set("snmp", "devices", { id: "lldp:1", serial: "FOX1" });
  expect(net.all("hosts").map(({ location }) => location.port)).toEqual(["1", "2", "3", "4"]);
});
