/**
 * The small network that all examples in the OpenAPI document show. The entities have the types of the model, so that no
 * example can lack a field.
 */

import Type from "typebox";
import { FORMATS } from "../../formats/formats.ts";
import type { Device, Host, Link, Port } from "../../model/entity.ts";
import { int64 } from "../../model/schema-parts.ts";
import type { Schema } from "./components.ts";

export const FIRST = "of:0000000000000001";
export const SECOND = "of:0000000000000002";
export const LOG = "0f8e9f4c-7f5c-4f0a-9d5a-3f3f6f6f1b2c";
export const CONNECTED = "2026-11-15T01:00:00Z";
export const CONNECTED_MS = Date.parse(CONNECTED);
export const CHANGED_MS = CONNECTED_MS + 60_000;

const tracking = { firstSeen: CONNECTED, lastChanged: CONNECTED, sources: ["openflow"], revision: 7 };

export const DEVICE: Device = {
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

export const PORT: Port = {
  element: FIRST,
  port: "1",
  isEnabled: true,
  type: "copper",
  portSpeed: 10_000,
  annotations: { portName: "eth1" },
  ...tracking,
};

export const LINK: Link = {
  src: { port: "1", device: FIRST },
  dst: { port: "2", device: SECOND },
  type: "DIRECT",
  state: "ACTIVE",
  id: `${FIRST}/1-${SECOND}/2`,
  bidirectional: true,
  verified: true,
  ...tracking,
};

const LOCATION = { elementId: FIRST, port: "3" };
export const HOST: Host = {
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

export const OLDEST = { revision: 7, time: CONNECTED_MS };
export const NEWEST = { revision: 8, time: CHANGED_MS };
export const DISCONNECTED: Device = {
  ...DEVICE,
  available: false,
  lastUpdate: String(CHANGED_MS),
  humanReadableLastUpdate: "disconnected since 2026-11-15T01:01:00Z",
  lastChanged: "2026-11-15T01:01:00Z",
  revision: 8,
};

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** The members that every document has, for the graph formats that are JSON. */
const JSON_MEMBERS: Readonly<Record<string, Schema>> = {
  netjson: Type.Object({
    type: Type.Literal("NetworkGraph"),
    protocol: Type.String(),
    version: Type.String(),
    metric: Type.String(),
    revision: Type.Optional(Type.String()),
    label: Type.Optional(Type.String()),
    time: Type.Optional(int64("Epoch milliseconds of the last change of the graph.")),
    nodes: Type.Array(Type.Record(Type.String(), Type.Unknown())),
    links: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  }),
  rfc8345: Type.Object({
    "ietf-network:networks": Type.Record(Type.String(), Type.Unknown()),
  }),
};

export const FORMAT_SCHEMAS: ReadonlyMap<string, Schema> = new Map(
  FORMATS.filter(({ name, negotiable }) => name !== "json" && negotiable).map(({ name, description }) => [
    name,
    { ...(JSON_MEMBERS[name] ?? Type.String()), $id: capitalised(name), description: `${description}.` },
  ]),
);

export const FORMAT_EXAMPLES: Readonly<Record<string, unknown>> = {
  ndjson: `{"id":"${FIRST}","available":true}\n{"id":"${SECOND}","available":false}\n`,
  csv: `id,available\r\n${FIRST},true\r\n${SECOND},false\r\n`,
  events: `id: ${LOG}.8\nevent: removed\ndata: ${JSON.stringify({ resource: "hosts", ...NEWEST, value: HOST })}\n\n`,
  netjson: {
    type: "NetworkGraph",
    protocol: "gazetteer",
    version: "1",
    metric: "hops",
    nodes: [{ id: FIRST }, { id: SECOND }],
    links: [{ source: FIRST, target: SECOND, cost: 1 }],
  },
  rfc8345: {
    "ietf-network:networks": {
      network: [{ "network-id": "gazetteer:network", "network-types": {}, node: [{ "node-id": FIRST }] }],
    },
  },
};
