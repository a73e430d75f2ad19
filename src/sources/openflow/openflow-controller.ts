/**
 * The OpenFlow controller: accepts sessions and passes their events to the switch table, the link table, the host
 * tracker and the bridge. These do not call each other's event methods: this class decides the order in which they process
 * an event. `tick` drives all timeouts and intervals.
 *
 * Work that grows with the network or with what a session sends runs in steps on a scheduler that belongs to this source.
 * Its owners are the addresses of the peers, the tick and the bridge, so that none of them waits until another is done.
 */
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import { Quota } from "../../lib/quota.ts";
import { Scheduler } from "../../lib/scheduler.ts";
import { COST, Pause, type Steps } from "../../lib/steps.ts";
import { Bridge } from "./bridge/bridge.ts";
import { ClaimBuffer } from "./claim-buffer.ts";
import type { Announcement } from "./codec/announcement.ts";
import type { VlanTags } from "./codec/ethernet.ts";
import type { Lldp } from "./codec/lldp.ts";
import { encode } from "./codec/openflow-messages.ts";
import { PORT, type PortRef, portRef } from "./codec/port.ts";
import {
  type DiscoveredLink,
  type LinkEndReason,
  type LinkEvents,
  LinkTable,
  linkTimeoutMs,
} from "./discovery/link-table.ts";
import { LldpNeighbours } from "./discovery/lldp-neighbours.ts";
import { type PacketInEvents, PacketInHandler, type PortRole } from "./discovery/packet-in.ts";
import { MAX_PROBE_BACKLOG_BYTES, PortProber, type ProberEvents } from "./discovery/port-prober.ts";
import { Probes } from "./discovery/probes.ts";
import { type Switch, type SwitchEvents, type SwitchPort, startClassification } from "./discovery/switch.ts";
import { ChangeBudget } from "./discovery/switch-admission.ts";
import { SwitchTable } from "./discovery/switch-table.ts";
import { baseFlows, deleteOwnFlows } from "./flows.ts";
import { type HostEnvironment, HostTracker } from "./hosts/host-tracker.ts";
import type { OpenflowCounter, OpenflowCounters } from "./openflow-counters.ts";
import type { OpenflowSettings } from "./options.ts";
import type { Channel, ChannelHandler } from "./session/openflow-listener.ts";
import { Session, type SessionContext, type SessionEvents } from "./session/session.ts";
import { SessionLimiter } from "./session/session-limiter.ts";

/** Limits on bytes that were received and are not handled yet. */
const HELD_BYTES = { perKey: 64 * 1024 * 1024, total: 256 * 1024 * 1024 };
/** The owner of the ticks on the scheduler. */
const OWNER = "tick";
const SWEEP_INTERVAL_MS = 1000;

/** The values that this source uses in a cluster. */
interface OpenflowCluster {
  readonly probeKey: Uint8Array;
  /**
   * The number of the takeover with which this node began to run the source. This node requests the master role of each
   * switch with this number, so that the switches refuse a node that still runs the source after another has taken it over.
   */
  readonly generation: bigint;
}

