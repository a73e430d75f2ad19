/**
 * Joins the reports of all agents: devices with their ports, cables seen from one or both ends, and hosts on edge ports.
 * The functions are pure, and the claims do not depend on the order of the reports. An agent that does not answer keeps its
 * last report, so its claims stay. Its device is unavailable unless a neighbour that answers still receives it.
 */

import { Multimap } from "../../../lib/multimap.ts";
import {
  CLAIM_LIMITS,
  type ClaimLists,
  type DeviceClaim,
  type PortClaim,
  UNANSWERED_SINCE,
} from "../../../model/claim.ts";
import { assignPortNumbers } from "../../../model/derived-ids.ts";
import { type ConnectPoint, deviceKey, portId } from "../../../model/ids.ts";
import { nonEmpty } from "../../non-empty.ts";
import type { RejectedRecord } from "../../source.ts";
import {
  type AgentInterface,
  type Neighbour,
  type PolledAgent,
  typeOfCapabilities,
} from "../tables/agent-report.ts";
import { isAggregate, portType } from "../tables/interfaces.ts";
import { identifyDevices, type PolledDevice } from "./identify-devices.ts";
import { joinHosts } from "./join-hosts.ts";
import { joinLinks, type Observation, observe, remotePortName } from "./join-links.ts";

export interface JoinedAgents {
  readonly claims: ClaimLists;
  readonly faults: readonly RejectedRecord[];
}

/** Maximum number of members that the annotation of an aggregate names. */
const MAX_MEMBERS_SHOWN = 64;

/**
 * `previousIds` are the ids of all devices in the last report of this source, including the last one before a restart. With
 * them a device keeps its id when the evidence for it, such as the cable to a neighbour, is gone.
 */
export function joinAgents(
  agents: readonly PolledAgent[],
  previousIds: ReadonlySet<string> = new Set(),
): JoinedAgents {
  const identified = identifyDevices(agents, previousIds);
  const { devices } = identified;
  const { observations, unplaced, faults } = observe(identified);
  const neighbours = new NeighbourDevices();
  for (const observation of observations)
    if (!observation.to) neighbours.add(observation.neighbour, remotePortName(observation));
  for (const neighbour of unplaced) neighbours.add(neighbour);
  const neighbourPort = neighbours.namedPorts();
  const extraPorts = portsOnlyNamed(observations);
  const links = joinLinks(observations, (observation) => {
    const name = remotePortName(observation);
    const { to, neighbour } = observation;
    if (!to) return neighbourPort(neighbour.id, name);
    const port = extraPorts.get(to)?.get(name);
    return port === undefined ? undefined : { device: to.id, port };
  });
  const received = new Set(
    observations.flatMap(({ from, to }) => (to && from.unansweredSince === undefined ? [to] : [])),
  );
  const linkedPorts = new Set(links.map(({ src }) => portId(src.device, src.port)));
  return {
    claims: {
      devices: withUniqueAliases([
        ...devices.map((device) => deviceClaim(device, received.has(device))),
        ...neighbours.deviceClaims(),
      ]),
      ports: [
        ...devices.flatMap((device) => portClaims(device)),
        ...[...extraPorts].flatMap(([device, names]) => extraPortClaims(device, names, linkedPorts)),
        ...neighbours.portClaims(neighbourPort),
      ],
      links,
      hosts: joinHosts(devices, observations),
    },
    faults: [...agents.flatMap(({ report }) => report.faults), ...identified.faults, ...faults],
  };
}

/** Removes aliases that are also the id or an alias of another device, such as a name that two devices have. */
function withUniqueAliases(devices: readonly DeviceClaim[]): DeviceClaim[] {
  const uses = new Map<string, number>();
  for (const { id, aliases = [] } of devices)
    for (const each of [id, ...aliases]) uses.set(deviceKey(each), (uses.get(deviceKey(each)) ?? 0) + 1);
  return devices.map(({ aliases = [], ...device }) => {
    const unique = aliases.filter((alias) => uses.get(deviceKey(alias)) === 1);
    return unique.length === 0 ? device : { ...device, aliases: unique.slice(0, CLAIM_LIMITS.aliases) };
  });
}

/** Returns the ports of polled devices that a neighbour names and no interface has: port numbers by name, by device. */
function portsOnlyNamed(observations: readonly Observation[]): Map<PolledDevice, Map<string, string>> {
  const names = new Multimap<PolledDevice, string>();
  for (const observation of observations)
    if (observation.to && !observation.remote) names.add(observation.to, remotePortName(observation));
  return new Map([...names].map(([device, each]) => [device, numbersOf(device, each)]));
}

/** Interfaces are added under names that begin with NUL, which no neighbour can send, so that their numbers are taken. */
const numbersOf = ({ report }: PolledDevice, names: ReadonlySet<string>): Map<string, string> =>
  assignPortNumbers([
    ...report.interfaces.map(({ index }) => ({ name: `\u0000${index}`, number: index })),
    ...[...names].map((name) => ({ name })),
  ]);

