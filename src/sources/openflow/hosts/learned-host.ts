/** One host as learned from its announcements: its locations, its addresses, when each was last seen, and its claim. */
import { Multimap } from "../../../lib/multimap.ts";
import type { HostClaim } from "../../../model/claim.ts";
import { hostId } from "../../../model/ids.ts";
import type { VlanTags } from "../codec/ethernet.ts";
import { type PortRef, portText } from "../codec/port.ts";

export interface Activity {
  lastSeenAt: number;
  /** Number of announcements. It distinguishes a reply from an announcement in the same millisecond before the probe. */
  count: number;
  /** The time at which the last probe was sent; 0 when none was. */
  probedAt: number;
  /** Number of probes since it was last seen. */
  probes: number;
}

export interface LearnedLocation extends Activity {
  readonly ref: PortRef;
}

export const firstActivity = (now: number): Activity => ({
  lastSeenAt: now,
  count: 1,
  probedAt: 0,
  probes: 0,
});

export function recordActivity(activity: Activity, now: number): void {
  activity.lastSeenAt = now;
  activity.count++;
  activity.probes = 0;
}

export class LearnedHost {
  readonly id: string;
  readonly mac: string;
  readonly tags: VlanTags;
  /** The locations, newest first. There is more than one only during a conflict. */
  locations: LearnedLocation[] = [];
  readonly addresses = new Map<string, Activity>();
  /** The peer address of the switch that first reported the host. The host counts for this address. */
  peerAddress = "";
  /** The transaction id of a DHCP exchange in progress. */
  dhcpTransaction: number | undefined;

  constructor(mac: string, tags: VlanTags) {
    this.mac = mac;
    this.tags = tags;
    this.id = hostId(mac, tags.vlan === undefined ? "None" : String(tags.vlan));
  }

  locationAt(ref: PortRef): LearnedLocation | undefined {
    const key = ref.key;
    return this.locations.find((location) => location.ref.key === key);
  }

  /** `contested` are the addresses that another host uses too. */
  toClaim(contested: readonly string[]): HostClaim {
    const conflicts = contested.map((ip) => `${ip} is in use by another host too`);
    if (this.locations.length > 1) {
      conflicts.unshift(`replies at ${this.locations.map(({ ref }) => ref.key).join(" and ")}`);
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

const MAX_RECENT_PER_PORT = 256;
const MAX_RECENT_HOSTS = 10_000;

/**
 * The hosts that were last seen at ports which went down. They are probed when their port settles again, because an idle
 * host would not be discovered otherwise. A port that has reached its limit stores no further hosts. When the total limit
 * is reached, the oldest host is dropped.
 */
export class RecentHosts {
  /** The hosts by id, oldest first. */
  readonly #hosts = new Map<string, { readonly host: LearnedHost; readonly port: string }>();
  readonly #byPort = new Multimap<string, LearnedHost>();

  add(host: LearnedHost, port: string): void {
    this.delete(host.id);
    if (this.#byPort.of(port).size >= MAX_RECENT_PER_PORT) return;
    const [oldest] = this.#hosts.keys();
    if (oldest !== undefined && this.#hosts.size >= MAX_RECENT_HOSTS) this.delete(oldest);
    this.#hosts.set(host.id, { host, port });
    this.#byPort.add(port, host);
  }

  delete(id: string): void {
    const recent = this.#hosts.get(id);
    if (!recent) return;
    this.#hosts.delete(id);
    this.#byPort.remove(recent.port, recent.host);
  }

  /** Removes and returns the hosts of a port. */
  takeAt(port: string): LearnedHost[] {
    const hosts = [...this.#byPort.of(port)];
    for (const { id } of hosts) this.delete(id);
    return hosts;
  }
}
