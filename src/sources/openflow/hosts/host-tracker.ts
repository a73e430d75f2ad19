/**
 * Tracks hosts: learns them from announcements on edge ports and removes them when they no longer reply.
 *
 * - When a known host appears at a second port, or a known address at a second host, the old owner is first probed by ARP
 *   or ND. No reply means a move. A reply means a conflict: both are claimed and flagged until one stops replying.
 * - A silent host is probed three times in the second half of its timeout, at each of its addresses.
 * - When a port goes down, its hosts are removed at once. When a switch disconnects, its hosts are removed after the link
 *   timeout. Removed hosts are stored and probed when their port settles again, because an idle host would not be discovered
 *   otherwise.
 *
 * Each announcement costs the same, because the locations of a host and the owners of an address are limited. Hosts are
 * limited per peer address and in total, and a new host or a move uses the change budget of its switch.
 */
import ipaddr from "ipaddr.js";
import { Multimap } from "../../../lib/multimap.ts";
import { Quota } from "../../../lib/quota.ts";
import { COST, forEachInSteps, type Steps } from "../../../lib/steps.ts";
import type { ClaimBuffer } from "../claim-buffer.ts";
import { type Announcement, writeArpProbe, writeNeighbourSolicitation } from "../codec/announcement.ts";
import { isStationIp, isStationMac, type VlanTags } from "../codec/ethernet.ts";
import type { PortRef } from "../codec/port.ts";
import { macBytes } from "../codec/wire.ts";
import { PROBE_SOURCE_MAC } from "../flows.ts";
import type { OpenflowSettings } from "../options.ts";
import {
  type Activity,
  firstActivity,
  LearnedHost,
  type LearnedLocation,
  RecentHosts,
  recordActivity,
} from "./learned-host.ts";

const MAX_ADDRESSES = 64;
/** Maximum number of locations that one host has during a conflict. */
const MAX_LOCATIONS = 8;
/** Maximum number of hosts that have the same address during a conflict. */
const MAX_OWNERS = 8;
/** Number of hosts that are probed at once when their port comes back. The others are probed when they are due. */
const MAX_PROBED_AT_ONCE = 256;
const MAX_PROBES = 3;
/** During a conflict each owner is probed at this interval, and removed when it does not reply within the timeout. */
const CONFLICT_PROBE_INTERVAL_MS = 5000;
const CONFLICT_TIMEOUT_MS = 16_000;

export interface HostEnvironment {
  /** Whether the port is up, its switch is connected and no other switch is behind it, so that its hosts can reply. */
  isEdge(ref: PortRef): boolean;
  sendFrame(ref: PortRef, frame: Uint8Array): void;
  /** The peer address of the port's switch. */
  addressOf(ref: PortRef): string;
  /** Whether the port's switch may add or change a record now. */
  mayChange(ref: PortRef): boolean;
  count(what: "hosts_refused_total" | "host_conflicts_total" | "host_moves_total"): void;
}

export class HostTracker {
  readonly #claims: ClaimBuffer;
  readonly #environment: HostEnvironment;
  readonly #settings: OpenflowSettings;
  readonly #hosts = new Map<string, LearnedHost>();
  readonly #byPort = new Multimap<string, LearnedHost>();
  /** The hosts that use each address. Several hosts use one only during a conflict. */
  readonly #owners = new Multimap<string, LearnedHost>();
  readonly #duplicates = new DuplicateDetection();
  readonly #recentHosts = new RecentHosts();
  readonly #quota: Quota;

  constructor(claims: ClaimBuffer, environment: HostEnvironment, settings: OpenflowSettings) {
    this.#claims = claims;
    this.#environment = environment;
    this.#settings = settings;
    this.#quota = new Quota({ perKey: settings.maxHostsPerAddress, total: settings.maxHosts });
  }

  get size(): number {
    return this.#hosts.size;
  }

