/**
 * Assigns ids to polled devices, and finds the polled device that a neighbour is. A device that was first known only as a
 * neighbour keeps its id when it is polled. The id of a device is the first of these:
 *
 * 1. an id that was reported before and that belongs to the device: of its chassis, a MAC address, its serial number, its
 *    name, or the chassis id that a neighbour receives now;
 * 2. its own chassis id;
 * 3. the chassis id that a neighbour receives;
 * 4. its bridge address, serial number, lowest MAC address or name: the first that no other device has.
 *
 * The result does not depend on the order of the agents. Rule 1 keeps ids stable in two cases: when a device that does not
 * report its own chassis id loses the neighbours that receive it, and when a second device with the same serial number or
 * name appears.
 */

import { Multimap } from "../../../lib/multimap.ts";
import { chassisDeviceId, nameDeviceId, serialDeviceId } from "../../../model/derived-ids.ts";
import { deviceKey } from "../../../model/ids.ts";
import type { RejectedRecord } from "../../source.ts";
import {
  type AgentIdentity,
  type AgentReport,
  firstLabel,
  type Neighbour,
  type PolledAgent,
} from "../tables/agent-report.ts";
import { InterfaceFinder } from "../tables/interfaces.ts";
import { isOwnMac } from "../tables/values.ts";

export interface PolledDevice {
  readonly id: string;
  /** Other ids of the device that neighbours or other sources may use. */
  readonly aliases: readonly string[];
  readonly report: AgentReport;
  readonly unansweredSince?: number;
  readonly finder: InterfaceFinder;
}

export interface IdentifiedDevices {
  readonly devices: readonly PolledDevice[];
  /** Returns the polled device that a neighbour of `from` is; undefined when the neighbour is not polled. */
  readonly deviceOf: (neighbour: Neighbour, from: PolledDevice) => PolledDevice | undefined;
  readonly faults: readonly RejectedRecord[];
}

export function identifyDevices(
  agents: readonly PolledAgent[],
  previousIds: ReadonlySet<string>,
): IdentifiedDevices {
  const faults: RejectedRecord[] = [];
  const reject = (agent: PolledAgent, message: string): void => {
    faults.push({ kind: "devices", fault: { field: agent.report.target, message } });
  };
  const distinct = withoutDuplicates(agents).filter((agent) => {
    if (ownIds(agent.report.identity).length > 0) return true;
    reject(agent, "has no chassis id, MAC address, serial number or name that identifies it");
    return false;
  });
  const matcher = new DeviceMatcher(distinct.map(({ report }) => report));
  const received = receivedIds(distinct, matcher);
  const candidates = new Map(
    distinct.map(({ report }) => {
      const { identity } = report;
      return [
        report,
        candidateIds(identity, ownIds(identity), [...(received.get(report)?.chassisIds ?? [])].sort()),
      ] as const;
    }),
  );
  const idOf = assignIds(candidates, new Set([...previousIds].map(deviceKey)));
  const byReport = new Map<AgentReport, PolledDevice>();
  for (const agent of distinct) {
    const { report } = agent;
    const id = idOf.get(report);
    if (id === undefined) {
      reject(agent, "has only ids that another agent has too");
      continue;
    }
    const aliases = new Set([...ownIds(report.identity).slice(0, 1), ...(received.get(report)?.all ?? [])]);
    aliases.delete(id);
    byReport.set(report, {
      id,
      aliases: [...aliases],
      report,
      finder: new InterfaceFinder(report.interfaces),
      ...(agent.unansweredSince !== undefined && { unansweredSince: agent.unansweredSince }),
    });
  }
  const devices = [...byReport.values()];
  const byId = byAllChassisIds(devices, received);
  const deviceOf = (neighbour: Neighbour, from: PolledDevice): PolledDevice | undefined => {
    const report = matcher.match(neighbour, from.report);
    return (report && byReport.get(report)) ?? byId.get(deviceKey(neighbour.id));
  };
  return { devices, deviceOf, faults };
}

/** Indexes devices by id and by the chassis ids that neighbours receive, for frames that contain no other evidence. */
function byAllChassisIds(
  devices: readonly PolledDevice[],
  received: ReadonlyMap<AgentReport, ReceivedIds>,
): Map<string, PolledDevice | undefined> {
  const byId = new Map<string, PolledDevice | undefined>();
  for (const device of devices) {
    for (const id of received.get(device.report)?.chassisIds ?? []) {
      const key = deviceKey(id);
      byId.set(key, byId.has(key) ? undefined : device);
    }
  }
  for (const device of devices) byId.set(deviceKey(device.id), device);
  return byId;
}

/** One device may be polled at several of its addresses. The first address that answers is used. */
function withoutDuplicates(agents: readonly PolledAgent[]): PolledAgent[] {
  const seen = new Set<string>();
  return [...agents].sort(compareAgents).filter(({ report: { identity } }) => {
    const { chassis, bridgeAddress, lowestMac, serial, name } = identity;
    const addresses = [chassis, bridgeAddress, lowestMac].filter((each) => each !== undefined);
    const key = JSON.stringify(addresses.length > 0 ? [chassis, bridgeAddress, lowestMac] : [serial, name]);
    const isIdentified = ownIds(identity).length > 0;
    return !(isIdentified && seen.has(key)) && seen.add(key);
  });
}

