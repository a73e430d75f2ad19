/**
 * LLDP-MIB: the neighbours of a device. The form of the index, the types of the values and what the
 * local port number counts differ between agents; the table of cases in `map-lldp.test.ts` has each habit.
 */
import type { AgentData } from "./agent-data.ts";
import type { Neighbour, PortMatch, RecordFault } from "./agent-report.ts";
import { forwardsForOthers, lldpCapabilities } from "./capabilities.ts";
import type { InterfaceFinder } from "./find-interface.ts";
import { isChassisIdentity, likelySubtype, macOf, neighbourIds, toIdentifier } from "./lldp-identity.ts";
import {
  column,
  firstBits,
  indexParts,
  MAX_DESCRIPTION_LENGTH,
  macOfParts,
  toInteger,
  toIp,
  toText,
} from "./values.ts";

const MAX_NEIGHBOURS = 4096;
const MAX_ADDRESSES = 16;
/** Address families of management addresses. */
const FAMILY = { ipv4: 1, ipv6: 2, mac: 6 } as const;
/** Probes of OpenFlow controllers: the switch that sent them is known as a datapath. */
const PROBE = /^(?:dpid|of):/i;

export function mapLldp(
  data: AgentData,
  finder: InterfaceFinder,
): { neighbours: Neighbour[]; unidentifiedUplinks: number[]; faults: RecordFault[] } {
  const neighbours: Neighbour[] = [];
  const unidentifiedUplinks: number[] = [];
  const faults: RecordFault[] = [];
  const addresses = managementAddresses(data);
  const rows = new Set([...column(data, "lldpRemChassisId").keys(), ...column(data, "lldpRemPortId").keys()]);
  for (const row of inOrder(rows).slice(0, MAX_NEIGHBOURS)) {
    const neighbour = mapRow(data, finder, row, addresses.get(row) ?? []);
    if (neighbour === undefined) continue;
    if (neighbour.id !== undefined) {
      neighbours.push({ ...neighbour, id: neighbour.id });
      continue;
    }
    const message = `has a chassis id that identifies no device: ${JSON.stringify(neighbour.chassis)}`;
    faults.push({ kind: "devices", fault: { field: `lldpRemTable.${row}`, message } });
    if (neighbour.localPort && forwardsForOthers(neighbour))
      unidentifiedUplinks.push(neighbour.localPort.index);
  }
  return { neighbours, unidentifiedUplinks, faults };
}

/** By port and index, not by the time mark: it changes with each update of the row. */
function inOrder(rows: Iterable<string>): string[] {
  const keyed = Array.from(rows, (row) => ({ row, parts: indexParts(row).slice(-2) }));
  keyed.sort(
    (a, b) =>
      (a.parts[0] ?? 0) - (b.parts[0] ?? 0) ||
      (a.parts[1] ?? 0) - (b.parts[1] ?? 0) ||
      (a.row < b.row ? -1 : 1),
  );
  return keyed.map(({ row }) => row);
}

type UnidentifiedNeighbour = Omit<Neighbour, "id"> & { readonly id?: string };

/** The neighbour of one row; undefined for a row that is no neighbour. */
function mapRow(
  data: AgentData,
  finder: InterfaceFinder,
  row: string,
  management: readonly ManagementAddress[],
): UnidentifiedNeighbour | undefined {
  const chassisSubtype = toInteger(column(data, "lldpRemChassisIdSubtype").get(row)) ?? 0;
  const portSubtype = toInteger(column(data, "lldpRemPortIdSubtype").get(row)) ?? 0;
  const chassis = toIdentifier("chassis", chassisSubtype, column(data, "lldpRemChassisId").get(row));
  const portId = toIdentifier("port", portSubtype, column(data, "lldpRemPortId").get(row));
  if (PROBE.test(chassis)) return undefined;
  const name = toText(column(data, "lldpRemSysName").get(row));
  const portMac = macOf(portId);
  const macs = [macOf(chassis), portMac, ...management.map(({ mac }) => mac)].flatMap((mac) => mac ?? []);
  const isIdentity = isChassisIdentity(chassisSubtype, chassis);
  const localPort = findLocalPort(data, finder, row);
  const [id, ...aliases] = neighbourIds({
    chassis,
    isIdentity,
    chassisSubtype,
    name,
    macs,
  });
  return {
    protocols: ["LLDP"],
    ...(localPort && { localPort }),
    ...(id !== undefined && { id }),
    aliases,
    chassis,
    isChassisIdentity: isIdentity,
    portId,
    portDesc: toText(column(data, "lldpRemPortDesc").get(row)),
    ...(portMac !== undefined && { portMac }),
    name,
    description: toText(column(data, "lldpRemSysDesc").get(row), MAX_DESCRIPTION_LENGTH),
    platform: "",
    capabilities: lldpCapabilities(firstBits(column(data, "lldpRemSysCapEnabled").get(row))),
    addresses: management.flatMap(({ ip }) => ip ?? []).slice(0, MAX_ADDRESSES),
    macs: [...new Set(macs)],
  };
}

/** RouterOS and Cambium leave only the last part of TimeMark.LocalPortNum.Index, TP-Link the last two. */
function findLocalPort(data: AgentData, finder: InterfaceFinder, row: string): PortMatch | undefined {
  const parts = indexParts(row);
  const routerOs = toInteger(column(data, "mtxrNeighborInterfaceID").get(row));
  if (routerOs !== undefined && finder.get(routerOs))
    return { index: routerOs, how: "mtxrNeighborInterfaceID" };
  const numbers = parts.length >= 3 ? parts.slice(1, 2) : parts.slice(0, 2);
  for (const number of numbers) {
    const port = findPortNumber(data, finder, number);
    if (port) return port;
  }
  return undefined;
}

function findPortNumber(data: AgentData, finder: InterfaceFinder, number: number): PortMatch | undefined {
  const row = String(number);
  const value = column(data, "lldpLocPortId").get(row);
  const subtype = toInteger(column(data, "lldpLocPortIdSubtype").get(row)) ?? likelySubtype("port", value);
  const text = toIdentifier("port", subtype, value);
  return finder.find({
    texts: [
      { label: "lldpLocPortId", text },
      { label: "lldpLocPortDesc", text: toText(column(data, "lldpLocPortDesc").get(row)) },
    ],
    number,
  });
}

interface ManagementAddress {
  readonly ip?: string;
  readonly mac?: string;
}

/** By row of the remote table. The index ends with the family, the length and the address; SLX leaves out the length. */
function managementAddresses(data: AgentData): Map<string, ManagementAddress[]> {
  const rows = column(data, "lldpRemChassisId");
  const byRow = new Map<string, ManagementAddress[]>();
  for (const index of column(data, "lldpRemManAddrIfSubtype").keys()) {
    const parts = indexParts(index);
    for (const length of [3, 2, 1]) {
      const row = parts.slice(0, length).join(".");
      if (!rows.has(row)) continue;
      const address = toAddress(parts.slice(length));
      if (address) byRow.set(row, [...(byRow.get(row) ?? []), address].slice(0, MAX_ADDRESSES));
      break;
    }
  }
  return byRow;
}

function toAddress([family, ...rest]: readonly number[]): ManagementAddress | undefined {
  const bytes = rest[0] === rest.length - 1 ? rest.slice(1) : rest;
  if (family === FAMILY.mac) {
    const mac = macOfParts(bytes);
    return mac === undefined ? undefined : { mac };
  }
  if (family !== FAMILY.ipv4 && family !== FAMILY.ipv6) return undefined;
  const ip = toIp(bytes);
  return ip === undefined ? undefined : { ip };
}