  announcementReceived(ref: PortRef, tags: VlanTags, announcement: Announcement, now: number): void {
    if (announcement.mac === PROBE_SOURCE_MAC || !isStationMac(announcement.mac)) return;
    if (announcement.lease) this.#leaseReceived(announcement.lease, tags, now);
    const newHost = new LearnedHost(announcement.mac, tags);
    const host = this.#hosts.get(newHost.id) ?? newHost;
    if (host === newHost && !this.#admit(host, ref)) return;
    const location = host.locationAt(ref);
    if (location) recordActivity(location, now);
    else if (host.locations.some((old) => this.#environment.isEdge(old.ref)) && host.addresses.size > 0) {
      this.#checkLocation(host, ref, now);
      return; // Nothing is learned from a location that is not confirmed yet.
    } else if (host === newHost || this.#environment.mayChange(ref)) this.#move(host, ref, now);
    else return;
    if (announcement.dhcpTransaction !== undefined) host.dhcpTransaction = announcement.dhcpTransaction;
    if (announcement.ip !== undefined && isStationIp(announcement.ip))
      this.#addressUsed(host, announcement.ip, now);
  }

  /** To be called when the port becomes an edge. Probes the hosts last known there that were not seen since it came up. */
  portSettled(ref: PortRef, since: number, now: number): void {
    const key = ref.key;
    let left = MAX_PROBED_AT_ONCE;
    for (const host of this.#byPort.of(key)) {
      const location = host.locationAt(ref);
      if (location && location.lastSeenAt < since) this.#probeLocation(host, location, now);
      if (--left <= 0) break;
    }
    for (const host of this.#recentHosts.takeAt(key))
      this.#probeLocation(host, { ref, ...firstActivity(0) }, now);
  }

  /** Removes the hosts at a port. With `expectBack` they are stored, and probed when the port settles again. */
  removeHostsAt(ref: PortRef, expectBack: boolean): void {
    for (const host of this.#byPort.of(ref.key)) this.#removeLocation(host, ref, expectBack);
  }

  /** Adds a host that was claimed before a restart. Returns false when the limit is reached. */
  restore(host: LearnedHost): boolean {
    if (this.#hosts.has(host.id) || this.#hosts.size >= this.#settings.maxHosts) return false;
    const [location] = host.locations;
    this.#add(host, location ? this.#environment.addressOf(location.ref) : "");
    for (const { ref } of host.locations) this.#byPort.add(ref.key, host);
    for (const ip of host.addresses.keys()) this.#owners.add(ownerKey(host, ip), host);
    return true;
  }

  tick(now: number): Steps<void> {
    return this.#duplicates.tick(now);
  }

  /** Probes and expires hosts. Iterates over all hosts, so it is not run at every tick. */
  sweep(now: number): Steps<void> {
    return forEachInSteps(this.#hosts.values(), COST.entity, (host) => this.#sweepHost(host, now));
  }

  #admit(host: LearnedHost, ref: PortRef): boolean {
    const hostsAtPort = this.#byPort.of(ref.key).size;
    const address = this.#environment.addressOf(ref);
    const hasRoom =
      hostsAtPort < this.#settings.maxHostsPerPort && this.#quota.exceededBy(address) === undefined;
    if (hasRoom && this.#environment.mayChange(ref)) {
      this.#add(host, address);
      return true;
    }
    this.#environment.count("hosts_refused_total");
    return false;
  }

  #add(host: LearnedHost, address: string): void {
    host.peerAddress = address;
    this.#hosts.set(host.id, host);
    this.#quota.add(address);
    this.#recentHosts.delete(host.id);
  }

  #checkLocation(host: LearnedHost, ref: PortRef, now: number): void {
    if (host.locations.length >= MAX_LOCATIONS) {
      this.#environment.count("hosts_refused_total");
      return;
    }
    const started = this.#duplicates.start(`${host.id} ${ref.key}`, {
      startedBy: ref.device,
      startedAt: now,
      owners: () => host.locations,
      onConflict: () => {
        this.#environment.count("host_conflicts_total");
        if (host.locations.length < MAX_LOCATIONS) this.#addLocation(host, ref, now);
        this.#publish(host);
      },
      onMove: () => {
        if (this.#hosts.has(host.id) && this.#environment.isEdge(ref) && this.#environment.mayChange(ref))
          this.#move(host, ref, now);
      },
    });
    if (started) for (const location of host.locations) this.#probeLocation(host, location, now);
  }

  #move(host: LearnedHost, ref: PortRef, now: number): void {
    if (host.locations.length > 0) this.#environment.count("host_moves_total");
    for (const location of host.locations) this.#byPort.remove(location.ref.key, host);
    host.locations = [];
    this.#addLocation(host, ref, now);
    this.#publish(host);
  }

  #addLocation(host: LearnedHost, ref: PortRef, now: number): void {
    if (host.locationAt(ref) || !this.#hosts.has(host.id)) return;
    host.locations.unshift({ ref, ...firstActivity(now) });
    this.#byPort.add(ref.key, host);
  }

  #removeLocation(host: LearnedHost, ref: PortRef, expectBack: boolean): void {
    const key = ref.key;
    host.locations = host.locations.filter((location) => location.ref.key !== key);
    this.#byPort.remove(key, host);
    if (host.locations.length > 0) {
      this.#publish(host);
      return;
    }
    this.#remove(host);
    if (expectBack) this.#recentHosts.add(host, key);
  }

  #remove(host: LearnedHost): void {
    if (this.#hosts.delete(host.id)) this.#quota.remove(host.peerAddress);
    for (const location of host.locations) this.#byPort.remove(location.ref.key, host);
    for (const ip of host.addresses.keys()) this.#owners.remove(ownerKey(host, ip), host);
    this.#claims.remove("hosts", host.id);
  }

  #leaseReceived(lease: NonNullable<Announcement["lease"]>, tags: VlanTags, now: number): void {
    const host = this.#hosts.get(new LearnedHost(lease.mac, tags).id);
    if (!host || host.dhcpTransaction !== lease.transaction || !isStationIp(lease.ip)) return;
    host.dhcpTransaction = undefined;
    this.#addressUsed(host, lease.ip, now);
  }

