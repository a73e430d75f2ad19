/**
 * Examples of bodies for the OpenAPI document, by the name of their schema: one small network, the same in all of them.
 * The entities have the types of the model, so that an example cannot miss a field.
 */
import type { Cluster, Device, Host, Link, Port, Topology } from "../../model/entity.ts";
import { type Explanation, WHY } from "../../model/explanation.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import type { PathExplanation } from "../../model/path-explanation.ts";
import { PROBLEM_KINDS } from "../../model/problem-kinds.ts";

const FIRST = "of:0000000000000001";
const SECOND = "of:0000000000000002";
const LOG = "0f8e9f4c-7f5c-4f0a-9d5a-3f3f6f6f1b2c";
const CONNECTED = "2026-11-15T01:00:00Z";
const CONNECTED_MS = Date.parse(CONNECTED);
const CHANGED_MS = CONNECTED_MS + 60_000;

const tracking = { firstSeen: CONNECTED, lastChanged: CONNECTED, sources: ["openflow"], revision: 7 };

const DEVICE: Device = {
  id: FIRST,
  type: "SWITCH",
  available: true,
  role: "MASTER",
  mfr: "Nicira, Inc.",
  hw: "Open vSwitch",
  sw: "3.1.0",
  serial: "None",
  driver: "default",
  chassisId: "1",
  lastUpdate: String(CONNECTED_MS),
  humanReadableLastUpdate: `connected since ${CONNECTED}`,
  annotations: { managementAddress: "192.0.2.1", channelId: "192.0.2.1:6653", protocol: "OF_13" },
  ...tracking,
};

const PORT: Port = {
  element: FIRST,
  port: "1",
  isEnabled: true,
  type: "copper",
  portSpeed: 10_000,
  annotations: { portName: "eth1" },
  ...tracking,
};

const LINK: Link = {
  src: { port: "1", device: FIRST },
  dst: { port: "2", device: SECOND },
  type: "DIRECT",
  state: "ACTIVE",
  id: `${FIRST}/1-${SECOND}/2`,
  bidirectional: true,
  verified: true,
  ...tracking,
};

const PATH = {
  cost: 1,
  links: [{ src: LINK.src, dst: LINK.dst, type: LINK.type, state: LINK.state }],
};

const LOCATION = { elementId: FIRST, port: "3" };
const HOST: Host = {
  id: "00:00:00:00:00:01/None",
  mac: "00:00:00:00:00:01",
  vlan: "None",
  innerVlan: "None",
  outerTpid: "0x0000",
  configured: false,
  suspended: false,
  ipAddresses: ["10.0.0.1", "2001:db8::1"],
  locations: [LOCATION],
  location: LOCATION,
  ...tracking,
};

const TOPOLOGY: Topology = { time: CONNECTED_MS, devices: 2, links: 2, clusters: 1, hosts: 1 };
const CLUSTER: Cluster = { id: 0, deviceCount: 2, linkCount: 2, root: FIRST };

const OLDEST = { revision: 7, time: CONNECTED_MS };
const NEWEST = { revision: 8, time: CHANGED_MS };
const DISCONNECTED: Device = {
  ...DEVICE,
  available: false,
  lastUpdate: String(CHANGED_MS),
  humanReadableLastUpdate: "disconnected since 2026-11-15T01:01:00Z",
  lastChanged: "2026-11-15T01:01:00Z",
  revision: 8,
};
const CHANGE = {
  event: "updated",
  resource: "devices",
  value: DISCONNECTED,
  changed: ["available", "lastUpdate", "humanReadableLastUpdate"],
};

const PROBLEM_LIST = {
  problems: [
    {
      id: "device-unavailable:of:0000000000000002",
      severity: "critical",
      kind: "device-unavailable",
      since: "2026-11-15T01:00:00.000Z",
      resource: "devices",
      entity: "of:0000000000000002",
      devices: ["of:0000000000000002"],
      sources: ["openflow"],
      text: "Device of:0000000000000002 is unavailable.",
      cutOff: { devices: ["of:0000000000000002"], deviceCount: 1, hostCount: 0 },
      consequences: 2,
    },
  ] satisfies NetworkProblem[],
  counts: Object.fromEntries(PROBLEM_KINDS.map((kind) => [kind, kind === "device-unavailable" ? 1 : 0])),
};

const EXPLANATION: Explanation = {
  kind: "devices",
  id: FIRST,
  revision: 7,
  claims: [
    {
      source: "openflow",
      role: "observed",
      status: "live",
      id: FIRST,
      claim: { id: FIRST, available: true, hw: "Open vSwitch" },
    },
    {
      source: "campus",
      role: "observed",
      status: "live",
      id: FIRST,
      claim: { id: FIRST, serial: "FDO1234X" },
    },
  ],
  fields: {
    hw: { value: "Open vSwitch", source: "openflow", why: WHY.only },
    serial: { value: "FDO1234X", source: "campus", why: WHY.only },
    type: { value: "SWITCH", source: null, why: WHY.defaultValue },
  },
};

