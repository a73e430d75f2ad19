/**
 * The ids of polled devices, and which of them a neighbour is. A device that has been seen only as a neighbour keeps its
 * id when it is polled, so a polled device is first looked up by what its neighbours receive from it. In this order:
 *
 * 1. an id that was reported before and that belongs to the device: of its chassis, a MAC address, its serial number, its
 *    name, or the chassis id that a neighbour receives now;
 * 2. its own chassis id;
 * 3. the chassis id that a neighbour receives;
 * 4. its bridge address, serial number, lowest MAC address, name: the first that no other device has.
 *
 * None depends on the order of the agents. Without 1. a device that cannot tell its own chassis id has another id when no
 * neighbour that sees it is known, and one whose serial number or name was unique has another when a second appears.
 */
import { chassisDeviceId, nameDeviceId, serialDeviceId } from "../../../model/derived-ids.ts";
import { deviceKey } from "../../../model/ids.ts";
import type {
  AgentIdentity,
  AgentReport,
  Neighbour,
  PolledAgent,
  RecordFault,
} from "../tables/agent-report.ts";
import { InterfaceFinder } from "../tables/find-interface.ts";
import { assignIds, candidateIds } from "./assign-ids.ts";
import { DeviceMatcher } from "./device-matcher.ts";

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

/** By id, and by the chassis ids that neighbours receive: a frame with less evidence than another is of the same device. */
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

/** One device may be polled at several of its addresses: of these the first that answers counts. */
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

/** What the neighbours of a device call it. */
interface ReceivedIds {
  readonly chassisIds: Set<string>;
  /** Names and serial numbers too. */
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
