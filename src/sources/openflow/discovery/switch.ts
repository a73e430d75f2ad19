/** The state of one switch and its ports. */
import { type PortDescription, type PortRef, portRef } from "../codec/port.ts";
import type { OpenflowCounter } from "../openflow-counters.ts";
import type { PortReport, Session } from "../session/session.ts";

/** A switch that was connected for this long is known. */
export const KNOWN_AFTER_MS = 60_000;

export interface SwitchPort {
  readonly number: number;
  readonly ref: PortRef;
  /** The description that was applied last. */
  description: PortDescription;
  /** Whether the port is up. False also while a change of the port is held, because it is unknown where the port leads. */
  up: boolean;
  /** The time at which the classification of the port last began. */
  probeableSince: number;
  /** Set once the port was probed for `settleMs` and does not lead to another switch. */
  isEdge: boolean;
  /** Set while the port leads to another switch. */
  isLinked: boolean;
  probedAt: number;
  /** Number of ticks since `probeableSince` in which the port was to be classified, or the other direction of its link found. */
  unclassifiedTicks: number;
}

export function createPort(device: string, description: PortDescription, now: number): SwitchPort {
  const { number } = description;
  const ref = portRef(device, number);
  return {
    number,
    ref,
    description,
    up: false,
    probeableSince: now,
    isEdge: false,
    isLinked: false,
    probedAt: 0,
    unclassifiedTicks: 0,
  };
}

export function startClassification(port: SwitchPort, now: number): void {
  port.probeableSince = now;
  port.unclassifiedTicks = 0;
}

export interface SwitchEvents {
  /** Called before the ports of the switch are known. */
  switchConnecting(sw: Switch): void;
  /** Called for each port of a switch that connects. */
  portConnected(sw: Switch, port: SwitchPort): void;
  switchConnected(sw: Switch): void;
  switchDisconnected(sw: Switch): void;
  switchRemoved(sw: Switch): void;
  portUp(sw: Switch, port: SwitchPort): void;
  portDown(port: SwitchPort): void;
  /** Called after `portDown`. */
  portRemoved(port: SwitchPort): void;
  count(counter: OpenflowCounter): void;
}

export class Switch {
  readonly id: string;
  /** Whether the operator has listed the switch in `allow`. */
  readonly isAllowed: boolean;
  /** The peer address of the last session. The records of the switch count for this address. */
  address: string;
  session: Session | undefined;
  readonly ports = new Map<number, SwitchPort>();
  /** The damping of each port that changed lately, by port number. A removed port keeps its damping. */
  readonly dampings = new Map<number, PortDamping>();
  /** The time at which the last session ended; undefined while there is one. */
  disconnectedAt: number | undefined;
  /** Whether the switch closed its last session itself. Otherwise it may be unreachable but still forward. */
  closedByPeer = false;
  conflict: { readonly text: string; readonly at: number } | undefined;
  connectedAt = 0;
  nextProbeAt = 0;
  /** Whether the hosts of the switch were removed since it disconnected. */
  hostsRemoved = false;
  /** Whether the switch is on the allow list or was once connected for `KNOWN_AFTER_MS`. Such a switch is never displaced. */
  isKnown: boolean;
  /** Set while the ports of the switch are being removed. The switch itself is removed after them. */
  isRemoving = false;
  /** Whether the switch was claimed before a restart. It is kept as long as a known one, but can be displaced. */
  isRestored = false;

  constructor(id: string, address: string, isAllowed: boolean) {
    this.id = id;
    this.address = address;
    this.isAllowed = isAllowed;
    this.isKnown = isAllowed;
  }

  /** Whether the switch has been disconnected long enough to be removed. */
  isRemovalDue(now: number, removeAfterMs: number): boolean {
    if (this.disconnectedAt === undefined || this.isRemoving) return false;
    const isKept = this.isKnown || this.isRestored;
    return now - this.disconnectedAt >= (isKept ? removeAfterMs : Math.min(removeAfterMs, KNOWN_AFTER_MS));
  }
}

export const DAMPING_INTERVAL_MS = 10_000;
export const MAX_CHANGES_PER_INTERVAL = 10;

/**
 * Damping of one port that changes often. A port that changes more than `MAX_CHANGES_PER_INTERVAL` times within
 * `DAMPING_INTERVAL_MS` is flapping. From then on, the first state of each interval is applied at once and the last one at
 * its end, until an interval has at most `MAX_CHANGES_PER_INTERVAL` changes.
 *
 * A change is also held while its switch has no tokens left for changes. The latest change is applied when there are tokens.
 */
export class PortDamping {
  isFlapping = false;
  /** The latest change while it is not applied yet. */
  held: PortReport | undefined;
  /** The times of the latest changes, oldest first. */
  readonly #times: number[] = [];
  #intervalStart = 0;
  #changesInInterval = 0;

  /** Records a change. Returns whether the caller may apply it at once; otherwise the caller holds it. */
  record(now: number): boolean {
    this.#times.push(now);
    if (this.#times.length > MAX_CHANGES_PER_INTERVAL + 1) this.#times.shift();
    if (this.isFlapping) return ++this.#changesInInterval === 1;
    const [oldest = now] = this.#times;
    if (this.#times.length > MAX_CHANGES_PER_INTERVAL && now - oldest < DAMPING_INTERVAL_MS) {
      this.isFlapping = true;
      this.#startInterval(now, 1);
    }
    return true;
  }

  /** Ends the interval when it is over. Returns whether the caller may apply a held change now. */
  tick(now: number): boolean {
    if (!this.isFlapping) return true;
    if (now - this.#intervalStart < DAMPING_INTERVAL_MS) return false;
    if (this.#changesInInterval <= MAX_CHANGES_PER_INTERVAL) this.isFlapping = false;
    this.#startInterval(now, 0);
    return true;
  }

  /** Whether the damping can be dropped, because no change is held and the last change was an interval ago. */
  isOver(now: number): boolean {
    return !this.isFlapping && !this.held && now - (this.#times.at(-1) ?? now) >= DAMPING_INTERVAL_MS;
  }

  #startInterval(now: number, changes: number): void {
    this.#intervalStart = now;
    this.#changesInInterval = changes;
  }
}
