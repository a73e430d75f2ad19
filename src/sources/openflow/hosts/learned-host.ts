/** One host as learned from its announcements: its locations, its addresses, when each was last seen, and its claim. */
import type { HostClaim } from "../../../model/claim.ts";
import { hostId } from "../../../model/ids.ts";
import type { VlanTags } from "../codec/ethernet.ts";
import { type PortRef, portKey, portText } from "../codec/port-ref.ts";

export interface Activity {
  lastSeenAt: number;
  /** How often it was seen. Distinguishes a reply from an announcement in the same millisecond before the probe. */
  count: number;
  /** When the last probe was sent; 0 when none was. */
  probedAt: number;
}

export interface HostLocation extends Activity {
  readonly ref: PortRef;
}

export const firstActivity = (now: number): Activity => ({ lastSeenAt: now, count: 1, probedAt: 0 });

export function recordActivity(activity: Activity, now: number): void {
  activity.lastSeenAt = now;
  activity.count++;
}

export class LearnedHost {
  readonly id: string;
  readonly mac: string;
  readonly tags: VlanTags;
  /** Newest first. More than one only during a conflict. */
  locations: HostLocation[] = [];
  readonly addresses = new Map<string, Activity>();
  /** The address of the switch that first reported it. It counts for this peer. */
  peerAddress = "";
  /** The transaction id of a DHCP exchange in progress. */
  dhcpTransaction: number | undefined;

  constructor(mac: string, tags: VlanTags) {
    this.mac = mac;
    this.tags = tags;
    this.id = hostId(mac, tags.vlan === undefined ? "None" : String(tags.vlan));
  }

  locationAt(ref: PortRef): HostLocation | undefined {
    const key = portKey(ref);
    return this.locations.find((location) => portKey(location.ref) === key);
  }

  /** `contested` are the addresses that another host uses too. */
  toClaim(contested: readonly string[]): HostClaim {
    const conflicts = contested.map((ip) => `${ip} is in use by another host too`);
    if (this.locations.length > 1) {
      conflicts.unshift(`replies at ${this.locations.map(({ ref }) => portKey(ref)).join(" and ")}`);
    }
    const { vlan, innerVlan, tpid } = this.tags;
    return {
      mac: this.mac,
      vlan: vlan ?? "None",
      ...(innerVlan !== undefined && { innerVlan }),
      ...(tpid !== undefined && { outerTpid: `0x${tpid.toString(16).padStart(4, "0")}` }),
      ipAddresses: [...this.addresses.keys()],
      locations: this.locations.map(({ ref }) => ({ elementId: ref.device, port: portText(ref.port) })),
      ...(conflicts.length > 0 && { annotations: { conflict: conflicts.join("; ") } }),
    };
  }
}
