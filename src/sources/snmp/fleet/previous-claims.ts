/**
 * The claims from before a restart of the service, for agents that have not answered since. Without them a device that is
 * silent at the start would be removed, together with everything that it reported.
 *
 * A device belongs to the target in its annotation `channelId`. The device and its ports, links and hosts are carried over
 * until the target answers or is no longer a target. For links and hosts, current reports of other agents replace the
 * carried ones. For the device and its ports the carried claims are used, because neighbours report less about them.
 */
import {
  type ClaimLists,
  type Claims,
  type DeviceClaim,
  type HostClaim,
  type LinkClaim,
  type PortClaim,
  UNANSWERED_SINCE,
} from "../../../model/claim.ts";
import { deviceKey, hostId, linkId } from "../../../model/ids.ts";

/** A target that has not answered since the start. */
export interface PendingTarget {
  readonly unansweredSince: number | undefined;
}

export class PreviousClaims {
  /** The ids of all devices, including those that are only neighbours. */
  readonly deviceIds: ReadonlySet<string>;
  readonly #devices = new Map<string, DeviceClaim>();
  readonly #ports: readonly PortClaim[];
  readonly #links: readonly LinkClaim[];
  readonly #hosts: readonly HostClaim[];

  constructor(claims: Claims) {
    const ids = new Set<string>();
    for (const claim of claims.devices ?? []) {
      ids.add(claim.id);
      if (claim.annotations?.channelId) this.#devices.set(deviceKey(claim.id), claim);
    }
    this.deviceIds = ids;
    this.#ports = [...(claims.ports ?? [])];
    this.#links = [...(claims.links ?? [])];
    this.#hosts = [...(claims.hosts ?? [])];
  }

  /** Returns the targets that the devices belong to. */
  targets(): Set<string> {
    return new Set([...this.#devices.values()].map((claim) => claim.annotations?.channelId ?? ""));
  }

  /** Returns `claims` with the claims that are carried over for the targets that have not answered. */
  addTo(claims: ClaimLists, pending: ReadonlyMap<string, PendingTarget>): ClaimLists {
    const carried = new Map<string, DeviceClaim>();
    const current = new Map(claims.devices.map((claim) => [deviceKey(claim.id), claim]));
    for (const [key, claim] of this.#devices) {
      const target = pending.get(claim.annotations?.channelId ?? "");
      const seen = current.get(key);
      // The same device may have answered at another target. Its own current report is then used.
      if (!target || seen?.annotations?.channelId) continue;
      carried.set(key, atPresent(claim, target, seen));
    }
    if (carried.size === 0) return claims;
    const isCarried = (device: string) => carried.has(deviceKey(device));
    const isKnown = (device: string) => isCarried(device) || current.has(deviceKey(device));
    const linkIds = new Set(claims.links.map(idOfLink));
    const hostIds = new Set(claims.hosts.map(idOfHost));
    return {
      devices: [...claims.devices.filter(({ id }) => !isCarried(id)), ...carried.values()],
      ports: [
        ...claims.ports.filter(({ element }) => !isCarried(element)),
        ...this.#ports.filter(({ element }) => isCarried(element)),
      ],
      links: [
        ...claims.links,
        ...this.#links.filter(
          (link) =>
            (isCarried(link.src.device) || isCarried(link.dst.device)) &&
            isKnown(link.src.device) &&
            isKnown(link.dst.device) &&
            !linkIds.has(idOfLink(link)),
        ),
      ],
      hosts: [
        ...claims.hosts,
        ...this.#hosts.filter(
          (host) =>
            host.locations.some(({ elementId }) => isCarried(elementId)) && !hostIds.has(idOfHost(host)),
        ),
      ],
    };
  }
}

/** Returns the carried claim with its current availability. `seen` is what neighbours report about the device now. */
function atPresent(claim: DeviceClaim, target: PendingTarget, seen: DeviceClaim | undefined): DeviceClaim {
  if (target.unansweredSince === undefined) return claim;
  const { [UNANSWERED_SINCE]: before, ...annotations } = claim.annotations ?? {};
  if (seen && seen.available !== false) return { ...claim, available: true, annotations };
  const since = before ?? new Date(target.unansweredSince).toISOString();
  return { ...claim, available: false, annotations: { ...annotations, [UNANSWERED_SINCE]: since } };
}

const idOfLink = ({ src, dst }: LinkClaim): string => linkId(src, dst);
const idOfHost = ({ mac, vlan }: HostClaim): string => hostId(mac, String(vlan ?? "None"));