  #addressUsed(host: LearnedHost, ip: string, now: number): void {
    const known = host.addresses.get(ip);
    if (known) {
      recordActivity(known, now);
      return;
    }
    if (host.addresses.size >= MAX_ADDRESSES) {
      this.#environment.count("hosts_refused_total");
      return;
    }
    const owners = [...this.#ownersOf(host, ip)].filter((other) => other !== host);
    if (owners.length >= MAX_OWNERS) {
      this.#environment.count("hosts_refused_total");
      return;
    }
    const addAddress = () => {
      if (!this.#hosts.has(host.id)) return;
      host.addresses.set(ip, firstActivity(now));
      this.#owners.add(ownerKey(host, ip), host);
      this.#publish(host);
    };
    const reachable = owners.filter((other) =>
      other.locations.some((location) => this.#environment.isEdge(location.ref)),
    );
    if (reachable.length === 0) {
      for (const other of owners) this.#removeAddress(other, ip);
      addAddress();
      return;
    }
    const started = this.#duplicates.start(`${host.id} ${ip}`, {
      startedBy: host.locations[0]?.ref.device ?? "",
      startedAt: now,
      owners: () => reachable.map((other) => other.addresses.get(ip)),
      onConflict: () => {
        this.#environment.count("host_conflicts_total");
        addAddress();
        for (const other of reachable) if (this.#hosts.has(other.id)) this.#publish(other);
      },
      onMove: () => {
        for (const other of reachable) this.#removeAddress(other, ip);
        addAddress();
      },
    });
    if (started)
      for (const other of reachable)
        for (const location of other.locations) this.#probeAddress(other, location, ip);
  }

  #removeAddress(host: LearnedHost, ip: string): void {
    if (!host.addresses.delete(ip)) return;
    const others = this.#ownersOf(host, ip);
    this.#owners.remove(ownerKey(host, ip), host);
    this.#publish(host);
    for (const other of others) if (other !== host) this.#publish(other);
  }

  /** Removes the addresses and locations that have timed out, and probes the host once at each that is due. */
  #sweepHost(host: LearnedHost, now: number): void {
    const { hostTimeoutMs } = this.#settings;
    let isProbing = false;
    for (const [ip, address] of host.addresses) {
      const due = whatIsDue(address, this.#ownersOf(host, ip).size > 1, hostTimeoutMs, now);
      if (due === "removal") this.#removeAddress(host, ip);
      else if (due === "probe") isProbing = true;
    }
    const isContested = host.locations.length > 1;
    for (const location of host.locations) {
      const due = whatIsDue(location, isContested, hostTimeoutMs, now);
      if (due === "removal") this.#removeLocation(host, location.ref, false);
      else if (due === "probe") isProbing = true;
    }
    if (!isProbing) return;
    for (const location of host.locations)
      for (const [ip, address] of host.addresses)
        if (location.probedAt === now || address.probedAt === now) this.#probeAddress(host, location, ip);
  }