const compareAgents = (a: PolledAgent, b: PolledAgent): number =>
  Number(a.unansweredSince !== undefined) - Number(b.unansweredSince !== undefined) ||
  (a.report.target < b.report.target ? -1 : 1);

/** Returns the ids that the device's own report gives, the best first. */
function ownIds({ chassis, bridgeAddress, serial, lowestMac, name }: AgentIdentity): string[] {
  return [
    ...(chassis === undefined ? [] : [chassisDeviceId(chassis)]),
    ...(bridgeAddress === undefined ? [] : [chassisDeviceId(bridgeAddress)]),
    ...(serial === undefined ? [] : [serialDeviceId(serial)]),
    ...(lowestMac === undefined ? [] : [chassisDeviceId(lowestMac)]),
    ...(name === undefined ? [] : [nameDeviceId(name)]),
  ];
}

/** The ids by which the neighbours of a device know it. */
interface ReceivedIds {
  readonly chassisIds: Set<string>;
  /** The chassis ids and the ids made of names and serial numbers. */
  readonly all: Set<string>;
}

function receivedIds(agents: readonly PolledAgent[], matcher: DeviceMatcher): Map<AgentReport, ReceivedIds> {
  const received = new Map<AgentReport, ReceivedIds>();
  for (const { report } of agents) {
    for (const neighbour of report.neighbours) {
      const device = matcher.match(neighbour, report);
      // RouterOS lists its own frames, with the address of whichever interface sent them.
      if (!device || device === report) continue;
      const ids = received.get(device) ?? { chassisIds: new Set(), all: new Set() };
      received.set(device, ids);
      if (neighbour.id.startsWith(CHASSIS_PREFIX)) ids.chassisIds.add(neighbour.id);
      for (const id of [neighbour.id, ...neighbour.aliases]) ids.all.add(id);
    }
  }
  return received;
}
const CHASSIS_PREFIX = chassisDeviceId("");

// Each polled device gets one of its candidate ids. No two devices get the same id, and the result does not depend on the
// order of the devices. An id is free for a device if it is no equally strong or stronger candidate of another device. A
// device gets the first free id that was reported before, else its first free id.

/**
 * How well an id identifies a device, from strong to weak: the device's own chassis id, the chassis id that neighbours
 * receive, other texts of the device, any of its MAC addresses. The last is used only if the device was reported with it
 * before.
 */
const STRENGTH = { chassis: 3, received: 2, own: 1, mac: 0 } as const;

interface CandidateId {
  readonly id: string;
  readonly strength: number;
}

/**
 * Returns the candidates, the best first, each id once. `ownIds` are the ids that the device's own report gives, the chassis
 * id first if there is one. `received` are made of the chassis ids that its neighbours receive.
 */
function candidateIds(
  identity: AgentIdentity,
  ownIds: readonly string[],
  received: readonly string[],
): CandidateId[] {
  const chassis = identity.chassis === undefined ? [] : ownIds.slice(0, 1);
  // If its neighbours receive several ids, those that the device itself reports come first.
  const knownItself = ownIds.filter((id) => received.includes(id));
  const groups: readonly [readonly string[], number][] = [
    [chassis, STRENGTH.chassis],
    [[...knownItself, ...received], STRENGTH.received],
    [ownIds, STRENGTH.own],
    [identity.macs.map(chassisDeviceId), STRENGTH.mac],
  ];
  const candidates = new Map<string, CandidateId>();
  for (const [ids, strength] of groups)
    for (const id of ids) if (!candidates.has(deviceKey(id))) candidates.set(deviceKey(id), { id, strength });
  return [...candidates.values()];
}

/** If several `devices` report the same chassis id, the first one gets it. A device without an id is absent in the result. */
function assignIds(
  devices: ReadonlyMap<AgentReport, readonly CandidateId[]>,
  previousIds: ReadonlySet<string>,
): Map<AgentReport, string> {
  const holders = strongestCandidates(devices);
  const assigned = new Map<AgentReport, string>();
  for (const [report, candidates] of devices) {
    const free = candidates.filter(({ id }) => holders.get(deviceKey(id)) === report);
    const kept = free.find(({ id }) => previousIds.has(deviceKey(id)));
    const chosen = kept ?? free.find(({ strength }) => strength !== STRENGTH.mac);
    if (chosen) assigned.set(report, chosen.id);
  }
  assignRest(devices, assigned);
  return assigned;
}

