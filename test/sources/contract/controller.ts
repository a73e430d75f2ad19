/** The `controller` source: its peer is a server with the lists of ONOS. A Gazetteer upstream is in test/sources/controller. */
import { HTTP_LIMITS, startHttpPeer } from "./http-peer.ts";
import { type ContractRow, HOSTILE_TEXT, type NetworkName } from "./row.ts";

const device = (id: string, fields: object = {}) => ({
  id,
  type: "SWITCH",
  available: true,
  lastUpdate: "1700000000000",
  humanReadableLastUpdate: `connected ${Math.round(performance.now())}ms ago`,
  annotations: { protocol: "OF_13" },
  ...fields,
});
const ports = (element: string) => [
  { element, port: "[eth1](1)", isEnabled: true, type: "copper", portSpeed: 1000 },
  { element, port: "local", isEnabled: true, type: "copper", portSpeed: 0 },
];
const link = (from: string, to: string, fields: object = {}) => ({
  src: { port: "[eth1](1)", device: from },
  dst: { port: "1", device: to },
  type: "DIRECT",
  state: "ACTIVE",
  ...fields,
});
const host = (mac: string, elementId: string, fields: object = {}) => ({
  id: `${mac}/None`,
  mac,
  vlan: "-1",
  ipAddresses: [],
  locations: [{ elementId, port: "LOCAL" }],
  ...fields,
});

const MARKUP_ID = "x:<script>alert(1)</script>";

/** Called for each response: ONOS's texts about time differ each time. */
const NETWORKS: Readonly<Record<NetworkName, () => Readonly<Record<string, readonly unknown[]>>>> = {
  a: () => ({
    devices: [device("x:1"), device("x:2")],
    ports: [...ports("x:1"), ...ports("x:2")],
    links: [link("x:1", "x:2")],
    hosts: [host("02:00:00:00:00:01", "x:1")],
  }),
  b: () => ({
    devices: [device("x:2"), device("x:3")],
    ports: [...ports("x:2"), ...ports("x:3")],
    links: [link("x:2", "x:3")],
    hosts: [host("02:00:00:00:00:02", "x:3")],
  }),
  malformed: () => {
    const { devices = [], ports: portList = [], links = [], hosts = [] } = NETWORKS.a();
    return {
      devices: [device("has space"), ...devices, 7],
      ports: [...portList, { element: "x:1", port: "eth" }],
      links: [{ src: "x:1", dst: "x:2" }, ...links],
      hosts: [...hosts, { mac: "02:00:00:00:00:09" }],
    };
  },
  hostile: () => ({
    devices: [
      device("x:1", { mfr: HOSTILE_TEXT, annotations: { name: HOSTILE_TEXT, [HOSTILE_TEXT]: "x" } }),
      device(MARKUP_ID),
    ],
    ports: [...ports("x:1"), ...ports(MARKUP_ID)],
    links: [link("x:1", MARKUP_ID, { annotations: { note: HOSTILE_TEXT } })],
    hosts: [host("02:00:00:00:00:01", "x:1", { annotations: { name: HOSTILE_TEXT } })],
  }),
};
const LISTS: Readonly<Record<string, string>> = {
  "/onos/v1/devices": "devices",
  "/onos/v1/devices/ports": "ports",
  "/onos/v1/links": "links",
  "/onos/v1/hosts": "hosts",
};

export const row: ContractRow = {
  shown: {
    a: { devices: ["x:1", "x:2"], links: ["x:1/1-x:2/1"], hosts: ["02:00:00:00:00:01/None"] },
    b: { devices: ["x:2", "x:3"], links: ["x:2/1-x:3/1"], hosts: ["02:00:00:00:00:02/None"] },
  },
  malformed: 5,
  hostileDevice: "x:1",
  misbehaviours: ["huge", "endless", "slow"],
  async start() {
    let shown: NetworkName = "a";
    let polls = 0;
    const peer = await startHttpPeer(({ url = "" }) => {
      if (url === "/onos/v1/topology") return { body: '{"time":1,"devices":2,"links":1,"clusters":1}' };
      const list = LISTS[url];
      if (list === undefined) return { status: 404, body: "<html>" };
      if (list === "hosts") polls++;
      return {
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ [list]: NETWORKS[shown]()[list] }),
      };
    });
    return {
      ...peer,
      entry: { type: "controller", url: `${peer.url}/onos/v1`, intervalSeconds: 1, ...HTTP_LIMITS },
      async show(network) {
        shown = network;
      },
      reads: () => polls,
      [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose](),
    };
  },
};
