/**
 * A network full of edge cases, as the four lists of ONOS: both ONOS's REST application and the file source read it.
 * Devices that are not available, ids in upper case, the port LOCAL, links of every type and state, links in one
 * direction, parallel links, hosts with VLANs, several and auxiliary locations, and text that needs escaping.
 */
const LAST_UPDATE = "1700000000000";

const device = (id: string, fields: Readonly<Record<string, unknown>> = {}) => ({
  id,
  type: "SWITCH",
  available: true,
  role: "MASTER",
  mfr: "Nicira, Inc.",
  hw: "Open vSwitch",
  sw: "2.17.9",
  serial: "None",
  driver: "ovs",
  chassisId: "1",
  lastUpdate: LAST_UPDATE,
  humanReadableLastUpdate: "connected 1h ago",
  annotations: { managementAddress: "192.0.2.1", channelId: "192.0.2.1:4000", protocol: "OF_13" },
  ...fields,
});

const port = (element: string, number: string, fields: Readonly<Record<string, unknown>> = {}) => ({
  element,
  port: number,
  isEnabled: true,
  type: "copper",
  portSpeed: 10_000,
  annotations: { portName: `eth${number}` },
  ...fields,
});

const link = (src: string, dst: string, fields: Readonly<Record<string, unknown>> = {}) => ({
  src: endOf(src),
  dst: endOf(dst),
  type: "DIRECT",
  state: "ACTIVE",
  ...fields,
});

function endOf(point: string): { port: string; device: string } {
  const [device = "", port = ""] = point.split("/");
  return { port, device };
}

const bothWays = (src: string, dst: string, fields: Readonly<Record<string, unknown>> = {}) => [
  link(src, dst, fields),
  link(dst, src, fields),
];

const host = (
  mac: string,
  vlan: string,
  locations: readonly string[],
  fields: Readonly<Record<string, unknown>> = {},
) => ({
  id: `${mac}/${vlan}`,
  mac,
  vlan,
  innerVlan: "None",
  outerTpid: "0x0000",
  configured: false,
  suspended: false,
  ipAddresses: [],
  locations: locations.map(locationOf),
  ...fields,
});

function locationOf(point: string): { elementId: string; port: string } {
  const [elementId = "", port = ""] = point.split("/");
  return { elementId, port };
}

const [A, B, C, D, E] = ["a1", "b2", "c3", "d4", "e5"].map((end) => `of:00000000000000${end}`) as [
  string,
  string,
  string,
  string,
  string,
];
const NETCONF = "netconf:192.0.2.9:830";
const ROADM = "rest:roadm-1";
export const DEVICE_IDS = { A, B, C, D, E, NETCONF, ROADM };

export const NETWORK = {
  devices: [
    device(A),
    device(B, {
      annotations: { ...device(B).annotations, name: 'spine "2" \\ ☃', latitude: "50.1", firstSeen: "x" },
    }),
    device(C, { type: "ROUTER", role: "STANDBY", chassisId: "ff" }),
    device(D, { available: false, role: "NONE" }),
    device(E),
    // ONOS compares and serves ids in lower case.
    device("NETCONF:192.0.2.9:830", {
      driver: "netconf",
      annotations: { ...device(A).annotations, id: "x" },
    }),
    device(ROADM, { type: "ROADM_OTN", driver: "default", chassisId: "0" }),
  ],
  ports: [
    port(A, "1"),
    port(A, "2", { isEnabled: false, type: "fiber", portSpeed: 0 }),
    port(A, "3"),
    port(A, "4", { annotations: {} }),
    port(A, "local", { annotations: { portName: "br0" } }),
    ...["1", "2", "3", "local"].map((number) => port(B, number)),
    port(B, "[eth9](9)", { annotations: { portName: "eth9" } }),
    ...["1", "2", "3", "4294967040"].map((number) => port(C, number)),
    port(D, "1"),
    port("NETCONF:192.0.2.9:830", "1"),
    port(ROADM, "1", { type: "och" }),
    port(ROADM, "2", { type: "oms" }),
    port(ROADM, "3", { type: "otu" }),
    port(ROADM, "4", { type: "oduclt" }),
    port(ROADM, "5", { type: "packet" }),
    port(ROADM, "6", { type: "virtual" }),
  ],
  links: [
    ...bothWays(`${A}/1`, `${B}/1`),
    ...bothWays(`${A}/2`, `${B}/2`, { annotations: { protocol: "LLDP", id: "x", firstSeen: "x" } }),
    ...bothWays(`${B}/3`, `${C}/1`),
    ...bothWays(`${A}/3`, `${C}/2`, { state: "INACTIVE" }),
    // The device at the other end is not available.
    ...bothWays(`${C}/3`, `${D}/1`),
    // One direction only.
    link(`${A}/4`, `${E}/1`, { type: "TUNNEL" }),
    ...bothWays(`${B}/local`, `${E}/local`, { type: "VIRTUAL" }),
    ...bothWays(`NETCONF:192.0.2.9:830/1`, `${C}/4`, { type: "INDIRECT" }),
    ...bothWays(`${ROADM}/1`, `${ROADM}/2`, { type: "OPTICAL" }),
  ],
  hosts: [
    host("00:00:00:00:00:01", "None", [`${A}/7`], { ipAddresses: ["10.0.0.1"] }),
    host("00:00:00:00:00:AB", "10", [`${B}/7`], {
      ipAddresses: ["10.0.0.2", "2001:db8::2"],
      innerVlan: "20",
    }),
    host("00:00:00:00:00:03", "None", [`${A}/8`, `${C}/8`], { configured: true }),
    host("00:00:00:00:00:04", "None", [`${C}/local`], { suspended: true, outerTpid: "0x88a8" }),
    host("00:00:00:00:00:05", "None", ["NETCONF:192.0.2.9:830/2"], {
      annotations: { name: 'printer "1"', location: "x", firstSeen: "x" },
    }),
    host("00:00:00:00:00:06", "None", [`${A}/9`], {
      auxLocations: [
        { elementId: B, port: "9" },
        { elementId: C, port: "local" },
      ],
    }),
    host("00:00:00:00:00:07", "None", [`${D}/2`]),
    host("00:00:00:00:00:08", "Any", [`${E}/2`]),
  ],
} as const;

export const ONOS_CREDENTIALS = "onos:rocks";