/** Returns the device with the strongest candidate for each id; undefined if two are equal, except for chassis ids. */
function strongestCandidates(
  devices: ReadonlyMap<AgentReport, readonly CandidateId[]>,
): Map<string, AgentReport | undefined> {
  const best = new Map<string, { strength: number; holder: AgentReport | undefined }>();
  for (const [report, candidates] of devices) {
    for (const { id, strength } of candidates) {
      const known = best.get(deviceKey(id));
      if (!known || known.strength < strength) best.set(deviceKey(id), { strength, holder: report });
      else if (known.strength === strength && strength !== STRENGTH.chassis) known.holder = undefined;
    }
  }
  return new Map([...best].map(([id, { holder }]) => [id, holder]));
}

/** If devices share all their ids, the first device gets the best one. */
function assignRest(
  devices: ReadonlyMap<AgentReport, readonly CandidateId[]>,
  assigned: Map<AgentReport, string>,
): void {
  const taken = new Set([...assigned.values()].map(deviceKey));
  for (const [report, candidates] of devices) {
    if (assigned.has(report)) continue;
    const first = candidates.find(
      ({ id, strength }) => strength !== STRENGTH.mac && !taken.has(deviceKey(id)),
    );
    if (!first) continue;
    taken.add(deviceKey(first.id));
    assigned.set(report, first.id);
  }
}

// `DeviceMatcher` finds the polled device that a neighbour is. A chassis id that the device itself reports, or that is one
// of its MAC addresses, is proof. Another MAC address, a management address, a serial number or a name is evidence.
// Evidence is used only if exactly one polled device has it, and not if it contradicts the chassis id that the device
// itself reports. A management address, serial number or name that was received with two chassis ids is not used.

/** An index of reports. A key that two reports have leads to none of them. */
class UniqueIndex {
  readonly #reports = new Map<string, AgentReport | null>();

  add(key: string, report: AgentReport): void {
    const known = this.#reports.get(key);
    this.#reports.set(key, known === undefined || known === report ? report : null);
  }

  has(key: string): boolean {
    return this.#reports.has(key);
  }

  get(key: string): AgentReport | undefined {
    return this.#reports.get(key) ?? undefined;
  }
}

class DeviceMatcher {
  readonly #byChassis = new UniqueIndex();
  readonly #byMac = new UniqueIndex();
  readonly #byEvidence = new UniqueIndex();
  /** The chassis ids that were received with each piece of evidence. */
  readonly #chassisOf = new Multimap<string, string>();

  constructor(reports: readonly AgentReport[]) {
    for (const report of reports) {
      const { chassis, macs, addresses, serial, name } = report.identity;
      if (chassis !== undefined) this.#byChassis.add(chassis.toLowerCase(), report);
      for (const mac of macs) this.#byMac.add(mac, report);
      for (const address of addresses) this.#byEvidence.add(`address ${address}`, report);
      if (serial !== undefined) this.#byEvidence.add(`serial ${serial.toLowerCase()}`, report);
      if (name !== undefined) for (const key of ownNameKeys(name)) this.#byEvidence.add(key, report);
      for (const neighbour of report.neighbours) this.#addReceived(neighbour);
    }
  }

  match(neighbour: Neighbour, from: AgentReport): AgentReport | undefined {
    if (neighbour.isChassisIdentity) {
      const proven =
        this.#byChassis.get(neighbour.chassis.toLowerCase()) ?? this.#byMac.get(neighbour.chassis);
      // An address that two devices have does not identify one of them, but it excludes all other devices.
      if (proven || this.#byMac.has(neighbour.chassis)) return proven;
    }
    for (const mac of neighbour.macs) {
      const found = isOwnMac(mac) ? this.#byMac.get(mac) : undefined;
      if (found && this.#mayBe(found, neighbour, from)) return found;
    }
    for (const key of evidenceOf(neighbour)) {
      const found = this.#byEvidence.get(key);
      const isAmbiguous = this.#chassisOf.of(key).size > 1;
      if (found && !isAmbiguous && this.#mayBe(found, neighbour, from)) return found;
    }
    return undefined;
  }

  #mayBe(found: AgentReport, neighbour: Neighbour, from: AgentReport): boolean {
    return found !== from && !(neighbour.isChassisIdentity && found.identity.chassis !== undefined);
  }

  #addReceived(neighbour: Neighbour): void {
    if (!neighbour.isChassisIdentity) return;
    for (const key of evidenceOf(neighbour)) this.#chassisOf.add(key, neighbour.chassis);
  }
}

function evidenceOf({ addresses, serial, name }: Neighbour): string[] {
  return [
    ...addresses.map((address) => `address ${address}`),
    ...(serial === undefined ? [] : [`serial ${serial.toLowerCase()}`]),
    ...(name === "" ? [] : receivedNameKeys(name.toLowerCase())),
  ];
}

/** A name with a domain matches the same name without a domain, but not the same name in another domain. */
const ownNameKeys = (name: string): string[] => {
  const key = name.toLowerCase();
  return key.includes(".") ? [`name ${key}`, `label ${firstLabel(key)}`] : [`name ${key}`, `bare ${key}`];
};
const receivedNameKeys = (key: string): string[] =>
  key.includes(".") ? [`name ${key}`, `bare ${firstLabel(key)}`] : [`name ${key}`, `label ${key}`];
