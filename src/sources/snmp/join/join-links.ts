/**
 * Joins neighbours into cables. Each end may report the other. What an agent reports about its own port is preferred to
 * what the neighbour sends about that port, so a report in the other direction is used first. A cable is two links, one per
 * direction, each with the annotation `matchedBy`, which says how its ends were found. `oneSided` marks a cable that only
 * one end reports. LLDP and CDP are not authenticated, so no link is verified.
 */

import type { LinkClaim } from "../../../model/claim.ts";
import { type ConnectPoint, portId } from "../../../model/ids.ts";
import type { RejectedRecord } from "../../source.ts";
import type { Neighbour, PortMatch } from "../tables/agent-report.ts";
import type { IdentifiedDevices, PolledDevice } from "./identify-devices.ts";

const MAX_NEIGHBOURS_PER_PORT = 64;

/** A neighbour on one port of a polled device. */
export interface Observation {
  readonly from: PolledDevice;
  readonly local: PortMatch;
  readonly neighbour: Neighbour;
  /** The neighbour's device; undefined when the neighbour is not polled. */
  readonly to?: PolledDevice;
  /** The neighbour's port, found by what the neighbour sends about it. */
  readonly remote?: PortMatch;
}

/** An end of a cable, and how it was found. */
export interface CableEnd extends ConnectPoint {
  readonly how: string;
  readonly isUp: boolean;
}

export function observe({ devices, deviceOf }: IdentifiedDevices): {
  readonly observations: Observation[];
  /** Neighbours that are not polled and were received on a port that no interface has. */
  readonly unplaced: Neighbour[];
  readonly faults: RejectedRecord[];
} {
  const observations: Observation[] = [];
  const unplaced: Neighbour[] = [];
  const faults: RejectedRecord[] = [];
  for (const from of devices) {
    const perPort = new Map<number, number>();
    for (const neighbour of from.report.neighbours) {
      const to = deviceOf(neighbour, from);
      const local = neighbour.localPort;
      if (!local) {
        if (!to) unplaced.push(neighbour);
        const field = `${from.report.target} ${neighbour.protocols.join(", ")} ${neighbour.id}`;
        faults.push({
          kind: "links",
          fault: { field, message: "was received on a port that no interface has" },
        });
        continue;
      }
      const count = (perPort.get(local.index) ?? 0) + 1;
      perPort.set(local.index, count);
      if (count > MAX_NEIGHBOURS_PER_PORT) continue;
      const remote = to && findRemotePort(to, neighbour);
      observations.push({ from, local, neighbour, ...(to && { to }), ...(remote && { remote }) });
    }
  }
  return { observations, unplaced, faults };
}

function findRemotePort(
  { finder }: PolledDevice,
  { portId: id, portDesc }: Neighbour,
): PortMatch | undefined {
  const number = /^\d{1,9}$/.test(id) ? Number(id) : undefined;
  return finder.find({
    texts: [
      { label: "portId", text: id },
      { label: "portDesc", text: portDesc },
    ],
    ...(number !== undefined && { number }),
  });
}

/** Returns the name of a port that is known only by what the neighbour sends. A missing name is made from the local port. */
export const remotePortName = ({ neighbour, from, local }: Observation): string =>
  neighbour.portId || neighbour.portDesc || `unknown (at ${from.id} ${local.index})`;

interface Cable {
  readonly ends: readonly [CableEnd, CableEnd];
  readonly protocols: Set<string>;
  /** The devices that report the cable, by the port at which they report it. */
  readonly reporters: Map<string, PolledDevice>;
  readonly devices: readonly (PolledDevice | undefined)[];
}

export function joinLinks(
  observations: readonly Observation[],
  namedPort: (observation: Observation) => ConnectPoint | undefined,
): LinkClaim[] {
  const between = Map.groupBy(
    observations.filter(({ to }) => to !== undefined),
    ({ from, to }) => `${from.id} ${to?.id}`,
  );
  const cables = new Map<string, Cable>();
  for (const observation of observations) {
    const { from, to, local, neighbour } = observation;
    const back = to ? (between.get(`${to.id} ${from.id}`) ?? []) : [];
    const forth = to ? (between.get(`${from.id} ${to.id}`) ?? []) : [];
    const remote = to && joinRemotePort(observation, back, forth);
    // A device that receives its own frames has no cable between its ports, unless both ports report each other.
    const isOwn = to === from;
    if (isOwn && (remote?.index === local.index || !back.some((each) => isReverse(each, observation))))
      continue;
    const far = farEnd(observation, remote, namedPort);
    if (!far) continue;
    const near = polledEnd(from, local);
    addCable(cables, near, far, observation, neighbour);
  }
  return [...cables.values()].flatMap(linkClaims);
}

