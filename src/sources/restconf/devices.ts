/**
 * Maps the nodes and termination points of all layers to devices with one id and ports with one number. The id is that of
 * the lowest layer, because layers above it are added and removed. The names in the other layers are aliases. Nodes of the
 * same name are one device even if no layer joins them.
 */

import { appendTo, Multimap } from "../../lib/multimap.ts";
import { compareTexts } from "../../lib/sorted.ts";
import { UnionFind } from "../../lib/union-find.ts";
import { CLAIM_LIMITS, type DeviceClaim, ID_PATTERN, type PortClaim } from "../../model/claim.ts";
import { assignPortNumbers } from "../../model/derived-ids.ts";
import { deviceKey } from "../../model/ids.ts";
import { type NodeRecord, type NodeRef, nodeKey, type PointRecord, pointKey } from "./topology-records.ts";

/** The pattern of ids in claims. One malformed alias would cause the rejection of the whole device. */
const VALID_ALIAS = new RegExp(ID_PATTERN);
const isAlias = (name: string): boolean => name.length <= CLAIM_LIMITS.id && VALID_ALIAS.test(name);
/** The ports that have no number. */
const LOGICAL_PORTS: readonly string[] = ["local", "controller"];

export interface MappedPort {
  readonly device: string;
  readonly port: string;
  /** Whether the port is enabled; undefined when no layer reports it. */
  readonly isEnabled: boolean | undefined;
}

export class DeviceTable {
  readonly devices: DeviceClaim[] = [];
  readonly ports: PortClaim[] = [];
  readonly #ports = new Map<PointRecord, MappedPort>();

  /** Each of `nodes` belongs to a device. The nodes of `inventory` only add facts to these devices. */
  constructor(nodes: readonly NodeRecord[], inventory: readonly NodeRecord[]) {
    const devices = groupDevices(nodes);
    for (const node of inventory) devices.get(deviceKey(node.deviceId))?.push(node);
    const ids = new Set(devices.keys());
    for (const records of devices.values()) this.#addDevice(records, ids);
  }

  portOf(point: PointRecord): MappedPort | undefined {
    return this.#ports.get(point);
  }

  #addDevice(records: readonly NodeRecord[], ids: ReadonlySet<string>): void {
    const id = idOf(records);
    const names = records.flatMap(({ alias, deviceId }) => [alias ?? deviceId, deviceId]);
    // An alias that is the id of another device would lead to the wrong device.
    const others = names.filter((name) => !ids.has(deviceKey(name)) && isAlias(name));
    const aliases = [...new Set(others)].sort().slice(0, CLAIM_LIMITS.aliases);
    const facts = mergeFacts(records.map((record) => record.facts));
    this.devices.push({ id, ...facts, ...(aliases.length > 0 && { aliases }) });
    this.#addPorts(
      id,
      records.flatMap(({ points }) => [...points.values()]),
    );
  }

  #addPorts(device: string, points: readonly PointRecord[]): void {
    const ports = groupPorts(points);
    const numbered = [...ports]
      .filter(([label]) => !LOGICAL_PORTS.includes(label))
      .map(([label, records]) => ({ name: label, ...numberOf(label, records) }));
    const numbers = assignPortNumbers(numbered);
    for (const [label, records] of ports) {
      const port = numbers.get(label) ?? label;
      const facts = mergeFacts(records.map((record) => record.facts));
      if (port !== label) facts.annotations = { portName: label, ...facts.annotations };
      this.ports.push({ element: device, port, ...facts });
      const mapped = { device, port, isEnabled: facts.isEnabled };
      for (const record of records) this.#ports.set(record, mapped);
    }
  }
}

/** Returns the records of each device by the key of its id, those of upper layers first. */
function groupDevices(nodes: readonly NodeRecord[]): Map<string, NodeRecord[]> {
  const groups = joinLayers(nodes, nodeKey, ({ deviceId }) => deviceId);
  return mergeByName(groups, (records) => deviceKey(idOf(records)));
}

/** Returns the datapath id, which is the same in every source; if there is none, the name in the lowest layer. */
function idOf(records: readonly NodeRecord[]): string {
  const record = records.findLast(({ alias }) => alias !== undefined) ?? records.at(-1);
  return record?.deviceId ?? "";
}

/** Returns the records of each port by its label in the lowest layer. */
function groupPorts(points: readonly PointRecord[]): Map<string, PointRecord[]> {
  const groups = joinLayers(points, pointKey, ({ label }) => label);
  return mergeByName(groups, (records) => records.at(-1)?.label ?? "");
}

