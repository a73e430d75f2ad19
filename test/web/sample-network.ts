/** Small networks for the unit tests of the page. */
import type { Device, Host, Link } from "../../src/model/entity.ts";
import { hostId, linkId } from "../../src/model/ids.ts";
import { Network } from "../../src/web/network.ts";

const tracking = {
  firstSeen: "2026-11-15T01:00:00Z",
  lastChanged: "2026-11-15T01:00:00Z",
  sources: ["lab"],
  revision: 1,
};

export function sampleDevice(id: string, facts: Partial<Device> = {}): Device {
  return {
    id,
    type: "SWITCH",
    available: true,
    role: "MASTER",
    mfr: "unknown",
    hw: "unknown",
    sw: "unknown",
    serial: "unknown",
    driver: "default",
    chassisId: "0",
    lastUpdate: "0",
    humanReadableLastUpdate: "",
    annotations: {},
    ...tracking,
    ...facts,
  };
}

export function sampleLink(from: string, to: string, facts: Partial<Link> = {}): Link {
  const [src, dst] = [from, to].map((end) => {
    const [device = "", port = ""] = end.split("/");
    return { port, device };
  });
  if (!src || !dst) throw new Error("two ends");
  const common = { type: "DIRECT", state: "ACTIVE", bidirectional: true, verified: true } as const;
  return { src, dst, id: linkId(src, dst), ...common, ...tracking, ...facts };
}

export function sampleHost(mac: string, at: string, ipAddresses: string[], name?: string): Host {
  const [elementId = "", port = ""] = at.split("/");
  const location = { elementId, port };
  return {
    id: hostId(mac, "None"),
    mac,
    vlan: "None",
    innerVlan: "None",
    outerTpid: "0x0000",
    configured: false,
    suspended: false,
    ipAddresses,
    locations: [location],
    location,
    ...(name !== undefined && { annotations: { name } }),
    ...tracking,
  };
}

/** Devices `a` to `d` in a row, `d` down; a cable each; hosts on `a` and `c`. */
export function sampleNetwork(): Network {
  const network = new Network();
  for (const id of ["a", "b", "c", "d"]) {
    const annotations = { name: `switch-${id}`, managementAddress: `10.0.0.${id.charCodeAt(0)}` };
    network.set({ resource: "devices", value: sampleDevice(id, { annotations, available: id !== "d" }) });
  }
  for (const [from, to] of [
    ["a/1", "b/1"],
    ["b/2", "c/1"],
    ["c/2", "d/1"],
  ] as const) {
    network.set({ resource: "links", value: sampleLink(from, to) });
    network.set({ resource: "links", value: sampleLink(to, from) });
  }
  network.set({ resource: "hosts", value: sampleHost("02:00:00:00:00:01", "a/9", ["192.0.2.1"], "desk") });
  network.set({
    resource: "hosts",
    value: sampleHost("02:00:00:00:00:02", "c/9", ["192.0.2.77", "2001:db8::7"]),
  });
  return network;
}
