/**
 * The discovered links between switches, one record per direction. A link is valid while probes arrive: it is removed
 * after three missed probes, and at once when the port at either end goes down. While a switch is disconnected its
 * links are INACTIVE; they are removed after the same timeout unless the switch reconnects.
 *
 * LLDP probes prove a direct cable. A link found only by broadcast probes is INDIRECT; broadcast probes add nothing on
 * a port that has a direct link. Two links on one port are both stored: the view flags them as a conflict.
 */
import { Multimap } from "../../../lib/multimap.ts";
import { COST, forEachInSteps, type Steps } from "../../../lib/steps.ts";
import type { ClaimBuffer } from "../claim-buffer.ts";
import { connectPoint, type PortRef } from "../codec/port.ts";

export interface DiscoveredLink {
  readonly id: string;
  readonly src: PortRef;
  readonly dst: PortRef;
  readonly direct: boolean;
  readonly active: boolean;
}

export type LinkEndReason = "port-down" | "timeout" | "superseded";

export interface LinkEvents {
  /** Whether the port's switch may add or change a record now. */
  mayChange(dst: PortRef): boolean;
  count(what: "links_refused_total"): void;
  linkFound(link: DiscoveredLink): void;
  linkRemoved(link: DiscoveredLink, reason: LinkEndReason): void;
}

interface TrackedLink extends DiscoveredLink {
  lastProbeAt: number;
  active: boolean;
}

const MAX_MISSED_PROBES = 3;
/** A port can have many links: all switches that are connected by a bridge without OpenFlow have links with each other. */
const MAX_LINKS_PER_PORT = 256;

/** The time without probes after which a link is removed. Half an interval is added, so that the third probe can arrive. */
export const linkTimeoutMs = (probeIntervalMs: number): number => probeIntervalMs * (MAX_MISSED_PROBES + 0.5);

const linkIdOf = (src: PortRef, dst: PortRef): string => `${src.key}-${dst.key}`;

export class LinkTable {
  readonly #claims: ClaimBuffer;
  readonly #events: LinkEvents;
  readonly #timeoutMs: number;
  readonly #links = new Map<string, TrackedLink>();
  readonly #byPort = new Multimap<string, TrackedLink>();
  readonly #byDevice = new Multimap<string, TrackedLink>();

  constructor(claims: ClaimBuffer, events: LinkEvents, probeIntervalMs: number) {
    this.#claims = claims;
    this.#events = events;
    this.#timeoutMs = linkTimeoutMs(probeIntervalMs);
  }

  get size(): number {
    return this.#links.size;
  }

  all(): Iterable<DiscoveredLink> {
    return this.#links.values();
  }

  /** Whether a link starts or ends at the port. */
  hasLink(ref: PortRef): boolean {
    return this.#byPort.has(ref.key);
  }

  hasDirectLink(ref: PortRef): boolean {
    for (const link of this.#linksAt(ref)) if (link.direct) return true;
    return false;
  }

  hasLinkFrom(ref: PortRef): boolean {
    for (const link of this.#linksAt(ref)) if (link.src.key === ref.key) return true;
    return false;
  }

  isActive(src: PortRef, dst: PortRef): boolean {
    return this.#links.get(linkIdOf(src, dst))?.active === true;
  }

  probeReceived(src: PortRef, dst: PortRef, direct: boolean, now: number): void {
    const id = linkIdOf(src, dst);
    const known = this.#links.get(id);
    if (known && known.direct === direct) {
      known.lastProbeAt = now;
      if (known.active) return;
      known.active = true;
      this.#publish(known);
      this.#events.linkFound(known);
      return;
    }
    if (!direct && (this.hasDirectLink(src) || this.hasDirectLink(dst))) return;
    if (!known && (this.#isFull(src) || this.#isFull(dst) || !this.#events.mayChange(dst))) {
      this.#events.count("links_refused_total");
      return;
    }
    if (direct) {
      for (const link of [...this.#linksAt(src), ...this.#linksAt(dst)])
        if (!link.direct) this.#remove(link, "superseded");
    }
    const link: TrackedLink = { id, src, dst, direct, active: true, lastProbeAt: now };
    this.#links.set(id, link);
    for (const ref of [src, dst]) {
      this.#byPort.add(ref.key, link);
      this.#byDevice.add(ref.device, link);
    }
    this.#publish(link);
    this.#events.linkFound(link);
  }

  portDown(ref: PortRef): void {
    for (const link of this.#linksAt(ref)) this.#remove(link, "port-down");
  }

  deviceDisconnected(device: string, now: number): void {
    for (const link of this.#byDevice.of(device)) {
      if (!link.active) continue;
      link.active = false;
      link.lastProbeAt = now;
      this.#publish(link);
    }
  }

  tick(now: number): Steps<void> {
    return forEachInSteps(this.#links.values(), COST.record, (link) => {
      if (now - link.lastProbeAt > this.#timeoutMs) this.#remove(link, "timeout");
    });
  }

  /** Adds a link that was claimed before a restart. It times out at `graceEndsAt` unless a probe confirms it. */
  restore(src: PortRef, dst: PortRef, direct: boolean, graceEndsAt: number): void {
    this.probeReceived(src, dst, direct, graceEndsAt - this.#timeoutMs);
  }

  #isFull(ref: PortRef): boolean {
    return this.#linksAt(ref).size >= MAX_LINKS_PER_PORT;
  }

  #linksAt(ref: PortRef): ReadonlySet<TrackedLink> {
    return this.#byPort.of(ref.key);
  }

  #remove(link: TrackedLink, reason: LinkEndReason): void {
    this.#links.delete(link.id);
    for (const ref of [link.src, link.dst]) {
      this.#byPort.remove(ref.key, link);
      this.#byDevice.remove(ref.device, link);
    }
    this.#claims.remove("links", link.id);
    this.#events.linkRemoved(link, reason);
  }

  #publish({ src, dst, direct, active }: TrackedLink): void {
    this.#claims.setLink({
      src: connectPoint(src),
      dst: connectPoint(dst),
      type: direct ? "DIRECT" : "INDIRECT",
      state: active ? "ACTIVE" : "INACTIVE",
      verified: true,
    });
  }
}
