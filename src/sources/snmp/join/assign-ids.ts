/**
 * Gives each polled device one of its candidate ids, so that no two have the same, whatever the order of the devices. A
 * device may have an id that no other has a better or an equal claim to. Of these it has the first that was reported
 * before, else the first.
 */
import { chassisDeviceId } from "../../../model/derived-ids.ts";
import { deviceKey } from "../../../model/ids.ts";
import type { AgentIdentity, AgentReport } from "../tables/agent-report.ts";

/**
 * How good the claim is: the device's own chassis id, the chassis id that neighbours receive, other texts of the device,
 * any of its MAC addresses. The last is only for a device that was reported with it before.
 */
const CLAIM = { chassis: 3, received: 2, own: 1, mac: 0 } as const;

export interface CandidateId {
  readonly id: string;
  readonly claim: number;
}

/**
 * Best first, each id once. `ownIds` are those of the device alone, the chassis id first where there is one; `received`
 * are made of the chassis ids that its neighbours receive.
 */
export function candidateIds(
  identity: AgentIdentity,
  ownIds: readonly string[],
  received: readonly string[],
): CandidateId[] {
  const chassis = identity.chassis === undefined ? [] : ownIds.slice(0, 1);
  // Of several that its neighbours receive, the one that the device knows itself.
  const knownItself = ownIds.filter((id) => received.includes(id));
  const groups: readonly [readonly string[], number][] = [
    [chassis, CLAIM.chassis],
    [[...knownItself, ...received], CLAIM.received],
    [ownIds, CLAIM.own],
    [identity.macs.map(chassisDeviceId), CLAIM.mac],
  ];
  const candidates = new Map<string, CandidateId>();
  for (const [ids, claim] of groups)
    for (const id of ids) if (!candidates.has(deviceKey(id))) candidates.set(deviceKey(id), { id, claim });
  return [...candidates.values()];
}

/** `devices` in the order in which equal claims to a chassis id count. A device that gets no id is absent. */
export function assignIds(
  devices: ReadonlyMap<AgentReport, readonly CandidateId[]>,
  previousIds: ReadonlySet<string>,
): Map<AgentReport, string> {
  const holders = bestClaims(devices);
  const assigned = new Map<AgentReport, string>();
  for (const [report, candidates] of devices) {
    const free = candidates.filter(({ id }) => holders.get(deviceKey(id)) === report);
    const kept = free.find(({ id }) => previousIds.has(deviceKey(id)));
    const chosen = kept ?? free.find(({ claim }) => claim !== CLAIM.mac);
    if (chosen) assigned.set(report, chosen.id);
  }
  assignRest(devices, assigned);
  return assigned;
}

/** The device with the best claim to each id; undefined where two have an equal one, but for chassis ids. */
function bestClaims(
  devices: ReadonlyMap<AgentReport, readonly CandidateId[]>,
): Map<string, AgentReport | undefined> {
  const best = new Map<string, { claim: number; holder: AgentReport | undefined }>();
  for (const [report, candidates] of devices) {
    for (const { id, claim } of candidates) {
      const known = best.get(deviceKey(id));
      if (!known || known.claim < claim) best.set(deviceKey(id), { claim, holder: report });
      else if (known.claim === claim && claim !== CLAIM.chassis) known.holder = undefined;
    }
  }
  return new Map([...best].map(([id, { holder }]) => [id, holder]));
}

/** Devices that share all their ids: the first of them has the best one. */
function assignRest(
  devices: ReadonlyMap<AgentReport, readonly CandidateId[]>,
  assigned: Map<AgentReport, string>,
): void {
  const taken = new Set([...assigned.values()].map(deviceKey));
  for (const [report, candidates] of devices) {
    if (assigned.has(report)) continue;
    const first = candidates.find(({ id, claim }) => claim !== CLAIM.mac && !taken.has(deviceKey(id)));
    if (!first) continue;
    taken.add(deviceKey(first.id));
    assigned.set(report, first.id);
  }
}
