/**
 * Handles the frames that switches send as packet-ins. Probes and announcements (ARP, ND, DHCP) have separate token
 * buckets per port, so that a host which floods one kind affects neither the other kind nor any other port.
 *
 * Announcements from a port that is not classified yet are buffered, up to a limit, until the port turns out to be an
 * edge: a quiet host often announces itself only when its link comes up.
 */
import type { Clock } from "../../lib/clock.ts";
import { TokenBuckets } from "../../lib/token-bucket.ts";
import { type Announcement, readAnnouncement } from "./codec/announcement.ts";
import { ETHER, readFrame, type VlanTags } from "./codec/ethernet.ts";
import { type Lldp, readLldp } from "./codec/lldp.ts";
import { WireError } from "./codec/wire.ts";
import type { Counter } from "./counters.ts";
import { type PortRef, portKey } from "./port-ref.ts";
import type { Probes } from "./probes.ts";

const MAX_PENDING_PER_PORT = 64;
const ETHERNET_HEADER_BYTES = 14;
/** Far above the normal rate: one probe of each type per interval, and a few more while a port settles. */
const MAX_PROBES_PER_SECOND = 50;
const BURST_SECONDS = 2;
/** A port whose bucket was evicted has a full bucket again. */
const MAX_LIMITED_PORTS = 100_000;

/**
 * - `edge`: hosts are attached. `link`: leads to another switch.
 * - `pending`: still probed, not classified yet. `down`: not up, or its switch is not connected.
 */
export type PortRole = "edge" | "link" | "pending" | "down";

export interface PacketInEvents {
  portRole(ref: PortRef): PortRole;
  probeReceived(from: PortRef, at: PortRef, direct: boolean): void;
  neighbourReceived(lldp: Lldp, at: PortRef): void;
  announcementReceived(at: PortRef, tags: VlanTags, announcement: Announcement): void;
  count(what: Counter): void;
}

interface PendingAnnouncement {
  readonly tags: VlanTags;
  readonly announcement: Announcement;
}

export class PacketInHandler {
  readonly #events: PacketInEvents;
  readonly #probes: Probes;
  readonly #probeBuckets: TokenBuckets;
  readonly #announcementBuckets: TokenBuckets;
  readonly #pending = new Map<string, PendingAnnouncement[]>();

  constructor(
    events: PacketInEvents,
    probes: Probes,
    clock: Pick<Clock, "monotonic">,
    maxAnnouncementsPerSecond: number,
  ) {
    this.#events = events;
    this.#probes = probes;
    this.#probeBuckets = createBuckets(clock, MAX_PROBES_PER_SECOND);
    this.#announcementBuckets = createBuckets(clock, maxAnnouncementsPerSecond);
  }

  handle(ref: PortRef, bytes: Uint8Array, now: number): void {
    const type = ((bytes[12] ?? 0) << 8) | (bytes[13] ?? 0);
    const isProbe = type === ETHER.lldp || type === ETHER.broadcastProbe;
    const buckets = isProbe ? this.#probeBuckets : this.#announcementBuckets;
    if (buckets.take(portKey(ref)) > 0) {
      this.#events.count("frames_limited_total");
      return;
    }
    try {
      if (isProbe) this.#handleProbe(ref, type, bytes.subarray(ETHERNET_HEADER_BYTES), now);
      else this.#handleAnnouncement(ref, bytes);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#events.count("frames_malformed_total");
    }
  }

  /** Processes the buffered announcements of a port that is now an edge. */
  releasePending(ref: PortRef): void {
    const key = portKey(ref);
    const pending = this.#pending.get(key) ?? [];
    this.#pending.delete(key);
    for (const { tags, announcement } of pending) this.#events.announcementReceived(ref, tags, announcement);
  }

  /** Drops the buffered announcements of a port that is not an edge or went down. */
  discardPending(ref: PortRef): void {
    this.#pending.delete(portKey(ref));
  }

  #handleProbe(at: PortRef, type: number, payload: Uint8Array, now: number): void {
    const result = this.#probes.verify(type, payload, at, now);
    if (!result) {
      this.#events.neighbourReceived(readLldp(payload), at);
    } else if (result.ok) {
      this.#events.count("probes_accepted_total");
      this.#events.probeReceived(result.from, at, result.direct);
    } else this.#events.count(`probes_${result.fault}_total`);
  }

  #handleAnnouncement(at: PortRef, bytes: Uint8Array): void {
    const role = this.#events.portRole(at);
    if (role === "link" || role === "down") return;
    const { vlan, innerVlan, tpid, ...frame } = readFrame(bytes);
    const announcement = readAnnouncement(frame);
    if (!announcement) return;
    const tags = {
      ...(vlan !== undefined && { vlan }),
      ...(innerVlan !== undefined && { innerVlan }),
      ...(tpid !== undefined && { tpid }),
    };
    if (role === "edge") {
      this.#events.announcementReceived(at, tags, announcement);
      return;
    }
    const pending = this.#pending.get(portKey(at)) ?? [];
    if (pending.length < MAX_PENDING_PER_PORT) pending.push({ tags, announcement });
    this.#pending.set(portKey(at), pending);
  }
}

const createBuckets = (clock: Pick<Clock, "monotonic">, perSecond: number): TokenBuckets =>
  new TokenBuckets(clock, {
    burst: perSecond * BURST_SECONDS,
    refillMs: 1000 / perSecond,
    maxKeys: MAX_LIMITED_PORTS,
  });
