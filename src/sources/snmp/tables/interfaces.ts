/** IF-MIB: the interfaces of a device, their bridge ports and the aggregates they are members of. */
import type { AgentData, SnmpValue } from "./agent-data.ts";
import type { AgentInterface } from "./agent-report.ts";
import { column, indexParts, toIfIndex, toInteger, toMac, toText } from "./values.ts";

const MAX_INTERFACES = 16_384;
const STATUS_UP = 1;
const BITS_PER_MEGABIT = 1_000_000;
/** ifSpeed of an interface that is too fast for 32 bits. */
const SPEED_OVERFLOW = 4_294_967_295;

export function mapInterfaces(data: AgentData): AgentInterface[] {
  const descrs = column(data, "ifDescr");
  const names = column(data, "ifName");
  const types = column(data, "ifType");
  const aliases = column(data, "ifAlias");
  const macs = column(data, "ifPhysAddress");
  const admin = column(data, "ifAdminStatus");
  const oper = column(data, "ifOperStatus");
  const basePorts = basePortsOf(data);
  const rows = new Set([...types.keys(), ...descrs.keys(), ...names.keys()]);
  const indexes = [...rows]
    .flatMap((row) => toIfIndex(Number(row)) ?? [])
    .sort((a, b) => a - b)
    .slice(0, MAX_INTERFACES);
  const interfaces = indexes.map((index): AgentInterface => {
    const row = String(index);
    const descr = toText(descrs.get(row));
    const mac = toMac(macs.get(row));
    const basePort = basePorts.get(index);
    return {
      index,
      name: toText(names.get(row)) || descr || row,
      descr,
      alias: toText(aliases.get(row)),
      type: toInteger(types.get(row)) ?? 1,
      speedMbps: speedOf(data, row),
      isUp: (toInteger(admin.get(row)) ?? STATUS_UP) === STATUS_UP && toInteger(oper.get(row)) === STATUS_UP,
      ...(mac !== undefined && { mac }),
      ...(basePort !== undefined && { basePort }),
    };
  });
  return withAggregates(data, interfaces);
}

function speedOf(data: AgentData, row: string): number {
  const high = toInteger(column(data, "ifHighSpeed").get(row)) ?? 0;
  if (high > 0) return high;
  const speed = toInteger(column(data, "ifSpeed").get(row)) ?? 0;
  return speed > 0 && speed < SPEED_OVERFLOW ? speed / BITS_PER_MEGABIT : 0;
}

/** ifIndex → bridge port. The lowest one, where VLANs of one interface are bridge ports of their own. */
function basePortsOf(data: AgentData): Map<number, number> {
  const ports = new Map<number, number>();
  for (const [row, value] of column(data, "dot1dBasePortIfIndex")) {
    const index = toIfIndex(value);
    const basePort = toIfIndex(Number(row));
    if (index === undefined || basePort === undefined) continue;
    ports.set(index, Math.min(basePort, ports.get(index) ?? basePort));
  }
  return ports;
}

/** The types of interfaces with an address that the vendor burnt in. */
export const IFTYPE_ETHERNET: ReadonlySet<number> = new Set([6, 7, 26, 62, 69, 117]);

/** The type of an aggregate, and what vendors that give it another type call it. */
const IFTYPE_LAG = 161;
const AGGREGATE_NAME =
  /^(?:port-?channel|po\d|trk\d|bond|ae\d|lag|eth-trunk|bridge-aggregation|bundle|team)/i;

export const isAggregate = ({ type, name }: AgentInterface): boolean =>
  type === IFTYPE_LAG || AGGREGATE_NAME.test(name);

/** From IEEE8023-LAG-MIB, else from ifStackTable, else by MAC address. */
function withAggregates(data: AgentData, interfaces: readonly AgentInterface[]): AgentInterface[] {
  const byIndex = new Map(interfaces.map((port) => [port.index, port]));
  const aggregates = new Map<number, number>();
  for (const [row, status] of column(data, "ifStackStatus")) {
    const [higher = 0, lower = 0] = indexParts(row);
    const aggregate = byIndex.get(higher);
    if (status === STATUS_UP && aggregate && isAggregate(aggregate)) aggregates.set(lower, higher);
  }
  for (const name of ["dot3adAggPortSelectedAggID", "dot3adAggPortAttachedAggID"] as const) {
    for (const [row, value] of column(data, name)) setAggregate(Number(row), value);
  }
  function setAggregate(port: number, value: SnmpValue): void {
    const aggregate = toIfIndex(value);
    // A port that is not aggregated is attached to itself, or to an aggregator that is no interface.
    if (aggregate !== undefined && aggregate !== port && byIndex.has(aggregate))
      aggregates.set(port, aggregate);
  }
  const inLagTable = column(data, "dot3adAggPortAttachedAggID");
  addByMac(
    interfaces.filter(({ index }) => !inLagTable.has(String(index))),
    aggregates,
  );
  return interfaces.map((port) => {
    const aggregate = aggregates.get(port.index);
    return aggregate === undefined || aggregate === port.index ? port : { ...port, aggregate };
  });
}

/**
 * For an aggregate that no table gives a member: the physical ports with its MAC address. Linux and RouterOS give it to
 * all members, other systems take that of the first member.
 */
function addByMac(interfaces: readonly AgentInterface[], aggregates: Map<number, number>): void {
  const known = new Set(aggregates.values());
  const byMac = new Map<string, AgentInterface>();
  for (const port of interfaces)
    if (port.mac !== undefined && isAggregate(port) && !known.has(port.index)) byMac.set(port.mac, port);
  for (const port of interfaces) {
    const aggregate = port.mac === undefined ? undefined : byMac.get(port.mac);
    const isMember = IFTYPE_ETHERNET.has(port.type) && !isAggregate(port) && !aggregates.has(port.index);
    if (aggregate && isMember) aggregates.set(port.index, aggregate.index);
  }
}
