/**
 * The ids of polled devices, and which of them a neighbour is. A device that has been seen only as a neighbour keeps its
 * id when it is polled, so a polled device is first looked up by what its neighbours receive from it. In this order:
 *
 * 1. an id that was reported before and that belongs to the device (its chassis, a MAC address of it, its serial number,
 *    its name, or what a neighbour calls it now);
 * 2. its own chassis id;
 * 3. the chassis id that a neighbour receives;
 * 4. its bridge address, serial number, lowest MAC address, name: the first that no other device has.
 *
 * None depends on the order of the agents. Without 1. a device that cannot tell its own chassis id has another id when no
 * neighbour that sees it is known, and one whose serial number or name was unique has another when a second appears.
 */
import { chassisDeviceId, nameDeviceId, serialDeviceId } from "../../model/derived-ids.ts";
import { deviceKey } from "../../model/ids.ts";
import type { AgentIdentity, AgentReport, Neighbour, PolledAgent, RecordFault } from "./agent-report.ts";
import { DeviceMatcher } from "./device-matcher.ts";
import { InterfaceFinder } from "./find-interface.ts";

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
  /** The polled device that a neighbour of `from` is; undefined when it is not polled. */
  readonly deviceOf: (neighbour: Neighbour, from: PolledDevice) => PolledDevice | undefined;
  readonly faults: readonly RecordFault[];
}

export function identifyDevices(
  agents: readonly PolledAgent[],
  previousIds: ReadonlySet<string>,
): IdentifiedDevices {
  const faults: RecordFault[] = [];
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
  const previous = new Set([...previousIds].map(deviceKey));
  const claimants = countIds(distinct);
  const byReport = new Map<AgentReport, PolledDevice>();
  const taken = new Set<string>();
  for (const agent of distinct) {
    const { report } = agent;
    const isUnique = (id: string): boolean => (claimants.get(deviceKey(id)) ?? 0) <= 1;
    const id = chooseId(report.identity, received.get(report) ?? [], previous, isUnique);
    if (taken.has(deviceKey(id))) {
      reject(agent, `has the same id as another agent, ${id}`);
      continue;
    }
    taken.add(deviceKey(id));
    const aliases = new Set([...ownIds(report.identity).slice(0, 1), ...(received.get(report) ?? [])]);
    aliases.delete(id);
    byReport.set(report, {
      id,
      aliases: [...aliases],
      report,
      finder: new InterfaceFinder(report.interfaces),
      ...(agent.unansweredSince !== undefined && { unansweredSince: agent.unansweredSince }),
    });
  }
  const deviceOf = (neighbour: Neighbour, from: PolledDevice): PolledDevice | undefined => {
    const report = matcher.match(neighbour, from.report);
    return report && byReport.get(report);
  };
  return { devices: [...byReport.values()], deviceOf, faults };
}

/** One device may be polled at several of its addresses: of these the first that answers counts. */
function withoutDuplicates(agents: readonly PolledAgent[]): PolledAgent[] {
  const seen = new Set<string>();
  return [...agents].sort(compareAgents).filter(({ report: { identity } }) => {
    const { chassis, bridgeAddress, lowestMac, serial, name } = identity;
    const key = JSON.stringify([chassis, bridgeAddress, lowestMac, serial, name]);
    const isIdentified = ownIds(identity).length > 0;
    return !(isIdentified && seen.has(key)) && seen.add(key);
  });
}

const compareAgents = (a: PolledAgent, b: PolledAgent): number =>
  Number(a.unansweredSince !== undefined) - Number(b.unansweredSince !== undefined) ||
  (a.report.target < b.report.target ? -1 : 1);

/** Best first. */
function ownIds({ chassis, bridgeAddress, serial, lowestMac, name }: AgentIdentity): string[] {
  return [
    ...(chassis === undefined ? [] : [chassisDeviceId(chassis)]),
    ...(bridgeAddress === undefined ? [] : [chassisDeviceId(bridgeAddress)]),
    ...(serial === undefined ? [] : [serialDeviceId(serial)]),
    ...(lowestMac === undefined ? [] : [chassisDeviceId(lowestMac)]),
    ...(name === undefined ? [] : [nameDeviceId(name)]),
  ];
}

function countIds(agents: readonly PolledAgent[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { report } of agents) {
    const { identity } = report;
    const ids = new Set([...ownIds(identity), ...identity.macs.map(chassisDeviceId)].map(deviceKey));
    for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

/** What the neighbours of each agent call it, sorted. */
function receivedIds(
  agents: readonly PolledAgent[],
  matcher: DeviceMatcher,
): Map<AgentReport, readonly string[]> {
  const received = new Map<AgentReport, Set<string>>();
  for (const { report } of agents) {
    for (const neighbour of report.neighbours) {
      const device = matcher.match(neighbour, report);
      // RouterOS lists its own frames, with the address of whichever interface sent them.
      if (!device || device === report) continue;
      const ids = received.get(device) ?? new Set<string>();
      received.set(device, ids);
      for (const id of [neighbour.id, ...neighbour.aliases]) ids.add(id);
    }
  }
  return new Map([...received].map(([report, ids]) => [report, [...ids].sort()]));
}

function chooseId(
  identity: AgentIdentity,
  received: readonly string[],
  previous: ReadonlySet<string>,
  isUnique: (id: string) => boolean,
): string {
  const own = ownIds(identity);
  const macIds = identity.macs.map(chassisDeviceId);
  const kept = [...own, ...received, ...macIds].find((id) => previous.has(deviceKey(id)) && isUnique(id));
  if (kept !== undefined) return kept;
  const chassis = identity.chassis === undefined ? undefined : chassisDeviceId(identity.chassis);
  const receivedChassis = received.filter((id) => id.startsWith("lldp:"));
  const best = chassis ?? own.find((id) => receivedChassis.includes(id)) ?? receivedChassis[0];
  return best ?? own.find(isUnique) ?? own[0] ?? "";
}
