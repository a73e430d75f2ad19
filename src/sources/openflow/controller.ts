/**
 * The hub: what happens on the sessions, told to the rooms it concerns. Switches and ports, links, hosts and the
 * bridge each know their own matter and nothing of each other; the order in which they hear of things is decided here.
 * Everything that waits for time is driven by `tick`.
 */
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import { ClaimBook } from "./claim-buffer.ts";
import type { Announcement } from "./codec/announcement.ts";
import type { Tags } from "./codec/ethernet.ts";
import { PORT } from "./codec/instruction.ts";
import type { Lldp } from "./codec/lldp.ts";
import { encode } from "./codec/messages.ts";
import type { PortDescription } from "./codec/port.ts";
import { type Counter, Counters } from "./counters.ts";
import { baseFlows, broadcastProbeFlow, forgetAll } from "./flows.ts";
import { Forwarding } from "./forwarding.ts";
import { Hosts } from "./host-tracker.ts";
import { type End, type Link, type LinkEnding, Links, silenceMs } from "./link-table.ts";
import { ForeignNeighbours } from "./lldp-neighbours.ts";
import type { Settings } from "./options.ts";
import { Intake } from "./packet-in.ts";
import { isWiredPort } from "./port-ref.ts";
import { Probes } from "./probes.ts";
import { Session, type SessionOwner } from "./session.ts";
import { type Switch, Switches, type SwitchPort, type SwitchWatcher } from "./switch-table.ts";
import type { Channel, Receiver } from "./transport.ts";

const LIMITS = { handshakeMs: 10_000, maxPorts: 8192, maxMessages: 2000 } as const;
const SWEEP_MS = 1000;
const SETTLE_TICKS = 3;
const ONE_WAY_TICKS = 30;
/** A probe that was sent so long ago has come through by now, or was lost. */
const UNDER_WAY_MS = 50;
const BROADCAST_PROBE_FLOW = encode("flowMod", broadcastProbeFlow);
/** A switch that is behind with reading gets no more probes on top. */
const PROBE_BACKLOG_BYTES = 64 * 1024;

export class Network implements SessionOwner, SwitchWatcher {
  readonly book = new ClaimBook();
  readonly counters = new Counters();
  readonly switches: Switches;
  readonly links: Links;
  readonly hosts: Hosts;
  readonly #foreign: ForeignNeighbours;
  readonly #intake: Intake;
  readonly #probes: Probes;
  readonly #forwarding: Forwarding | undefined;
  readonly #sessions = new Set<Session>();
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #graceUntil: number;
  /** The same for every switch, so written once. */
  readonly #baseFlows: Uint8Array;
  #sweptAt = 0;