/** Merges groups of the same name in the order of their networks, because the order of the lists is undefined. */
function mergeByName<T extends NodeRef>(
  groups: readonly T[][],
  nameOf: (group: T[]) => string,
): Map<string, T[]> {
  const named = Map.groupBy(groups, nameOf);
  return new Map([...named].map(([name, same]) => [name, same.sort(compareGroups).flat()]));
}

function compareGroups(a: readonly NodeRef[], b: readonly NodeRef[]): number {
  const [keyA, keyB] = [a, b].map((group) => group.map(nodeKey).join());
  return (keyA ?? "") < (keyB ?? "") ? -1 : 1;
}

function numberOf(label: string, records: readonly PointRecord[]): { number?: number } {
  if (/^\d+$/.test(label)) return { number: Number(label) };
  const number = records.find((record) => record.number !== undefined)?.number;
  return number === undefined ? {} : { number };
}

// Joins the records of several layers that are one entity: a record and those that support it, transitively. The same rule
// is used for nodes (one device) and for termination points (one port).
//
// A record that is supported by several records of one network is an aggregate of different entities, such as an abstract
// node over a whole site or a port over the members of a link aggregate. It is an entity of its own and is not joined.

/**
 * Returns groups in the order of their layers. The lowest layer, which no other record supports, is last. Records of the same
 * level are ordered by name, so that the order of the input does not matter.
 */
function joinLayers<R extends NodeRef, T extends R & { readonly supporting: readonly R[] }>(
  records: readonly T[],
  keyOf: (ref: R) => string,
  nameOf: (record: T) => string,
): T[][] {
  // Most networks have one layer, where no record is joined with another.
  if (records.every(({ supporting }) => supporting.length === 0)) return records.map((record) => [record]);
  const keys = new Map(records.map((record) => [record, keyOf(record)]));
  const keyed = (record: T) => keys.get(record) ?? "";
  const supporting = new Map(
    records.map((record) => [keyed(record), withoutAggregates(record.supporting, keyOf)]),
  );
  const levels = levelsOf(supporting);
  const sets = new UnionFind<string>();
  for (const [key, below] of supporting) for (const other of below) sets.union(key, other);
  const level = (record: T) => levels.get(keyed(record)) ?? Number.MAX_SAFE_INTEGER;
  const groups = [...Map.groupBy(records, (record) => sets.find(keyed(record))).values()];
  for (const group of groups) {
    group.sort(
      (a, b) => level(b) - level(a) || compareTexts(nameOf(b), nameOf(a)) || compareTexts(keyed(b), keyed(a)),
    );
  }
  return groups;
}

function withoutAggregates<R extends NodeRef>(supporting: readonly R[], keyOf: (ref: R) => string): string[] {
  const byNetwork = new Multimap<string, string>();
  for (const ref of supporting) byNetwork.add(ref.network, keyOf(ref));
  return [...byNetwork.values()].flatMap((keys) => (keys.size === 1 ? [...keys] : []));
}

/**
 * Returns the level of each record: 0 for a record that no other supports, then one more per layer. The levels are computed
 * from below without recursion, because a peer may send a chain of any length. A record that is only supported by a cycle
 * has no level.
 */
function levelsOf(supporting: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const above = new Map<string, string[]>();
  const levels = new Map<string, number>();
  let layer: string[] = [];
  for (const [key, below] of supporting) {
    const known = below.filter((other) => supporting.has(other));
    if (known.length === 0) layer.push(key);
    for (const other of known) appendTo(above, other, key);
  }
  for (let level = 0; layer.length > 0; level++) {
    for (const key of layer) levels.set(key, level);
    // The set contains each record once. Otherwise layers of two nodes over two nodes would double the list per layer.
    const next = new Set(layer.flatMap((key) => above.get(key) ?? []));
    layer = [...next].filter((key) => !levels.has(key));
  }
  return levels;
}

interface Facts {
  readonly annotations?: Record<string, string>;
}

/** Merges the facts of several layers about one entity. For each field and each annotation the first given value is used. */
export function mergeFacts<T extends Facts>(
  layers: readonly T[],
): T & { annotations?: Record<string, string> };
export function mergeFacts(layers: readonly Facts[]): Facts {
  if (layers.length === 1) return { ...layers[0] };
  const annotations: Record<string, string> = {};
  const fields: Record<string, unknown> = {};
  // The layers are not spread into one call, because a peer may send more layers than a call may have arguments.
  for (const { annotations: own, ...others } of layers.toReversed()) {
    Object.assign(annotations, own);
    Object.assign(fields, others);
  }
  return Object.keys(annotations).length > 0 ? { ...fields, annotations } : fields;
}