const isReverse = (a: Observation, b: Observation): boolean =>
  a.local.index === b.remote?.index && b.local.index === a.remote?.index;

function joinRemotePort(
  { local, remote }: Observation,
  back: readonly Observation[],
  forth: readonly Observation[],
): PortMatch | undefined {
  const pointBack = back.filter((each) => each.remote?.index === local.index);
  const [only] = pointBack;
  if (only && pointBack.length === 1 && only.local.index !== remote?.index)
    return { index: only.local.index, how: `${only.local.how}, by its own report` };
  if (remote) return remote;
  const unknownBack = back.filter((each) => !each.remote);
  const [lone] = unknownBack;
  const isOnlyCable = unknownBack.length === 1 && forth.filter((each) => !each.remote).length === 1;
  return lone && isOnlyCable ? { index: lone.local.index, how: "the only cable between the two" } : undefined;
}

function polledEnd(device: PolledDevice, match: PortMatch): CableEnd {
  const isUp = device.finder.get(match.index)?.isUp ?? true;
  return { device: device.id, port: String(match.index), how: match.how, isUp };
}

function farEnd(
  observation: Observation,
  remote: PortMatch | undefined,
  namedPort: (observation: Observation) => ConnectPoint | undefined,
): CableEnd | undefined {
  const { to, neighbour } = observation;
  if (to && remote) return polledEnd(to, remote);
  const port = namedPort(observation);
  const how = neighbour.portId !== "" ? "portId" : neighbour.portDesc !== "" ? "portDesc" : "port not named";
  return port && { ...port, how, isUp: true };
}

function addCable(
  cables: Map<string, Cable>,
  near: CableEnd,
  far: CableEnd,
  { from, to }: Observation,
  neighbour: Neighbour,
): void {
  const isInOrder = portId(near.device, near.port) < portId(far.device, far.port);
  const ends: [CableEnd, CableEnd] = isInOrder ? [near, far] : [far, near];
  const key = ends.map((end) => portId(end.device, end.port)).join(" ");
  const known = cables.get(key);
  const cable: Cable = known ?? {
    ends,
    protocols: new Set(),
    reporters: new Map(),
    devices: [from, to],
  };
  for (const protocol of neighbour.protocols) cable.protocols.add(protocol);
  cable.reporters.set(portId(near.device, near.port), from);
  // An end is described by its own report if there is one.
  cables.set(key, known ? { ...cable, ends: replaceEnd(known.ends, near) } : cable);
}

const replaceEnd = (ends: Cable["ends"], near: CableEnd): Cable["ends"] => {
  const [first, second] = ends;
  return first.device === near.device && first.port === near.port ? [near, second] : [first, near];
};

function linkClaims({ ends: [a, b], protocols, reporters, devices }: Cable): LinkClaim[] {
  const isOneSided = reporters.size < 2;
  // The link is doubtful when only silent devices report the cable, and a device at its end answers without reporting it.
  const isDoubtful =
    [...reporters.values()].every((each) => each.unansweredSince !== undefined) &&
    devices.some((each) => each && each.unansweredSince === undefined);
  const state = a.isUp && b.isUp && !isDoubtful ? "ACTIVE" : "INACTIVE";
  const link = (src: CableEnd, dst: CableEnd): LinkClaim => ({
    src: { device: src.device, port: src.port },
    dst: { device: dst.device, port: dst.port },
    type: "DIRECT",
    state,
    verified: false,
    annotations: {
      protocol: [...protocols].sort().reverse().join(", "),
      matchedBy: `src ${src.how}; dst ${dst.how}`,
      ...(isOneSided && { oneSided: "true" }),
    },
  });
  return [link(a, b), link(b, a)];
}
