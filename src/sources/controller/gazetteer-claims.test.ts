import { expect, test } from "bun:test";
import type { Device, Host, Link, Port } from "../../model/entity.ts";
import { claimOf } from "./gazetteer.ts";

const tracking = {
  firstSeen: "2026-11-15T01:00:00.000Z",
  lastChanged: "2026-11-15T01:00:00.000Z",
  sources: ["openflow"],
  revision: 7,
};
const claimed = (result: ReturnType<typeof claimOf>) => (result.ok ? result.claim : undefined);

test("a device: not what the other service adds or does not know", () => {
  const device: Device = {
    id: "of:0000000000000001",
    type: "SWITCH",
    available: false,
    role: "NONE",
    mfr: "unknown",
    hw: "unknown",
    sw: "2.17",
    serial: "unknown",
    driver: "default",
    chassisId: "0",
    lastUpdate: "1700000000000",
    humanReadableLastUpdate: "disconnected since 2023-11-14T22:13:20Z",
    annotations: { channelId: "", managementAddress: "192.0.2.1", protocol: "", name: "" },
    ...tracking,
  };
  expect(claimed(claimOf("devices", device))).toEqual({
    id: "of:0000000000000001",
    type: "SWITCH",
    available: false,
    role: "NONE",
    sw: "2.17",
    lastUpdate: "1700000000000",
    annotations: { managementAddress: "192.0.2.1", name: "" },
  });
});

test("a link: its text about a conflict is not repeated, whether it is verified is", () => {
  const link: Link = {
    src: { port: "1", device: "a" },
    dst: { port: "local", device: "b" },
    type: "DIRECT",
    state: "INACTIVE",
    annotations: { conflict: "port a/1 has another link to c/1" },
    id: "a/1-b/local",
    bidirectional: true,
    verified: false,
    ...tracking,
  };
  const { src, dst } = link;
  expect(claimed(claimOf("links", link))).toEqual({
    src,
    dst,
    type: "DIRECT",
    state: "INACTIVE",
    verified: false,
  });
});

test("a port and a host", () => {
  const port: Port = {
    element: "a",
    port: "1",
    isEnabled: true,
    type: "copper",
    portSpeed: 0,
    annotations: { portName: "eth1" },
    ...tracking,
  };
  const { firstSeen, lastChanged, sources, revision, ...portFields } = port;
  expect(claimed(claimOf("ports", port))).toEqual(portFields);
  const host: Host = {
    id: "00:00:00:00:00:01/10",
    mac: "00:00:00:00:00:01",
    vlan: "10",
    innerVlan: "None",
    outerTpid: "0x0000",
    configured: false,
    suspended: false,
    ipAddresses: ["10.0.0.1"],
    locations: [
      { elementId: "b", port: "2" },
      { elementId: "a", port: "1" },
    ],
    location: { elementId: "b", port: "2" },
    annotations: { conflict: "10.0.0.1 is also claimed by …", name: "x" },
    ...tracking,
  };
  expect(claimed(claimOf("hosts", host))).toEqual({
    mac: "00:00:00:00:00:01",
    vlan: "10",
    innerVlan: "None",
    outerTpid: "0x0000",
    configured: false,
    suspended: false,
    ipAddresses: ["10.0.0.1"],
    locations: [
      { elementId: "b", port: "2" },
      { elementId: "a", port: "1" },
    ],
    annotations: { name: "x" },
  });
});
