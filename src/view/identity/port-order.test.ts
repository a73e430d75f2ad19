/**
 * The ids of a joined device have an order, that of the first source that uses each: of two ports with one number, the port
 * of the earlier id keeps it. Whatever changes the order renumbers the ports, and moves what ends at them.
 */
import { expect, test } from "bun:test";
import { ClaimedNetwork } from "../../../test/support/claims.ts";
import type { MergeSettings } from "../../model/merge-settings.ts";

const settingsOf = (...names: string[]): MergeSettings => ({
  identity: ["serial"],
  sources: names.map((name) => ({ name, role: "observed", merge: true })),
});

/** One device under three ids. The second and the third source have a port 1 each, and these are not the same. */
async function withPorts(...names: string[]): Promise<ClaimedNetwork> {
  const net = new ClaimedNetwork(settingsOf(...names));
  await net.set("first", "devices", { id: "of:1", serial: "FOX1" }, { id: "of:2" });
  await net.set("second", "devices", { id: "lldp:a", serial: "FOX1" });
  await net.set("third", "devices", { id: "snmp:x", serial: "FOX1" });
  await net.set("second", "ports", { element: "lldp:a", port: "1", annotations: { portName: "eth1" } });
  await net.set("third", "ports", { element: "snmp:x", port: "1", annotations: { portName: "eth2" } });
  const dst = { device: "of:2", port: "1" };
  await net.set("second", "links", { src: { device: "lldp:a", port: "1" }, dst });
  return net;
}

const isFirst = (port: string): boolean => port === "1";
/** The name of port 1, and whether the link of the second source, at `eth1`, begins there. */
function portsOf(net: ClaimedNetwork): unknown {
  const ports = net.all("ports");
  expect(ports).toHaveLength(2);
  const [link, ...others] = net.all("links");
  expect(others).toEqual([]);
  const at = ports.find(({ port }) => port === link?.src.port);
  expect(at?.annotations?.portName).toBe("eth1");
  return ports.find(({ port }) => isFirst(port))?.annotations?.portName;
}

test("a source that uses an id too brings it forward, and back when it withdraws", async () => {
  const net = await withPorts("first", "extra", "second", "third");
  expect(portsOf(net)).toBe("eth1");
  await net.set("extra", "devices", { id: "snmp:x" });
  expect(portsOf(net)).toBe("eth2");
  await net.remove("extra", "devices", "snmp:x");
  expect(portsOf(net)).toBe("eth1");
});

test("another order of the sources renumbers the ports", async () => {
  const net = await withPorts("first", "second", "third");
  await net.committer.setSettings(settingsOf("first", "third", "second"));
  expect(portsOf(net)).toBe("eth2");
});