  #probeLocation(host: LearnedHost, location: LearnedLocation, now: number): void {
    location.probedAt = now;
    for (const ip of host.addresses.keys()) this.#probeAddress(host, location, ip);
  }

  #probeAddress(host: LearnedHost, { ref }: LearnedLocation, ip: string): void {
    if (!this.#environment.isEdge(ref)) return;
    const frame = ip.includes(":")
      ? writeNeighbourSolicitation(
          PROBE_SOURCE_MAC,
          PROBE_SOURCE_LINK_LOCAL,
          host.mac,
          Uint8Array.from(ipaddr.parse(ip).toByteArray()),
          host.tags,
        )
      : writeArpProbe(PROBE_SOURCE_MAC, host.mac, ip, host.tags);
    this.#environment.sendFrame(ref, frame);
  }

  #ownersOf(host: LearnedHost, ip: string): ReadonlySet<LearnedHost> {
    return this.#owners.of(ownerKey(host, ip));
  }

  #publish(host: LearnedHost): void {
    if (!this.#hosts.has(host.id) || host.locations.length === 0) return;
    const contested = [...host.addresses.keys()].filter((ip) => this.#ownersOf(host, ip).size > 1);
    this.#claims.setHost(host.toClaim(contested));
  }
}

/** The key contains the VLAN, because the same address in two VLANs belongs to two networks. */
const ownerKey = (host: LearnedHost, ip: string): string => `${host.tags.vlan ?? ""} ${ip}`;

/** The link-local address of `PROBE_SOURCE_MAC` (RFC 4291, appendix A). */
const PROBE_SOURCE_LINK_LOCAL = ((mac: Uint8Array) => {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = mac;
  return Uint8Array.of(0xfe, 0x80, 0, 0, 0, 0, 0, 0, a ^ 2, b, c, 0xff, 0xfe, d, e, f);
})(macBytes(PROBE_SOURCE_MAC));

/**
 * Returns what is due at an address or location that was silent for so long. A probe that is due counts as sent now. After a
 * pause of the process that is longer than the timeout, the probes come first: an idle host is not removed without them.
 */
function whatIsDue(
  activity: Activity,
  isContested: boolean,
  hostTimeoutMs: number,
  now: number,
): "removal" | "probe" | undefined {
  const silentMs = now - activity.lastSeenAt;
  const timeoutMs = isContested ? CONFLICT_TIMEOUT_MS : hostTimeoutMs;
  const probeAfterMs = isContested ? CONFLICT_PROBE_INTERVAL_MS : hostTimeoutMs / 2;
  const probeIntervalMs = isContested ? CONFLICT_PROBE_INTERVAL_MS : probeAfterMs / MAX_PROBES;
  if (isContested && silentMs >= timeoutMs) return "removal";
  if (silentMs < probeAfterMs || now - activity.probedAt < probeIntervalMs) return undefined;
  if (silentMs >= timeoutMs && activity.probes >= MAX_PROBES) return "removal";
  activity.probedAt = now;
  activity.probes++;
  return "probe";
}

interface DuplicateCheck {
  /** The device whose announcement is checked. */
  readonly startedBy: string;
  readonly startedAt: number;
  /** Returns the activity of the first owners. */
  owners(): readonly (Activity | undefined)[];
  onConflict(): void;
  onMove(): void;
}

const timesSeen = ({ owners }: DuplicateCheck): number =>
  owners().reduce((sum, owner) => sum + (owner?.count ?? 0), 0);

const REPLY_TIMEOUT_MS = 1000;
const MAX_CHECKS = 10_000;
/** Maximum number of checks that one device may cause, so that no device uses up the total. */
const MAX_CHECKS_PER_DEVICE = 500;

/**
 * Distinguishes a move from a conflict when a host or an address appears a second time. The first owner is probed. If it
 * replies, both use the same identity, which is a conflict. If it does not reply in time, the identity has moved.
 */
class DuplicateDetection {
  readonly #checks = new Map<string, DuplicateCheck & { readonly timesSeen: number }>();
  readonly #quota = new Quota({ perKey: MAX_CHECKS_PER_DEVICE, total: MAX_CHECKS });

  /** Returns false when a check with the same key is running, or when too many checks are running. */
  start(key: string, check: DuplicateCheck): boolean {
    if (this.#checks.has(key) || this.#quota.exceededBy(check.startedBy) !== undefined) return false;
    this.#quota.add(check.startedBy);
    this.#checks.set(key, { ...check, timesSeen: timesSeen(check) });
    return true;
  }

  tick(now: number): Steps<void> {
    return forEachInSteps(this.#checks, COST.entity, ([key, check]) => {
      const replied = timesSeen(check) > check.timesSeen;
      if (!replied && now - check.startedAt < REPLY_TIMEOUT_MS) return;
      this.#checks.delete(key);
      this.#quota.remove(check.startedBy);
      if (replied) check.onConflict();
      else check.onMove();
    });
  }
}
