/**
 * Classifies the frames that switches send as packet-ins. Probes and announcements (ARP, ND, DHCP) have separate token
 * buckets, each per port and per switch, so that a host which floods one kind affects neither the other kind nor any other
 * port. Announcements also have a token bucket for the whole source. Frames without a token are dropped and counted.
 */
import type { Clock } from "../../../lib/clock.ts";
import { TokenBuckets } from "../../../lib/token-bucket.ts";
import { type Announcement, readAnnouncement } from "../codec/announcement.ts";
import { ETHER, readFrame, type VlanTags } from "../codec/ethernet.ts";
import { type Lldp, readLldp } from "../codec/lldp.ts";
import type { PortRef } from "../codec/port.ts";
import { WireError } from "../codec/wire.ts";
import type { OpenflowCounter } from "../openflow-counters.ts";
import type { OpenflowSettings } from "../options.ts";
import { PortRecords } from "./port-records.ts";
import type { Probes } from "./probes.ts";

const ETHERNET_HEADER_BYTES = 14;
/** Maximum rate per port. A port normally receives one probe of each type per interval, and a few more while it settles. */
const MAX_PROBES_PER_SECOND = 50;
/** Maximum rate per switch. It suffices for the maximum number of ports with two probes per port and interval. */
const MAX_SWITCH_PROBES_PER_SECOND = 10_000;
const BURST_SECONDS = 2;
/** Maximum number of buckets. A port or switch whose bucket was evicted gets a full one again. */
const MAX_LIMITED_PORTS = 100_000;
const MAX_LIMITED_SWITCHES = 10_000;
const SOURCE = "";

/**
 * - `edge`: the port leads to hosts. `link`: it leads to another switch.
 * - `pending`: it is still probed and not classified yet. `down`: it is not up, or its switch is not connected.
 */
export type PortRole = "edge" | "link" | "pending" | "down";

export interface PacketInEvents {
  portRole(ref: PortRef): PortRole;
  probeReceived(from: PortRef, at: PortRef, direct: boolean, now: number): void;
  neighbourReceived(lldp: Lldp, at: PortRef): void;
  announcementReceived(at: PortRef, tags: VlanTags, announcement: Announcement): void;
  count(what: OpenflowCounter): void;
}

interface PendingAnnouncement {
  readonly tags: VlanTags;
  readonly announcement: Announcement;
}
const PENDING_LIMITS = { perPort: 64, perSwitch: 4096, total: 65_536 };

type RateSettings = Pick<
  OpenflowSettings,
  "maxPacketInRate" | "maxSessionPacketInRate" | "maxSourcePacketInRate"
>;

export class PacketInHandler {
  readonly #events: PacketInEvents;
  readonly #probes: Probes;
  readonly #probeLimits: FrameLimits;
  readonly #announcementLimits: FrameLimits;
  /**
   * Announcements from ports that are not classified yet. They are processed when the port becomes an edge, because a quiet
   * host often announces itself only when its link comes up.
   */
  readonly #pending = new PortRecords<PendingAnnouncement>(PENDING_LIMITS);

  constructor(
    events: PacketInEvents,
    probes: Probes,
    clock: Pick<Clock, "monotonic">,
    settings: RateSettings,
  ) {
    this.#events = events;
    this.#probes = probes;
    // Probes have no bucket for the source: a switch whose probes are dropped because of another switch would lose its links.
    this.#probeLimits = new FrameLimits(clock, MAX_PROBES_PER_SECOND, MAX_SWITCH_PROBES_PER_SECOND);
    this.#announcementLimits = new FrameLimits(
      clock,
      settings.maxPacketInRate,
      settings.maxSessionPacketInRate,
      settings.maxSourcePacketInRate,
    );
  }

  handle(ref: PortRef, bytes: Uint8Array, now: number): void {
    const type = ((bytes[12] ?? 0) << 8) | (bytes[13] ?? 0);
    const isProbe = type === ETHER.lldp || type === ETHER.broadcastProbe;
    if (!(isProbe ? this.#probeLimits : this.#announcementLimits).allow(ref)) {
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
    for (const { tags, announcement } of this.#pending.takeAt(ref))
      this.#events.announcementReceived(ref, tags, announcement);
  }

  /** Drops the buffered announcements of a port that is not an edge or went down. */
  discardPending(ref: PortRef): void {
    this.#pending.takeAt(ref);
  }

  #handleProbe(at: PortRef, type: number, payload: Uint8Array, now: number): void {
    const result = this.#probes.verify(type, payload, at, now);
    if (!result) {
      this.#events.neighbourReceived(readLldp(payload), at);
    } else if (result.ok) {
      this.#events.count("probes_accepted_total");
      this.#events.probeReceived(result.from, at, result.direct, now);
    } else this.#events.count(`probes_${result.fault}_total`);
  }

  #handleAnnouncement(at: PortRef, bytes: Uint8Array): void {
    const role = this.#events.portRole(at);
    if (role === "link" || role === "down") return;
    const frame = readFrame(bytes);
    const { tags } = frame;
    const announcement = readAnnouncement(frame);
    if (!announcement) return;
    if (role === "edge") this.#events.announcementReceived(at, tags, announcement);
    else if (!this.#pending.add(at, { tags, announcement })) this.#events.count("frames_limited_total");
  }
}

/** The token buckets of one kind of frame. */
class FrameLimits {
  readonly #ofPort: TokenBuckets;
  readonly #ofSwitch: TokenBuckets;
  readonly #ofSource: TokenBuckets | undefined;

  constructor(clock: Pick<Clock, "monotonic">, perPort: number, perSwitch: number, perSource?: number) {
    const buckets = (perSecond: number, maxKeys: number) =>
      new TokenBuckets(clock, { burst: perSecond * BURST_SECONDS, refillMs: 1000 / perSecond, maxKeys });
    this.#ofPort = buckets(perPort, MAX_LIMITED_PORTS);
    this.#ofSwitch = buckets(perSwitch, MAX_LIMITED_SWITCHES);
    this.#ofSource = perSource === undefined ? undefined : buckets(perSource, 1);
  }

  allow(ref: PortRef): boolean {
    return (
      this.#ofPort.take(ref.key) === 0 &&
      this.#ofSwitch.take(ref.device) === 0 &&
      (this.#ofSource?.take(SOURCE) ?? 0) === 0
    );
  }
}
