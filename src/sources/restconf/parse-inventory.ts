/**
 * Reads `opendaylight-inventory:nodes`: the equipment and ports of OpenFlow switches in OpenDaylight. It is one more layer
 * of the same nodes, without links. It adds facts to devices of the topology and adds no devices.
 *
 * A node contains 254 flow tables with all flows and counters, so it must be read with `fields`.
 */

import { canonicalIp, canonicalMac } from "../../model/address.ts";
import { isRealIdentity } from "../../model/derived-ids.ts";
import { nonEmpty } from "../non-empty.ts";
import { annotationsOf } from "./parse-networks.ts";
import {
  type DeviceFacts,
  labelPoint,
  type NodeRecord,
  type NodeRef,
  nameNode,
  type PointFacts,
  type PointRecord,
} from "./topology-records.ts";
import {
  container,
  leafNumber,
  leafText,
  listEntries,
  member,
  type OnFault,
  type YangObject,
} from "./yang-json.ts";

const ROOT = "opendaylight-inventory:nodes";
const F = "flow-node-inventory";
const NODE_LEAVES = [
  "manufacturer",
  "hardware",
  "software",
  "serial-number",
  "description",
  "ip-address",
  "port-number",
];
const PORT_LEAVES = [
  "name",
  "hardware-address",
  "current-speed",
  "current-feature",
  "configuration",
  "state",
];
const prefixed = (leaves: readonly string[]) => leaves.map((leaf) => `${F}:${leaf}`).join(";");

/** The path of the inventory under `/data`. */
export const INVENTORY_PATH =
  `${ROOT}?content=nonconfig&fields=node(id;${prefixed(NODE_LEAVES)};` +
  `node-connector(id;${prefixed(PORT_LEAVES)}))`;

export function parseInventory(document: YangObject, onFault: OnFault): NodeRecord[] {
  const nodes = listEntries(container(document, ROOT), "opendaylight-inventory:node", "devices", onFault);
  return nodes.flatMap((object) => {
    const node = leafText(object, "id");
    const name = node === undefined ? undefined : nameNode(ROOT, node);
    if (node === undefined || name?.kind !== "device") {
      onFault("devices", { field: "/id", message: "is required" });
      return [];
    }
    const ref = { network: ROOT, node };
    const facts = readEquipment(object, name.id);
    const points = parseConnectors(ref, object, onFault);
    return [{ ...ref, deviceId: name.id, alias: name.alias, supporting: [], facts, points }];
  });
}

function parseConnectors(ref: NodeRef, node: YangObject, onFault: OnFault): Map<string, PointRecord> {
  const connectors = listEntries(node, "opendaylight-inventory:node-connector", "ports", onFault);
  const points = new Map<string, PointRecord>();
  for (const object of connectors) {
    const point = leafText(object, "id");
    if (point === undefined) onFault("ports", { field: "/id", message: "is required" });
    else {
      const label = labelPoint({ ...ref, point });
      points.set(point, { ...ref, point, label, supporting: [], facts: readPort(object) });
    }
  }
  return points;
}

function readEquipment(node: YangObject, deviceId: string): DeviceFacts {
  const text = (leaf: string) => leafText(node, `${F}:${leaf}`);
  const real = (leaf: string) => [text(leaf)].find((value) => value !== undefined && isRealIdentity(value));
  const address = canonicalIp(text("ip-address") ?? "");
  const port = leafNumber(node, `${F}:port-number`);
  return {
    type: "SWITCH",
    available: true,
    ...nonEmpty({
      mfr: text("manufacturer"),
      hw: text("hardware"),
      sw: text("software"),
      serial: real("serial-number"),
      chassisId: deviceId.startsWith("of:") ? deviceId.slice(3).replace(/^0+(?=.)/, "") : undefined,
    }),
    ...annotationsOf({
      name: real("description"),
      managementAddress: address,
      channelId: address !== undefined && port !== undefined ? `${address}:${port}` : undefined,
    }),
  };
}

/** The rates of OpenFlow's port features, in Mbit/s. */
const FEATURE_MBPS: Readonly<Record<string, number>> = {
  "ten-mb": 10,
  "hundred-mb": 100,
  "one-gb": 1000,
  "ten-gb": 10_000,
  "forty-gb": 40_000,
  "hundred-gb": 100_000,
  "one-tb": 1_000_000,
};

function readPort(connector: YangObject): PointFacts {
  const features = (leafText(connector, `${F}:current-feature`) ?? "").split(/[\s,]+/);
  const rates = features.map((word) => FEATURE_MBPS[word.replace(/-[hf]d$/, "")] ?? 0);
  const kbps = leafNumber(connector, `${F}:current-speed`) ?? 0;
  const portSpeed = kbps > 0 ? kbps / 1000 : rates.reduce((a, b) => Math.max(a, b), 0);
  const isEnabled = readIsEnabled(connector);
  return {
    ...(isEnabled !== undefined && { isEnabled }),
    ...(portSpeed > 0 && { portSpeed }),
    ...(features.includes("fiber")
      ? { type: "fiber" }
      : features.includes("copper")
        ? { type: "copper" }
        : {}),
    ...annotationsOf({
      portName: leafText(connector, `${F}:name`),
      portMac: canonicalMac(leafText(connector, `${F}:hardware-address`) ?? ""),
    }),
  };
}

/** Whether the port is neither shut down by configuration nor without a carrier; undefined when both are unknown. */
function readIsEnabled(connector: YangObject): boolean | undefined {
  const configuration = member(connector, `${F}:configuration`);
  const linkDown = member(container(connector, `${F}:state`), `${F}:link-down`);
  const isShutDown = typeof configuration === "string" && configuration.includes("PORT-DOWN");
  if (isShutDown || linkDown === true) return false;
  return configuration === undefined && linkDown === undefined ? undefined : true;
}