const PATH_EXPLANATION: PathExplanation = {
  src: { id: FIRST, resource: "devices", device: FIRST, name: "leaf-1" },
  dst: { id: SECOND, resource: "devices", device: SECOND, name: "leaf-2" },
  none: {
    reason: "parted",
    from: { count: 1, devices: [FIRST] },
    to: { count: 1, devices: [SECOND] },
    needed: 1,
    obstacles: [
      {
        resource: "links",
        id: LINK.id,
        state: "inactive",
        since: CONNECTED,
        src: LINK.src,
        dst: LINK.dst,
      },
    ],
    obstacleCount: 1,
  },
  count: 0,
  devices: [],
  links: [],
};

export const EXAMPLES: Readonly<Record<string, unknown>> = {
  Device: DEVICE,
  DeviceList: { devices: [DEVICE] },
  Explanation: EXPLANATION,
  ProblemList: PROBLEM_LIST,
  PathExplanation: PATH_EXPLANATION,
  DeviceWithPorts: { ...DEVICE, ports: [PORT] },
  Port: PORT,
  PortList: { ports: [PORT] },
  Link: LINK,
  LinkList: { links: [LINK] },
  Host: HOST,
  HostList: { hosts: [HOST] },
  Topology: TOPOLOGY,
  Cluster: CLUSTER,
  ClusterList: { clusters: [CLUSTER] },
  ClusterDevices: { devices: [FIRST, SECOND] },
  ClusterLinks: { links: [LINK] },
  PathList: { paths: [PATH] },
  DisjointPathList: { paths: [{ primary: PATH, backup: PATH }] },
  Broadcast: { broadcast: true },
  Infrastructure: { infrastructure: false },
  StaleLinkAge: { active: true },
  Changes: { changes: [{ ...CHANGE, ...NEWEST }], revision: NEWEST.revision },
  Differences: { from: OLDEST, to: NEWEST, changes: [{ ...CHANGE, before: DEVICE }] },
  Timeline: {
    from: CONNECTED_MS,
    to: CHANGED_MS + 1,
    counts: [4, 1],
    oldest: OLDEST,
    loaded: OLDEST,
    newest: NEWEST,
  },
  IncidentSearch: {
    incident: {
      from: NEWEST,
      to: NEWEST,
      alarms: [{ resource: "devices", id: SECOND, event: "unavailable" }],
      alarmCount: 1,
    },
    searched: NEWEST,
    complete: false,
  },
  Hits: { hits: [{ resource: "hosts", value: HOST }], complete: true },
  Counts: { counts: { [FIRST]: 1 }, total: 1 },
  Ndjson: `{"id":"${FIRST}","available":true}\n{"id":"${SECOND}","available":false}\n`,
  Csv: `id,available\r\n${FIRST},true\r\n${SECOND},false\r\n`,
  Events: `id: ${LOG}.8\nevent: removed\ndata: ${JSON.stringify({ resource: "hosts", ...NEWEST, value: HOST })}\n\n`,
  Netjson: {
    type: "NetworkGraph",
    protocol: "gazetteer",
    version: "1",
    metric: "hops",
    nodes: [{ id: FIRST }, { id: SECOND }],
    links: [{ source: FIRST, target: SECOND, cost: 1 }],
  },
  Rfc8345: {
    "ietf-network:networks": {
      network: [{ "network-id": "gazetteer:network", "network-types": {}, node: [{ "node-id": FIRST }] }],
    },
  },
  Liveness: { status: "alive" },
  ClusterOverview: {
    name: "default",
    nodes: [
      {
        name: "a",
        node: "a.5f0c12aa",
        url: "http://10.0.0.1:8181",
        version: "0.1.0",
        revision: 9,
        lag: 0,
        sources: ["demo"],
        held: ["demo"],
        since: 1794704401000,
        ageSeconds: 1,
      },
    ],
    leases: [{ source: "demo", node: "a" }],
    engine: {
      stream: "GAZETTEER_default",
      replicas: 3,
      servers: [
        { name: "n1", state: "leader" },
        { name: "n2", state: "current", lag: 0 },
        { name: "n3", state: "current", lag: 0 },
      ],
      messages: 12,
      bytes: 4096,
    },
    snapshots: [{ revision: 8, time: 1794704408000, bytes: 2048 }],
  },
  MapSettings: {
    links: [{ name: "Shell", kind: "device", url: "ssh://{managementAddress}" }],
    views: [{ name: "Core", state: "type=ROUTER", arrangement: { pins: [{ device: FIRST, x: 0, y: 0 }] } }],
    metrics: [{ name: "Utilisation", unit: "%", max: 100, intervalSeconds: 30 }],
  },
  MetricValues: {
    time: CHANGED_MS,
    series: 3,
    unknownSeries: 1,
    unknownDevices: ["10.0.0.9"],
    values: { [`${FIRST}/1-${SECOND}/1`]: 42.5 },
  },
  Readiness: {
    status: "ready",
    version: "0.1.0",
    revision: 8,
    logId: LOG,
    sources: [
      {
        name: "openflow",
        kind: "openflow",
        status: "synced",
        since: CONNECTED_MS,
        lastSyncedAt: CHANGED_MS,
        restarts: 0,
        entities: { devices: 2, ports: 4, links: 2, hosts: 1 },
      },
    ],
    storage: { bytes: 69_632, snapshots: 1, oldest: 0, oldestTime: CONNECTED_MS },
  },
  OpenApiDocument: { openapi: "3.1.0", info: { title: "Gazetteer" } },
};
