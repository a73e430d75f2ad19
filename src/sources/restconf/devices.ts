/**
 * Makes devices and ports of the nodes and termination points of all layers, with one id and one number each. The id is
 * that of the lowest layer, because layers above are added and removed; the names of the others are aliases. Nodes of the
 * same name are one device also where no layer joins them.
 */
import { CLAIM_LIMITS, type DeviceClaim, ID_PATTERN, type PortClaim } from "../../model/claim.ts";
import { assignPortNumbers } from "../../model/derived-ids.ts";
import { deviceKey } from "../../model/ids.ts";
import { joinLayers } from "./join-layers.ts";
import { mergeFacts } from "./merge-facts.ts";
import {
  appendTo,
  type NodeRecord,
  type NodeRef,
  nodeKey,
  type PointRecord,
  pointKey,
} from "./topology-records.ts";

/** As the ids of claims: one malformed alias would reject the whole device. */
const VALID_ALIAS = new RegExp(ID_PATTERN);
const isAlias = (name: string): boolean => name.length <= CLAIM_LIMITS.id && VALID_ALIAS.test(name);
/** Ports that are not numbered. */
const LOGICAL_PORTS: readonly string[] = ["local", "controller"];

export interface MappedPort {
  readonly device: string;
  readonly port: string;
  /** Undefined when no layer knows. */
  readonly isEnabled: boolean | undefined;
}

export class DeviceTable {
  readonly devices: DeviceClaim[] = [];
  readonly ports: PortClaim[] = [];
  readonly #ports = new Map<PointRecord, MappedPort>();

  /** `nodes` make devices; the nodes of `inventory` only add to them. */
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
    // The name of another device would lead to the wrong one.
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

/** The records of each device by the key of its id, those of upper layers first. */
function groupDevices(nodes: readonly NodeRecord[]): Map<string, NodeRecord[]> {
  const groups = groupLayers(nodes, nodeKey, ({ deviceId }) => deviceId);
  return mergeByName(groups, (records) => deviceKey(idOf(records)));
}

/** A datapath id is the same from every source; else the name in the lowest layer. */
function idOf(records: readonly NodeRecord[]): string {
  const record = records.findLast(({ alias }) => alias !== undefined) ?? records.at(-1);
  return record?.deviceId ?? "";
}

/** The records of each port by its label in the lowest layer. */
function groupPorts(points: readonly PointRecord[]): Map<string, PointRecord[]> {
  const groups = groupLayers(points, pointKey, ({ label }) => label);
  return mergeByName(groups, (records) => records.at(-1)?.label ?? "");
}

/** Each group in the order of its layers, the lowest last. */
function groupLayers<R extends NodeRef, T extends R & { readonly supporting: readonly R[] }>(
  records: readonly T[],
  keyOf: (ref: R) => string,
  nameOf: (record: T) => string,
): T[][] {
  // Most networks have one layer.
  if (records.every(({ supporting }) => supporting.length === 0)) return records.map((record) => [record]);
  const layered = records.map((record) => ({
    record,
    key: keyOf(record),
    network: record.network,
    name: nameOf(record),
    supporting: record.supporting.map((ref) => ({ key: keyOf(ref), network: ref.network })),
  }));
  return joinLayers(layered).map((group) => group.map(({ record }) => record));
}

/** Groups of the same name are one, in the order of their networks, because lists are in no order. */
function mergeByName<T extends NodeRef>(
  groups: readonly T[][],
  nameOf: (group: T[]) => string,
): Map<string, T[]> {
  const named = new Map<string, T[][]>();
  for (const group of groups) appendTo(named, nameOf(group), group);
  const merged = new Map<string, T[]>();
  for (const [name, [first = [], ...others]] of named) {
    merged.set(name, others.length === 0 ? first : [first, ...others].sort(compareGroups).flat());
  }
  return merged;
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