  constructor(settings: Settings, clock: Clock, log: Logger) {
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
    this.#graceUntil = clock.now() + settings.graceMs;
    this.#baseFlows = Buffer.concat(baseFlows(settings).map((flow) => encode("flowMod", flow)));
    this.switches = new Switches(this.book, this, settings);
    this.links = new Links(this.book, this, settings.probeIntervalMs);
    this.hosts = new Hosts(this.book, this, settings);
    this.#foreign = new ForeignNeighbours(this.book);
    this.#probes = new Probes(settings.probeMaxAgeMs);
    this.#intake = new Intake(this, this.#probes, settings);
    if (settings.forwarding === "bridge") {
      this.#forwarding = new Forwarding(this.switches, this.links, clock, settings.probeIntervalMs);
    }
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  count(what: Counter): void {
    this.counters.count(what);
  }

  /** A new connection; undefined when there are too many. */
  accept(channel: Channel): Receiver | undefined {
    if (this.#sessions.size >= this.#settings.maxSessions) {
      this.count("sessions_refused_total");
      return undefined;
    }
    const limits = { ...LIMITS, echoIntervalMs: this.#settings.echoIntervalMs };
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
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    this.hosts.sweep(now);
    this.#foreign.sweep(now);
    this.#intake.sweep(now);
  }

  // What sessions tell.

  ready(session: Session): void {
    this.count("sessions_total");
    this.switches.connected(session, this.#clock.now());
  }

  portChanged(session: Session, port: PortDescription): void {
    this.switches.portChanged(session, port, this.#clock.now());
  }

  portRemoved(session: Session, port: number): void {
    this.switches.portRemoved(session, port);
  }

  packetIn(session: Session, inPort: number, frame: Uint8Array): void {
    this.#intake.frame({ device: session.deviceId, port: inPort }, frame, this.#clock.now());
  }

  ended(session: Session, reason: string, byPeer: boolean): void {
    this.#sessions.delete(session);
    const level = session.deviceId === "" ? "debug" : "info";
    this.#log[level]("openflow session ended", { device: session.deviceId, remote: session.remote, reason });
    this.switches.disconnected(session, byPeer, this.#clock.now());
  }

  // What happens to switches and ports.

  switchUp(sw: Switch): void {
    const { session } = sw;
    if (!session) return;
    this.#log.info("openflow switch connected", {
      device: sw.id,
      remote: session.remote,
      ports: sw.ports.size,
    });
    if (session.inheritedFlows > 0) {
      if (this.#forwarding) this.#forwarding.hold(this.#graceUntil);
      else session.send("flowMod", forgetAll);
    }
    session.sendBytes(this.#baseFlows);
    for (const port of sw.ports.values()) port.linked = this.links.has({ device: sw.id, port: port.number });
    this.#forwarding?.connected(sw);
    this.#probeAll(sw, this.#clock.now());
  }

  switchDown(sw: Switch): void {
    const now = this.#clock.now();
    for (const port of sw.ports.values()) {
      port.edge = false;
      this.#intake.discard({ device: sw.id, port: port.number });
    }
    this.links.deviceGone(sw.id, now);
    this.#forwarding?.changed();
  }

  switchRemoved(sw: Switch): void {
    this.#log.info("openflow switch removed", { device: sw.id });
  }

  portUp(sw: Switch, port: SwitchPort): void {
    this.#probe(sw, port, true, this.#clock.now());
    this.#forwarding?.changed();
  }

  portDown(sw: Switch, port: SwitchPort): void {
    const end = { device: sw.id, port: port.number };
    port.edge = false;
    this.#probes.forget(end);
    this.#intake.discard(end);
    this.links.portDown(end);
    this.#foreign.portDown(end);
    this.hosts.leave(end, true);
    this.#forwarding?.portDown(end);
  }

  // What happens to links.

  linkFound(link: Link): void {
    for (const end of [link.src, link.dst]) {
      const port = this.#portAt(end);
      if (port) Object.assign(port, { edge: false, linked: true });
      this.#intake.discard(end);
      this.hosts.leave(end, false);
      if (link.direct) this.#foreign.portDown(end);
    }
    this.#forwarding?.linkFound(link);
  }

  linkEnded(link: Link, why: LinkEnding): void {
    this.#forwarding?.linkEnded(link, why);
    // What is behind its ports is an open question again.
    for (const end of [link.src, link.dst]) {
      const port = this.#portAt(end);
      if (port) Object.assign(port, { since: this.#clock.now(), ticks: 0, linked: this.links.has(end) });
    }
  }

  // What frames tell.

  judgement({ device, port }: End): "edge" | "link" | "waiting" | "unknown" {
    const sw = this.switches.get(device);
    const known = sw?.ports.get(port);
    if (!sw?.session || !known?.up) return "unknown";
    if (known.edge) return "edge";
    return this.links.has({ device, port }) ? "link" : "waiting";
  }

  isEdge(end: End): boolean {
    return this.judgement(end) === "edge";
  }

  probed(from: End, at: End, direct: boolean): void {
    const [sender, receiver] = [this.switches.get(from.device), this.switches.get(at.device)];
    const source = sender?.ports.get(from.port);
    const arrival = receiver?.ports.get(at.port);
    // A probe may outlive the session it was sent on.
    if (!sender?.session || !receiver || !source?.up || !arrival?.up || source === arrival) return;
    const now = this.#clock.now();
    this.links.heard(from, at, direct, now);
    // The other direction need not wait for its turn, unless a probe is under way that the other can hear.
    const underWay = arrival.probedAt > sender.connectedAt && now - arrival.probedAt < UNDER_WAY_MS;
    if (!underWay && !this.links.connects(at, from)) this.#probe(receiver, arrival, direct, now);
  }

  foreign(lldp: Lldp, at: End): void {
    if (this.#settings.foreignLldp && this.isEdge(at)) this.#foreign.heard(lldp, at, this.#clock.now());
  }

  announced(at: End, tags: Tags, said: Announcement): void {
    if (!this.switches.ownsMac(said.mac)) this.hosts.heard(at, tags, said, this.#clock.now());
  }

  send({ device, port }: End, frame: Uint8Array): void {
    const session = this.switches.get(device)?.session;
    if (!session || session.channel.backlog > PROBE_BACKLOG_BYTES) return;
    session.send("packetOut", { inPort: PORT.controller, output: [port], frame });
  }

  // Time.

  #tickSwitch(sw: Switch, now: number): void {
    if (sw.goneAt !== undefined) {
      // Hosts of a lost switch go when its links would have gone.
      if (!sw.hostsLeft && now - sw.goneAt > silenceMs(this.#settings.probeIntervalMs)) {
        sw.hostsLeft = true;
        for (const port of sw.ports.values()) this.hosts.leave({ device: sw.id, port: port.number }, true);
      }
      return;
    }
    if (!sw.session) return;
    for (const port of sw.ports.values()) {
      const judged = port.edge || (port.linked && port.ticks > ONE_WAY_TICKS);
      if (port.up && !judged) this.#tickYoungPort(sw, port, now);
    }
    if (now >= sw.nextProbeAt) {
      sw.session.sendBytes(BROADCAST_PROBE_FLOW);
      this.#probeAll(sw, now);
    }
  }

  /** A port that leads to no switch as far as we know is probed again while it settles, and then is an edge. */
  #tickYoungPort(sw: Switch, port: SwitchPort, now: number): void {
    const end = { device: sw.id, port: port.number };
    const { settleMs } = this.#settings;
    port.ticks++;
    if (port.linked) {
      // Known in one direction only: the probe for the other may have come before the switch could hear it.
      const patienceMs = port.ticks <= SETTLE_TICKS ? UNDER_WAY_MS : settleMs / 2;
      if (now - port.probedAt < patienceMs || this.links.startsAt(end)) return;
      this.#probe(sw, port, this.links.hasDirect(end), now);
      return;
    }
    if (this.#forwarding?.isDoubtful(end)) return;
    const age = now - port.since;
    // Time alone does not settle it: on a busy machine the answers may still wait to be read.
    if ((age >= settleMs && port.ticks >= SETTLE_TICKS) || !isWiredPort(port.number)) {
      port.edge = true;
      this.#intake.settled(end);
      this.hosts.settled(end, port.since, now);
      this.#forwarding?.changed();
    } else if (now - port.probedAt >= settleMs / 2) {
      this.#probe(sw, port, true, now);
      this.#probe(sw, port, false, now);
    }
  }

  #probeAll(sw: Switch, now: number): void {
    sw.nextProbeAt = now + this.#settings.probeIntervalMs;
    for (const port of sw.ports.values()) {
      this.#probe(sw, port, true, now);
      // LLDP first: most new ports lead to a switch, and then the broadcast is spared.
      const isNew = now === port.since;
      if (!isNew && !this.links.hasDirect({ device: sw.id, port: port.number }))
        this.#probe(sw, port, false, now);
    }
  }

  #probe(sw: Switch, port: SwitchPort, direct: boolean, now: number): void {
    const { session } = sw;
    if (!session || !port.up || !isWiredPort(port.number)) return;
    port.probedAt = now;
    this.count("probes_sent_total");
    if (session.channel.backlog > PROBE_BACKLOG_BYTES) return;
    const end = { device: sw.id, port: port.number };
    session.sendBytes(this.#probes.make(end, port.description.mac, direct, now));
  }

  #portAt({ device, port }: End): SwitchPort | undefined {
    return this.switches.get(device)?.ports.get(port);
  }
}
