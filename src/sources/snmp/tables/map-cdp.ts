/** CISCO-CDP-MIB: neighbours of devices that speak CDP. The index begins with the ifIndex of the local port. */
import { canonicalMac } from "../../../model/address.ts";
import { chassisDeviceId, isRealIdentity, nameDeviceId, serialDeviceId } from "../../../model/derived-ids.ts";
import type { AgentData } from "./agent-data.ts";
import type { Neighbour, RecordFault } from "./agent-report.ts";
import { cdpCapabilities } from "./capabilities.ts";
import type { InterfaceFinder } from "./find-interface.ts";
import { column, indexParts, isBytes, MAX_DESCRIPTION_LENGTH, toInteger, toIp, toText } from "./values.ts";

const MAX_NEIGHBOURS = 4096;
const ADDRESS_TYPE_IP = 1;
/** NX-OS appends its serial number to its name. */
const NAME_AND_SERIAL = /^(.+)\(([^()]+)\)$/;

export function mapCdp(
  data: AgentData,
  finder: InterfaceFinder,
): { neighbours: Neighbour[]; faults: RecordFault[] } {
  const neighbours: Neighbour[] = [];
  const faults: RecordFault[] = [];
  const rows = [...column(data, "cdpCacheDeviceId").keys()].sort().slice(0, MAX_NEIGHBOURS);
  for (const row of rows) {
    const neighbour = mapRow(data, finder, row);
    if (neighbour) neighbours.push(neighbour);
    else {
      const fault = { field: `cdpCacheTable.${row}`, message: "has a device id that identifies no device" };
      faults.push({ kind: "devices", fault });
    }
  }
  return { neighbours, faults };
}

function mapRow(data: AgentData, finder: InterfaceFinder, row: string): Neighbour | undefined {
  const deviceId = toText(column(data, "cdpCacheDeviceId").get(row));
  const [, idName = deviceId, serial] = NAME_AND_SERIAL.exec(deviceId) ?? [];
  const mac = canonicalMac(deviceId);
  const [id, ...aliases] = [
    ...(mac === undefined ? [] : [chassisDeviceId(mac)]),
    ...(serial !== undefined && isRealIdentity(serial) ? [serialDeviceId(serial)] : []),
    ...(mac === undefined && isRealIdentity(idName) ? [nameDeviceId(idName)] : []),
  ];
  if (id === undefined) return undefined;
  const localPort = finder.findNumber(indexParts(row)[0] ?? 0);
  const portId = toText(column(data, "cdpCacheDevicePort").get(row));
  const portMac = canonicalMac(portId);
  const bits = column(data, "cdpCacheCapabilities").get(row);
  const address = column(data, "cdpCacheAddress").get(row);
  const isIp = toInteger(column(data, "cdpCacheAddressType").get(row)) === ADDRESS_TYPE_IP;
  const ip = isIp && isBytes(address) ? toIp(address) : undefined;
  return {
    protocols: ["CDP"],
    ...(localPort && { localPort }),
    id,
    aliases,
    chassis: mac ?? "",
    isChassisIdentity: mac !== undefined,
    portId,
    portDesc: "",
    ...(portMac !== undefined && { portMac }),
    name: toText(column(data, "cdpCacheSysName").get(row)) || (mac === undefined ? idName : ""),
    ...(serial !== undefined && { serial }),
    description: toText(column(data, "cdpCacheVersion").get(row), MAX_DESCRIPTION_LENGTH),
    platform: toText(column(data, "cdpCachePlatform").get(row)),
    capabilities: cdpCapabilities(isBytes(bits) ? (bits.at(-1) ?? 0) : (toInteger(bits) ?? 0)),
    addresses: ip === undefined ? [] : [ip],
    macs: [mac, portMac].flatMap((each) => each ?? []),
  };
}