export class OpenflowController
  implements SessionEvents, SwitchEvents, LinkEvents, PacketInEvents, ProberEvents, HostEnvironment
{
  readonly claims = new ClaimBuffer();
  readonly switches: SwitchTable;
  readonly links: LinkTable;
  readonly hosts: HostTracker;
  readonly #neighbours: LldpNeighbours;
  readonly #packetIns: PacketInHandler;
  readonly #probes: Probes;
  readonly #prober: PortProber;
  readonly #bridge: Bridge | undefined;
  readonly #sessions: SessionLimiter;
  readonly #sessionContext: SessionContext;
  readonly #budget: ChangeBudget;
  readonly #scheduler = new Scheduler();
  readonly #settings: OpenflowSettings;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #counters: OpenflowCounters;
  readonly #graceEndsAt: number;
  /** The flows that every switch gets, encoded once because they are the same for all. */
  readonly #baseFlows: Uint8Array;
  #sweptAt = 0;

  constructor(
    settings: OpenflowSettings,
    clock: Clock,
    log: Logger,
    counters: OpenflowCounters,
    cluster?: OpenflowCluster,
  ) {
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
    this.#counters = counters;
    this.#graceEndsAt = clock.monotonic() + settings.graceMs;
    this.#baseFlows = Buffer.concat(baseFlows(settings).map((flow) => encode("flowMod", flow)));
    this.#budget = new ChangeBudget(clock, settings);
    this.#sessions = new SessionLimiter(
      settings,
      (session) => this.switches.get(session.deviceId)?.isKnown === true,
    );
    // With `forwarding: none` another controller programs the switches, so that controller is their master.
    const masterGeneration = settings.forwarding === "bridge" ? cluster?.generation : undefined;
    this.switches = new SwitchTable(this.claims, this, settings, clock, this.#budget, masterGeneration);
    this.#sessionContext = {
      events: this,
      switches: this.switches,
      echoIntervalMs: settings.echoIntervalMs,
      log,
      clock,
      scheduler: this.#scheduler,
      heldPorts: new Quota({ perKey: settings.maxPortsPerAddress, total: settings.maxPorts }),
      heldBytes: new Quota(HELD_BYTES),
    };
    this.links = new LinkTable(this.claims, this, settings.probeIntervalMs);
    this.hosts = new HostTracker(this.claims, this, settings);
    this.#neighbours = new LldpNeighbours(this.claims);
    this.#probes = new Probes(settings.probeMaxAgeMs, cluster?.probeKey);
    this.#prober = new PortProber(this, this.links, this.#probes, clock, settings);
    this.#packetIns = new PacketInHandler(this, this.#probes, clock, settings);
    if (settings.forwarding === "bridge") {
      const { probeIntervalMs } = settings;
      this.#bridge = new Bridge(this.switches, this.links, clock, this.#scheduler, probeIntervalMs);
    }
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  count(counter: OpenflowCounter): void {
    this.#counters.count(counter);
  }

  /** Returns undefined when there are too many sessions. */
  accept(channel: Channel, descriptorsAreLow: boolean): ChannelHandler | undefined {
    if (!this.#sessions.makeRoom(channel.remoteAddress, descriptorsAreLow)) {
      this.count("sessions_refused_total");
      return undefined;
    }
    const session = new Session(channel, this.#sessionContext);
    this.#sessions.add(session);
    session.start();
    return session;
  }

  /** Does everything that is due now. Sessions come first, because paused ones wait for the tick. */
  async tick(): Promise<void> {
    const now = this.#clock.monotonic();
    this.#sessions.tick(now);
    await this.#scheduler.run(OWNER, this.#tickSteps(now));
  }

  *#tickSteps(now: number): Steps<void> {
    yield* this.links.tick(now);
    const pause = new Pause();
    for (const sw of this.switches.all()) {
      // Both calls return undefined for most switches, because nothing is left to do after their first step.
      const switchSteps = this.switches.tickSwitch(sw, now);
      if (switchSteps) yield* switchSteps;
      const portSteps =
        sw.disconnectedAt === undefined
          ? this.#prober.tick(sw)
          : this.#removeHostsOf(sw, sw.disconnectedAt, now);
      if (portSteps) yield* portSteps;
      // At each interval all ports of a switch are probed.
      if (pause.due(COST.record + sw.ports.size * COST.entity)) yield;
    }
    yield* this.hosts.tick(now);
    this.#bridge?.tick(now);
    if (now - this.#sweptAt < SWEEP_INTERVAL_MS) return;
    this.#sweptAt = now;
    yield* this.hosts.sweep(now);
    yield* this.#neighbours.sweep(now);
  }

  // Session events.

  packetIn(session: Session, inPort: number, frame: Uint8Array): void {
    // A session that is being rejected may still report frames.
    const sw = this.switches.get(session.deviceId);
    if (sw?.session !== session) return;
    const ref = sw.ports.get(inPort)?.ref ?? portRef(sw.id, inPort);
    this.#packetIns.handle(ref, frame, this.#clock.monotonic());
  }

  /** The session is closed: without the master role it would still be allowed to change flows. */
  roleRefused(session: Session): void {
    this.count("roles_refused_total");
    this.#log.warn("a switch has another master, of a newer generation", { device: session.deviceId });
    session.close("the switch has another master, of a newer generation");
  }

  sessionClosed(session: Session, reason: string, byPeer: boolean): void {
    this.#sessions.delete(session);
    const { deviceId: device, remote } = session;
    // A connection that has not identified itself as a switch is not logged, because anybody can open many of them.
    if (device !== "") this.#log.info("openflow session closed", { device, remote, reason });
    this.switches.sessionClosed(session, byPeer, this.#clock.monotonic());
  }

  // Switch and port events.

  switchConnecting(sw: Switch): void {
    const { session } = sw;
    if (!session) return;
    if (session.inheritedFlows > 0) {
      if (this.#bridge) this.#bridge.deferUntil(this.#graceEndsAt);
      else session.send("flowMod", deleteOwnFlows);
    }
    session.sendBytes(this.#baseFlows);
    this.#bridge?.sessionReady(session);
    this.#prober.startInterval(sw);
  }

  portConnected(sw: Switch, port: SwitchPort): void {
    port.isLinked = this.links.hasLink(port.ref);
    this.#bridge?.portConnected(sw, port);
    // Broadcast probes follow later, and only if the LLDP probe finds no direct link.
    this.#prober.send(sw, port, true);
  }

  switchConnected(sw: Switch): void {
    this.#log.info("openflow switch connected", {
      device: sw.id,
      remote: sw.session?.remote,
      ports: sw.ports.size,
    });
  }

  switchDisconnected(sw: Switch): void {
    const now = this.#clock.monotonic();
    for (const port of sw.ports.values()) {
      port.isEdge = false;
      this.#packetIns.discardPending(port.ref);
    }
    this.links.deviceDisconnected(sw.id, now);
    this.#bridge?.changed(sw.id);
  }

  switchRemoved(sw: Switch): void {
    this.#log.info("openflow switch removed", { device: sw.id });
  }

  portUp(sw: Switch, port: SwitchPort): void {
    this.#prober.send(sw, port, true);
    this.#bridge?.changed(sw.id);
  }

  portRemoved(port: SwitchPort): void {
    this.#bridge?.portRemoved(port.ref);
  }

  portDown(port: SwitchPort): void {
    const { ref } = port;
    port.isEdge = false;
    this.#probes.invalidate(ref);
    this.#packetIns.discardPending(ref);
    this.links.portDown(ref);
    this.#neighbours.portDown(ref);
    this.hosts.removeHostsAt(ref, true);
    this.#bridge?.portDown(ref);
  }

  portSettled({ ref, probeableSince }: SwitchPort): void {
    this.#packetIns.releasePending(ref);
    this.hosts.portSettled(ref, probeableSince, this.#clock.monotonic());
    this.#bridge?.changed(ref.device);
  }

  leadsToUnreachable(ref: PortRef): boolean {
    return this.#bridge?.leadsToUnreachable(ref) === true;
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
    this.#bridge?.linkFound(link);
  }

  linkRemoved(link: DiscoveredLink, reason: LinkEndReason): void {
    this.#bridge?.linkRemoved(link, reason);
    // The ports at both ends are classified again.
    for (const ref of [link.src, link.dst]) {
      const port = this.#findPort(ref);
      if (!port) continue;
      startClassification(port, this.#clock.monotonic());
      port.isLinked = this.links.hasLink(ref);
    }
  }

  // Packet-in events.

  portRole(ref: PortRef): PortRole {
    const sw = this.switches.get(ref.device);
    const known = sw?.ports.get(ref.port);
    if (!sw?.session || !known?.up) return "down";
    if (known.isEdge) return "edge";
    return this.links.hasLink(ref) ? "link" : "pending";
  }

  isEdge(ref: PortRef): boolean {
    return this.portRole(ref) === "edge";
  }

  probeReceived(from: PortRef, at: PortRef, direct: boolean, now: number): void {
    const [sender, receiver] = [this.switches.get(from.device), this.switches.get(at.device)];
    const sourcePort = sender?.ports.get(from.port);
    const arrivalPort = receiver?.ports.get(at.port);
    // A probe can arrive after the session it was sent on has closed.
    if (!sender?.session || !receiver || !sourcePort?.up || !arrivalPort?.up || sourcePort === arrivalPort)
      return;
    this.links.probeReceived(from, at, direct, now);
    this.#prober.sendBack(receiver, arrivalPort, sender, from, direct, now);
  }

  neighbourReceived(lldp: Lldp, at: PortRef): void {
    if (this.#settings.foreignLldp && this.isEdge(at))
      this.#neighbours.lldpReceived(lldp, at, this.#clock.monotonic());
  }

  announcementReceived(at: PortRef, tags: VlanTags, announcement: Announcement): void {
    if (this.switches.isSwitchMac(at.device, announcement.mac)) return;
    this.hosts.announcementReceived(at, tags, announcement, this.#clock.monotonic());
  }

  addressOf({ device }: PortRef): string {
    return this.switches.get(device)?.address ?? "";
  }

  /** Whether the port's switch may add or change a record now. A switch that is not connected yet after a restart always may. */
  mayChange({ device }: PortRef): boolean {
    const sw = this.switches.get(device);
    return !sw || this.#budget.take(sw) === 0;
  }

  sendFrame({ device, port }: PortRef, frame: Uint8Array): void {
    const session = this.switches.get(device)?.session;
    if (!session || session.channel.backlogBytes > MAX_PROBE_BACKLOG_BYTES) return;
    session.send("packetOut", { inPort: PORT.controller, output: [port], frame });
  }

  // Ticks.

  /** The hosts of a disconnected switch are removed after the link timeout. */
  #removeHostsOf(sw: Switch, disconnectedAt: number, now: number): Steps<void> | undefined {
    const dueAt = disconnectedAt + linkTimeoutMs(this.#settings.probeIntervalMs);
    return sw.hostsRemoved || now <= dueAt ? undefined : this.#removeHostsAtPorts(sw);
  }

  *#removeHostsAtPorts(sw: Switch): Steps<void> {
    sw.hostsRemoved = true;
    const pause = new Pause();
    for (const port of sw.ports.values()) {
      if (pause.due(COST.entity)) yield;
      if (sw.session) return;
      this.hosts.removeHostsAt(port.ref, true);
    }
  }

  #findPort({ device, port }: PortRef): SwitchPort | undefined {
    return this.switches.get(device)?.ports.get(port);
  }
}