function deviceClaim(
  { id, aliases, report, unansweredSince }: PolledDevice,
  isReceived: boolean,
): DeviceClaim {
  const isSilent = unansweredSince !== undefined && !isReceived;
  return {
    ...report.device,
    id,
    available: !isSilent,
    aliases: [...aliases],
    annotations: {
      ...report.device.annotations,
      ...(isSilent && { [UNANSWERED_SINCE]: new Date(unansweredSince).toISOString() }),
    },
  };
}

function portClaims({ id, report }: PolledDevice): PortClaim[] {
  const byIndex = new Map(report.interfaces.map((port) => [port.index, port]));
  const members = Map.groupBy(report.interfaces, ({ aggregate }) => aggregate);
  return report.interfaces.map((port): PortClaim => {
    const aggregate = port.aggregate === undefined ? undefined : byIndex.get(port.aggregate);
    return {
      element: id,
      port: String(port.index),
      isEnabled: port.isUp,
      type: portType(port),
      portSpeed: port.speedMbps,
      annotations: {
        portName: port.name,
        ...nonEmpty({
          alias: port.alias,
          mac: port.mac,
          aggregate: aggregate?.name,
          aggregatePort: aggregate && String(aggregate.index),
          members: isAggregate(port) ? namesOf(members.get(port.index) ?? []) : undefined,
        }),
      },
    };
  });
}

const namesOf = (members: readonly AgentInterface[]): string =>
  members
    .slice(0, MAX_MEMBERS_SHOWN)
    .map(({ name }) => name)
    .join(", ");

/** Returns claims of the ports that a link ends at. Other names are left out: the report of the other end named the interface. */
function extraPortClaims(
  { id }: PolledDevice,
  names: ReadonlyMap<string, string>,
  linkedPorts: ReadonlySet<string>,
): PortClaim[] {
  return [...names].flatMap(([portName, port]) =>
    portName.startsWith("\u0000") || !linkedPorts.has(portId(id, port))
      ? []
      : [{ element: id, port, isEnabled: true, annotations: { portName } }],
  );
}

// Devices that are known only because a polled device has them as a neighbour, with the ports that they name. Several
// agents may receive one device. The first non-empty text in the order of agents and ports is used.

type NamedPorts = (id: string, portName: string) => ConnectPoint | undefined;

interface Entry {
  /** The id, of several spellings the lowest in order, so that the order of the agents does not matter. */
  id: string;
  readonly neighbours: Neighbour[];
  /** The port descriptions that the neighbour sends, by port name. */
  readonly ports: Map<string, string>;
}

class NeighbourDevices {
  readonly #entries = new Map<string, Entry>();

  /** `portName` is absent when the port that received the neighbour is not known. */
  add(neighbour: Neighbour, portName?: string): void {
    const entry: Entry = this.#entries.get(deviceKey(neighbour.id)) ?? {
      id: neighbour.id,
      neighbours: [],
      ports: new Map(),
    };
    this.#entries.set(deviceKey(neighbour.id), entry);
    if (neighbour.id < entry.id) entry.id = neighbour.id;
    entry.neighbours.push(neighbour);
    if (portName !== undefined) entry.ports.set(portName, entry.ports.get(portName) || neighbour.portDesc);
  }

  /** Returns a function that finds ports by name. To be called after all neighbours were added, because names may collide. */
  namedPorts(): NamedPorts {
    const numbers = new Map<string, Map<string, string>>();
    for (const [key, { ports }] of this.#entries)
      numbers.set(key, assignPortNumbers([...ports.keys()].map((name) => ({ name }))));
    return (id, portName) => {
      const device = this.#entries.get(deviceKey(id))?.id;
      const port = numbers.get(deviceKey(id))?.get(portName);
      return device === undefined || port === undefined ? undefined : { device, port };
    };
  }

  *deviceClaims(): Generator<DeviceClaim> {
    for (const { id, neighbours } of this.#entries.values()) {
      const first = (text: (neighbour: Neighbour) => string | undefined): string | undefined =>
        neighbours.map(text).find(Boolean);
      const capabilities = [...new Set(neighbours.flatMap((each) => each.capabilities))];
      const isLldp = neighbours.some((each) => each.protocols.includes("LLDP"));
      yield {
        id,
        type: typeOfCapabilities(capabilities),
        available: true,
        ...nonEmpty({
          hw: first((each) => each.platform),
          sw: first((each) => each.description),
          serial: first((each) => each.serial),
          chassisId: first((each) => each.chassis),
        }),
        aliases: [...new Set(neighbours.flatMap((each) => each.aliases))],
        annotations: nonEmpty({
          protocol: isLldp ? "LLDP" : "CDP",
          name: first((each) => each.name),
          managementAddress: first((each) => each.addresses[0]),
          capabilities: capabilities.sort().join(", "),
        }),
      };
    }
  }

  *portClaims(find: NamedPorts): Generator<PortClaim> {
    for (const { id, ports } of this.#entries.values()) {
      for (const [name, description] of ports) {
        const port = find(id, name)?.port;
        if (port === undefined) continue;
        yield { element: id, port, isEnabled: true, annotations: nonEmpty({ portName: name, description }) };
      }
    }
  }
}
