/**
 * The OpenFlow controller: accepts sessions and passes their events to the switch table, the link table, the host
 * tracker and the bridge. These do not know each other; the order in which they process an event is decided here.
 * `tick` drives all timeouts and intervals.
 */
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import { ClaimBuffer } from "./claim-buffer.ts";
import type { Announcement } from "./codec/announcement.ts";
import type { VlanTags } from "./codec/ethernet.ts";
import { PORT } from "./codec/instruction.ts";
import type { Lldp } from "./codec/lldp.ts";
import { encode } from "./codec/messages.ts";
import type { PortDescription } from "./codec/port.ts";
import { type Counter, Counters } from "./counters.ts";
import { baseFlows, broadcastProbeFlow, deleteOwnFlows } from "./flows.ts";
import { Forwarding } from "./forwarding.ts";
import { type HostEnvironment, HostTracker } from "./host-tracker.ts";
import {
  type DiscoveredLink,
  type LinkEndReason,
  type LinkEvents,
  LinkTable,
  linkTimeoutMs,
} from "./link-table.ts";
import { LldpNeighbours } from "./lldp-neighbours.ts";
import type { OpenflowSettings } from "./options.ts";
import { type PacketInEvents, PacketInHandler, type PortRole } from "./packet-in.ts";
import { isWiredPort, type PortRef } from "./port-ref.ts";
import { Probes } from "./probes.ts";
import { Session, type SessionEvents, type SessionLimits } from "./session.ts";
import {
  type Switch,
  type SwitchEvents,
  type SwitchPort,
  SwitchTable,
  startClassification,
} from "./switch-table.ts";
import type { Channel, ChannelHandler } from "./transport.ts";

const SESSION_LIMITS: Omit<SessionLimits, "echoIntervalMs"> = {
  handshakeTimeoutMs: 10_000,
  maxPorts: 8192,
  maxMessagesPerTick: 2000,
};
const SWEEP_INTERVAL_MS = 1000;
const MIN_SETTLE_TICKS = 3;
/** After so many ticks the reverse direction of a one-way link is probed at the normal interval only. */
const MAX_ONE_WAY_TICKS = 30;
/** A probe sent longer ago than this has arrived or is lost. */
const PROBE_FLIGHT_MS = 50;
const BROADCAST_PROBE_FLOW = encode("flowMod", broadcastProbeFlow);
/** A switch with a larger backlog gets no further probes. */
const MAX_PROBE_BACKLOG_BYTES = 64 * 1024;

