/**
 * Probes the ports of connected switches: at each interval, when they come up, and until they are classified. A port that
 * leads to no switch after `settleMs` is an edge. The work runs in steps, because a switch can have thousands of ports.
 */
import type { Clock } from "../../../lib/clock.ts";
import type { Steps } from "../../../lib/steps.ts";
import { encode } from "../codec/openflow-messages.ts";
import { isWiredPort, type PortRef } from "../codec/port.ts";
import { broadcastProbeFlow } from "../flows.ts";
import type { OpenflowSettings } from "../options.ts";
import type { Session } from "../session/session.ts";
import type { LinkTable } from "./link-table.ts";
import type { Probes } from "./probes.ts";
import type { Switch, SwitchPort } from "./switch.ts";

const MIN_SETTLE_TICKS = 3;
/** After this number of ticks the reverse direction of a one-way link is probed at the normal interval only. */
const MAX_ONE_WAY_TICKS = 30;
/** A probe that was sent longer ago than this has arrived or is lost. */
const PROBE_FLIGHT_MS = 50;
const BROADCAST_PROBE_FLOW = encode("flowMod", broadcastProbeFlow);
/** Maximum backlog of a switch. While its backlog is larger, it gets no further probes. */
export const MAX_PROBE_BACKLOG_BYTES = 64 * 1024;
const PROBED_PER_STEP = 32;
const CHECKED_PER_STEP = 256;

export interface ProberEvents {
  /** Called when a port has settled and leads to no switch. */
  portSettled(port: SwitchPort): void;
  /** Whether the port leads to an unreachable switch that may still forward. */
  leadsToUnreachable(ref: PortRef): boolean;
  count(what: "probes_sent_total"): void;
}

export class PortProber {
  readonly #events: ProberEvents;
  readonly #links: LinkTable;
  readonly #probes: Probes;
  readonly #clock: Clock;
  readonly #settings: Pick<OpenflowSettings, "settleMs" | "probeIntervalMs">;

  constructor(
    events: ProberEvents,
    links: LinkTable,
    probes: Probes,
    clock: Clock,
    settings: Pick<OpenflowSettings, "settleMs" | "probeIntervalMs">,
  ) {
    this.#events = events;
    this.#links = links;
    this.#probes = probes;
    this.#clock = clock;
    this.#settings = settings;
  }

  /** Starts an interval. The ports of the switch are probed again at its end. */
  startInterval(sw: Switch): void {
    sw.nextProbeAt = this.#clock.monotonic() + this.#settings.probeIntervalMs;
  }

  /** Runs the first step and returns the remaining ones; undefined when there are none. */
  tick(sw: Switch): Steps<void> | undefined {
    const { session } = sw;
    if (!session) return undefined;
    const isProbing = this.#clock.monotonic() >= sw.nextProbeAt;
    if (isProbing) {
      this.startInterval(sw);
      session.sendBytes(BROADCAST_PROBE_FLOW);
    }
    const ports = sw.ports.values();
    return this.#tickPorts(sw, ports, isProbing) ? this.#tickRest(sw, session, ports, isProbing) : undefined;
  }

  *#tickRest(sw: Switch, session: Session, ports: Iterator<SwitchPort>, isProbing: boolean): Steps<void> {
    do yield;
    while (sw.session === session && this.#tickPorts(sw, ports, isProbing));
  }

  /** Runs one step. Returns whether ports are left. */
  #tickPorts(sw: Switch, ports: Iterator<SwitchPort>, isProbing: boolean): boolean {
    const now = this.#clock.monotonic();
    for (let left = isProbing ? PROBED_PER_STEP : CHECKED_PER_STEP; left > 0; left--) {
      const { value: port, done } = ports.next();
      if (done) return false;
      if (port.up) this.#tickPort(sw, port, isProbing, now);
    }
    return true;
  }

  /** Sends an LLDP probe when `direct` is set, otherwise a broadcast probe. */
  send(sw: Switch, port: SwitchPort, direct: boolean, now = this.#clock.monotonic()): void {
    const { session } = sw;
    if (!session || !port.up || !isWiredPort(port.number)) return;
    port.probedAt = now;
    this.#events.count("probes_sent_total");
    if (session.channel.backlogBytes > MAX_PROBE_BACKLOG_BYTES) return;
    session.sendBytes(this.#probes.create(port.ref, port.description.mac, direct, now));
  }

  /** Probes the other direction of a link at once, unless a probe that the other switch can receive is in flight. */
  sendBack(
    sw: Switch,
    port: SwitchPort,
    other: Switch,
    otherPort: PortRef,
    direct: boolean,
    now: number,
  ): void {
    const isInFlight = port.probedAt > other.connectedAt && now - port.probedAt < PROBE_FLIGHT_MS;
    if (!isInFlight && !this.#links.isActive(port.ref, otherPort)) this.send(sw, port, direct, now);
  }

  #tickPort(sw: Switch, port: SwitchPort, isProbing: boolean, now: number): void {
    const isClassified = port.isEdge || (port.isLinked && port.unclassifiedTicks > MAX_ONE_WAY_TICKS);
    if (!isClassified) this.#classify(sw, port, now);
    if (!isProbing) return;
    this.send(sw, port, true, now);
    if (!this.#links.hasDirectLink(port.ref)) this.send(sw, port, false, now);
  }

  /** Probes a port without a link again until it has settled. Then the port is an edge. */
  #classify(sw: Switch, port: SwitchPort, now: number): void {
    const { ref } = port;
    const { settleMs } = this.#settings;
    port.unclassifiedTicks++;
    if (port.isLinked) {
      // Only one direction may be known: the probe in the other may have arrived before that switch had its flows.
      const retryAfterMs = port.unclassifiedTicks <= MIN_SETTLE_TICKS ? PROBE_FLIGHT_MS : settleMs / 2;
      if (now - port.probedAt < retryAfterMs) return;
      // When a link is removed, its ports are classified again.
      if (this.#links.hasLinkFrom(ref)) port.unclassifiedTicks = MAX_ONE_WAY_TICKS + 1;
      else this.send(sw, port, this.#links.hasDirectLink(ref), now);
      return;
    }
    if (this.#events.leadsToUnreachable(ref)) return;
    const ageMs = now - port.probeableSince;
    // A number of ticks is required too: on a busy machine received probes may not have been read yet.
    if ((ageMs >= settleMs && port.unclassifiedTicks >= MIN_SETTLE_TICKS) || !isWiredPort(port.number)) {
      port.isEdge = true;
      this.#events.portSettled(port);
    } else if (now - port.probedAt >= settleMs / 2) {
      this.send(sw, port, true, now);
      this.send(sw, port, false, now);
    }
  }
}
