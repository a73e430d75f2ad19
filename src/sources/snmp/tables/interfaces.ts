/**
 * Maps the interfaces of a device (IF-MIB), their bridge ports and the aggregates they are members of. `InterfaceFinder`
 * finds an interface by what LLDP and CDP send about a port.
 */

import { appendTo } from "../../../lib/multimap.ts";
import { canonicalMac } from "../../../model/address.ts";
import type { PortClaim } from "../../../model/claim.ts";
import type { AgentInterface, PortMatch } from "./agent-report.ts";
import type { AgentData, SnmpValue } from "./mib.ts";
import { column, indexParts, toIfIndex, toInteger, toMac, toText } from "./values.ts";

const MAX_INTERFACES = 16_384;
const STATUS_UP = 1;
const BITS_PER_MEGABIT = 1_000_000;
/** The ifSpeed of an interface whose speed does not fit into 32 bits. */
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

/** Returns bridge ports by ifIndex. If an interface has a bridge port per VLAN, the lowest one is used. */
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

/** The ifTypes of Ethernet interfaces, which have a burnt-in address. */
export const IFTYPE_ETHERNET: ReadonlySet<number> = new Set([6, 7, 26, 62, 69, 117]);

/** The ifType of an aggregate, and the names of aggregates from vendors that use another type. */
const IFTYPE_LAG = 161;
const AGGREGATE_NAME =
  /^(?:port-?channel|po\d|trk\d|bond|ae\d|lag|eth-trunk|bridge-aggregation|bundle|team)/i;

export const isAggregate = ({ type, name }: AgentInterface): boolean =>
  type === IFTYPE_LAG || AGGREGATE_NAME.test(name);

/** Finds the members of aggregates in IEEE8023-LAG-MIB, else in ifStackTable, else by MAC address. */
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
    // A port that is not aggregated is attached to itself, or to an aggregator that is not an interface.
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
 * Finds the members of an aggregate that has none in the tables: the physical ports with the same MAC address. Linux and
 * RouterOS give the address of the aggregate to all members, other systems give the aggregate that of its first member.
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

/** One text about a port. `label` names its origin. */
interface PortText {
  readonly label: string;
  readonly text: string;
}

interface PortHints {
  readonly texts: readonly PortText[];
  /** An ifIndex or the number of a bridge port. */
  readonly number?: number;
}

type Field = "ifName" | "ifDescr" | "ifAlias" | "ifPhysAddress";

/**
 * Finds the interface that a text of LLDP or CDP refers to. Depending on the agent the text is a name, a description, a MAC
 * address, or a number of the interface table or of the bridge. Names are tried first, because a number may be the ifIndex
 * of one interface and the bridge port of another. The result says what matched.
 */
export class InterfaceFinder {
  readonly #byIndex = new Map<number, AgentInterface>();
  readonly #byBasePort = new Map<number, AgentInterface>();
  readonly #byField: Readonly<Record<Field, Map<string, AgentInterface[]>>> = {
    ifName: new Map(),
    ifDescr: new Map(),
    ifAlias: new Map(),
    ifPhysAddress: new Map(),
  };

  constructor(interfaces: readonly AgentInterface[]) {
    for (const port of interfaces) {
      this.#byIndex.set(port.index, port);
      if (port.basePort !== undefined) this.#byBasePort.set(port.basePort, port);
      this.#add("ifName", port.name, port);
      this.#add("ifDescr", port.descr, port);
      this.#add("ifAlias", port.alias, port);
      this.#add("ifPhysAddress", port.mac ?? "", port);
    }
  }

  get(index: number): AgentInterface | undefined {
    return this.#byIndex.get(index);
  }

  find({ texts, number }: PortHints): PortMatch | undefined {
    for (const { label, text } of texts) {
      const found = this.#findText(text, number);
      if (found) return { index: found.port.index, how: `${label} ${found.how}` };
    }
    return number === undefined ? undefined : this.findNumber(number);
  }

  findNumber(number: number): PortMatch | undefined {
    if (this.#byIndex.has(number)) return { index: number, how: "ifIndex" };
    const port = this.#byBasePort.get(number);
    return port && { index: port.index, how: "dot1dBasePort" };
  }

  #findText(text: string, number?: number): { port: AgentInterface; how: string } | undefined {
    if (text === "") return undefined;
    for (const field of ["ifName", "ifDescr", "ifAlias"] as const) {
      const port = this.#choose(this.#byField[field].get(text.toLowerCase()), number);
      if (port) return { port, how: field };
    }
    const mac = canonicalMac(text);
    const byMac = mac && this.#choose(this.#byField.ifPhysAddress.get(mac.toLowerCase()), number);
    if (byMac) return { port: byMac, how: "ifPhysAddress" };
    // RouterOS sends the path through its bridge, such as `bridge1/trunk/ether4`.
    const last = text.slice(text.lastIndexOf("/") + 1).toLowerCase();
    const byLast = /^[a-z]/.test(last) ? this.#choose(this.#byField.ifName.get(last), number) : undefined;
    return byLast && { port: byLast, how: "end of path, ifName" };
  }

  /** Chooses among interfaces with the same name: the one with the number, else one that is up, else the lowest. */
  #choose(ports: readonly AgentInterface[] | undefined, number?: number): AgentInterface | undefined {
    if (!ports || ports.length <= 1) return ports?.[0];
    const numbered = ports.find((port) => port.index === number || port.basePort === number);
    return numbered ?? ports.find((port) => port.isUp) ?? ports[0];
  }

  #add(field: Field, text: string, port: AgentInterface): void {
    if (text !== "") appendTo(this.#byField[field], text.toLowerCase(), port);
  }
}

/** The ifTypes of virtual interfaces: other, loopback, propVirtual, propMultiplexor, tunnels, VLANs, MPLS, bridges. */
const IFTYPE_VIRTUAL = new Set([1, 24, 53, 54, 131, 135, 136, 150, 166, 209]);
const IFTYPE_FIBER = new Set([15, 39, 56, 69, 195, 196]);
const FIBER_NAME = /sfp|fib(?:er|re)|optic/i;
/** The speed from which on Ethernet is assumed to use fiber. */
const FIBER_SPEED_MBPS = 25_000;

/** Returns the type of a port. IF-MIB lacks the medium of an Ethernet port, so it is derived from the name and the speed. */
export function portType(port: AgentInterface): NonNullable<PortClaim["type"]> {
  if (isAggregate(port) || IFTYPE_VIRTUAL.has(port.type)) return "virtual";
  const isFiber =
    IFTYPE_FIBER.has(port.type) ||
    FIBER_NAME.test(port.name) ||
    FIBER_NAME.test(port.descr) ||
    port.speedMbps >= FIBER_SPEED_MBPS;
  return isFiber ? "fiber" : "copper";
}