export class OpenflowController
  implements SessionEvents, SwitchEvents, LinkEvents, PacketInEvents, HostEnvironment
{
  readonly claims = new ClaimBuffer();
  readonly counters = new Counters();
  readonly switches: SwitchTable;
  readonly links: LinkTable;
  readonly hosts: HostTracker;
  readonly #neighbours: LldpNeighbours;
  readonly #packetIns: PacketInHandler;
  readonly #probes: Probes;
  readonly #forwarding: Forwarding | undefined;
  readonly #sessions = new Set<Session>();
  readonly #settings: OpenflowSettings;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #graceEndsAt: number;
  /** Encoded once: they are the same for every switch. */
  readonly #baseFlows: Uint8Array;
  #sweptAt = 0;

  constructor(settings: OpenflowSettings, clock: Clock, log: Logger) {
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
    this.#graceEndsAt = clock.now() + settings.graceMs;
    this.#baseFlows = Buffer.concat(baseFlows(settings).map((flow) => encode("flowMod", flow)));
    this.switches = new SwitchTable(this.claims, this, settings);
    this.links = new LinkTable(this.claims, this, settings.probeIntervalMs);
    this.hosts = new HostTracker(this.claims, this, settings);
    this.#neighbours = new LldpNeighbours(this.claims);
    this.#probes = new Probes(settings.probeMaxAgeMs);
    this.#packetIns = new PacketInHandler(this, this.#probes, clock, settings.maxPacketInRate);
    if (settings.forwarding === "bridge") {
      this.#forwarding = new Forwarding(this.switches, this.links, clock, settings.probeIntervalMs);
    }
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  count(counter: Counter): void {
    this.counters.count(counter);
  }

  /** Returns undefined when there are too many sessions. */
  accept(channel: Channel): ChannelHandler | undefined {
    if (this.#sessions.size >= this.#settings.maxSessions) {
      this.count("sessions_refused_total");
      return undefined;
    }
    const limits = { ...SESSION_LIMITS, echoIntervalMs: this.#settings.echoIntervalMs };
    const session = new Session(channel, this, limits, this.#log, this.#clock.now());
    this.#sessions.add(session);
    session.start();
    return session;
  }

  tick(): void {
    const now = this.#clock.now();
    for (const session of this.#sessions) session.tick(now);
    this.switches.tick(now);
    this.links.tick(now);
    for (const sw of this.switches.all()) this.#tickSwitch(sw, now);
    this.hosts.tick(now);
    this.#forwarding?.tick(now);
    if (now - this.#sweptAt < SWEEP_INTERVAL_MS) return;
    this.#sweptAt = now;
    this.hosts.sweep(now);
    this.#neighbours.sweep(now);
  }

  // Session events.

  sessionReady(session: Session): void {
    this.count("sessions_total");
    this.switches.sessionReady(session, this.#clock.now());
  }

  portChanged(session: Session, port: PortDescription): void {
    this.switches.portChanged(session, port, this.#clock.now());
  }

  portRemoved(session: Session, port: number): void {
    this.switches.portRemoved(session, port);
  }

  packetIn(session: Session, inPort: number, frame: Uint8Array): void {
    this.#packetIns.handle({ device: session.deviceId, port: inPort }, frame, this.#clock.now());
  }

  sessionClosed(session: Session, reason: string, byPeer: boolean): void {
    this.#sessions.delete(session);
    const level = session.deviceId === "" ? "debug" : "info";
    this.#log[level]("openflow session closed", { device: session.deviceId, remote: session.remote, reason });
    this.switches.sessionClosed(session, byPeer, this.#clock.now());
  }

  // Switch and port events.

  switchConnected(sw: Switch): void {
    const { session } = sw;
    if (!session) return;
    this.#log.info("openflow switch connected", {
      device: sw.id,
      remote: session.remote,
      ports: sw.ports.size,
    });
    if (session.inheritedFlows > 0) {
      if (this.#forwarding) this.#forwarding.deferUntil(this.#graceEndsAt);
      else session.send("flowMod", deleteOwnFlows);
    }
    session.sendBytes(this.#baseFlows);
    for (const port of sw.ports.values())
      port.isLinked = this.links.hasLink({ device: sw.id, port: port.number });
    this.#forwarding?.switchConnected(sw);
    this.#probeAllPorts(sw, this.#clock.now());
  }

  switchDisconnected(sw: Switch): void {
    const now = this.#clock.now();
    for (const port of sw.ports.values()) {
      port.isEdge = false;
      this.#packetIns.discardPending({ device: sw.id, port: port.number });
    }
    this.links.deviceDisconnected(sw.id, now);
    this.#forwarding?.changed();
  }

  switchRemoved(sw: Switch): void {
    this.#log.info("openflow switch removed", { device: sw.id });
  }

  portUp(sw: Switch, port: SwitchPort): void {
    this.#sendProbe(sw, port, true, this.#clock.now());
    this.#forwarding?.changed();
  }

  portDown(sw: Switch, port: SwitchPort): void {
    const ref = { device: sw.id, port: port.number };
    port.isEdge = false;
    this.#probes.invalidate(ref);
    this.#packetIns.discardPending(ref);
    this.links.portDown(ref);
    this.#neighbours.portDown(ref);
    this.hosts.removeHostsAt(ref, true);
    this.#forwarding?.portDown(ref);
  }

  // Link events.

  linkFound(link: DiscoveredLink): void {
    for (const ref of [link.src, link.dst]) {
      const port = this.#findPort(ref);
      if (port) {
        port.isEdge = false;
        port.isLinked = true;
      }
      this.#packetIns.discardPending(ref);
      this.hosts.removeHostsAt(ref, false);
      if (link.direct) this.#neighbours.portDown(ref);
    }
    this.#forwarding?.linkFound(link);
  }

  linkRemoved(link: DiscoveredLink, reason: LinkEndReason): void {
    this.#forwarding?.linkRemoved(link, reason);
    // Its ports are classified again.
    for (const ref of [link.src, link.dst]) {
      const port = this.#findPort(ref);
      if (!port) continue;
      startClassification(port, this.#clock.now());
      port.isLinked = this.links.hasLink(ref);
    }
  }

  // Packet-in events.

  portRole({ device, port }: PortRef): PortRole {
    const sw = this.switches.get(device);
    const known = sw?.ports.get(port);
    if (!sw?.session || !known?.up) return "down";
    if (known.isEdge) return "edge";
    return this.links.hasLink({ device, port }) ? "link" : "pending";
  }

  isEdge(ref: PortRef): boolean {
    return this.portRole(ref) === "edge";
  }

  probeReceived(from: PortRef, at: PortRef, direct: boolean): void {
    const [sender, receiver] = [this.switches.get(from.device), this.switches.get(at.device)];
    const sourcePort = sender?.ports.get(from.port);
    const arrivalPort = receiver?.ports.get(at.port);
    // A probe can arrive after the session it was sent on has closed.
    if (!sender?.session || !receiver || !sourcePort?.up || !arrivalPort?.up || sourcePort === arrivalPort)
      return;
    const now = this.#clock.now();
    this.links.probeReceived(from, at, direct, now);
    // The other direction is probed at once, unless a probe that the other switch can receive is in flight.
    const inFlight =
      arrivalPort.probedAt > sender.connectedAt && now - arrivalPort.probedAt < PROBE_FLIGHT_MS;
    if (!inFlight && !this.links.isActive(at, from)) this.#sendProbe(receiver, arrivalPort, direct, now);
  }

  neighbourReceived(lldp: Lldp, at: PortRef): void {
    if (this.#settings.foreignLldp && this.isEdge(at))
      this.#neighbours.lldpReceived(lldp, at, this.#clock.now());
  }

  announcementReceived(at: PortRef, tags: VlanTags, announcement: Announcement): void {
    if (this.switches.isSwitchMac(announcement.mac)) return;
    this.hosts.announcementReceived(at, tags, announcement, this.#clock.now());
  }

  sendFrame({ device, port }: PortRef, frame: Uint8Array): void {
    const session = this.switches.get(device)?.session;
    if (!session || session.channel.backlogBytes > MAX_PROBE_BACKLOG_BYTES) return;
    session.send("packetOut", { inPort: PORT.controller, output: [port], frame });
  }

  // Ticks.

  #tickSwitch(sw: Switch, now: number): void {
    if (sw.disconnectedAt !== undefined) {
      // The hosts of a disconnected switch are removed after the link timeout.
      if (!sw.hostsRemoved && now - sw.disconnectedAt > linkTimeoutMs(this.#settings.probeIntervalMs)) {
        sw.hostsRemoved = true;
        for (const port of sw.ports.values())
          this.hosts.removeHostsAt({ device: sw.id, port: port.number }, true);
      }
      return;
    }
    if (!sw.session) return;
    for (const port of sw.ports.values()) {
      const classified = port.isEdge || (port.isLinked && port.unclassifiedTicks > MAX_ONE_WAY_TICKS);
      if (port.up && !classified) this.#classifyPort(sw, port, now);
    }
    if (now >= sw.nextProbeAt) {
      sw.session.sendBytes(BROADCAST_PROBE_FLOW);
      this.#probeAllPorts(sw, now);
    }
  }

  /** A port without a link is probed again until it has settled; then it is an edge. */
  #classifyPort(sw: Switch, port: SwitchPort, now: number): void {
    const ref = { device: sw.id, port: port.number };
    const { settleMs } = this.#settings;
    port.unclassifiedTicks++;
    if (port.isLinked) {
      // Only one direction is known: the probe in the other may have arrived before that switch had its flows.
      const retryAfterMs = port.unclassifiedTicks <= MIN_SETTLE_TICKS ? PROBE_FLIGHT_MS : settleMs / 2;
      if (now - port.probedAt < retryAfterMs || this.links.hasLinkFrom(ref)) return;
      this.#sendProbe(sw, port, this.links.hasDirectLink(ref), now);
      return;
    }
    if (this.#forwarding?.isSuspect(ref)) return;
    const ageMs = now - port.probeableSince;
    // A number of ticks is required too: on a busy machine received probes may not have been read yet.
    if ((ageMs >= settleMs && port.unclassifiedTicks >= MIN_SETTLE_TICKS) || !isWiredPort(port.number)) {
      port.isEdge = true;
      this.#packetIns.releasePending(ref);
      this.hosts.portSettled(ref, port.probeableSince, now);
      this.#forwarding?.changed();
    } else if (now - port.probedAt >= settleMs / 2) {
      this.#sendProbe(sw, port, true, now);
      this.#sendProbe(sw, port, false, now);
    }
  }

  #probeAllPorts(sw: Switch, now: number): void {
    sw.nextProbeAt = now + this.#settings.probeIntervalMs;
    for (const port of sw.ports.values()) {
      this.#sendProbe(sw, port, true, now);
      // A new port gets an LLDP probe only: most lead to a switch and need no broadcast probe.
      const isNew = now === port.probeableSince;
      if (!isNew && !this.links.hasDirectLink({ device: sw.id, port: port.number }))
        this.#sendProbe(sw, port, false, now);
    }
  }

  #sendProbe(sw: Switch, port: SwitchPort, direct: boolean, now: number): void {
    const { session } = sw;
    if (!session || !port.up || !isWiredPort(port.number)) return;
    port.probedAt = now;
    this.count("probes_sent_total");
    if (session.channel.backlogBytes > MAX_PROBE_BACKLOG_BYTES) return;
    const ref = { device: sw.id, port: port.number };
    session.sendBytes(this.#probes.create(ref, port.description.mac, direct, now));
  }

  #findPort({ device, port }: PortRef): SwitchPort | undefined {
    return this.switches.get(device)?.ports.get(port);
  }
}
