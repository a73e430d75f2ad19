/** One switch and its ports, as far as the controller knows them. */

import type { PortDescription } from "../codec/port.ts";
import type { Counter } from "../openflow-counters.ts";
import type { Session } from "../session/session.ts";
import type { Changer } from "./change-budget.ts";
import type { PortDamping } from "./port-damping.ts";

/** A switch that was connected so long is known. */
export const KNOWN_AFTER_MS = 60_000;

export interface SwitchPort {
  readonly number: number;
  /** As last applied. */
  description: PortDescription;
  /** False also while a change of the port is held: then it is not known where the port leads. */
  up: boolean;
  /** When it last became up on a connected switch. */
  probeableSince: number;
  /** Classified: it was probed for `settleMs` and does not lead to another switch. */
  isEdge: boolean;
  /** Classified: it leads to another switch. */
  isLinked: boolean;
  probedAt: number;
  /** Ticks since `probeableSince` without a classification. */
  unclassifiedTicks: number;
}

export const createPort = (description: PortDescription, now: number): SwitchPort => ({
  number: description.number,
  description,
  up: false,
  probeableSince: now,
  isEdge: false,
  isLinked: false,
  probedAt: 0,
  unclassifiedTicks: 0,
});

export function startClassification(port: SwitchPort, now: number): void {
  port.probeableSince = now;
  port.unclassifiedTicks = 0;
}

export interface SwitchEvents {
  /** Before its ports are known. */
  switchConnecting(sw: Switch): void;
  /** A port of a switch that connects. */
  portConnected(sw: Switch, port: SwitchPort): void;
  switchConnected(sw: Switch): void;
  switchDisconnected(sw: Switch): void;
  switchRemoved(sw: Switch): void;
  portUp(sw: Switch, port: SwitchPort): void;
  portDown(sw: Switch, port: SwitchPort): void;
  /** After `portDown`. */
  portRemoved(sw: Switch, port: SwitchPort): void;
  count(counter: Counter): void;
}

export class Switch implements Changer {
  readonly id: string;
  /** Listed by the operator. */
  readonly isAllowed: boolean;
  /** Of the peer of its last session. Its records count for this address. */
  address: string;
  session: Session | undefined;
  readonly ports = new Map<number, SwitchPort>();
  /** The ports that changed lately, by number: also of ports that were removed. */
  readonly dampings = new Map<number, PortDamping>();
  /** Set while there is no session. */
  disconnectedAt: number | undefined;
  /** The switch closed its last session itself. Otherwise it may be unreachable but still forward. */
  closedByPeer = false;
  conflict: { readonly text: string; readonly at: number } | undefined;
  connectedAt = 0;
  nextProbeAt = 0;
  /** Whether its hosts were removed since it disconnected. */
  hostsRemoved = false;
  /** Listed, or once connected longer than a moment: never displaced by others. */
  isKnown: boolean;
  /** Its ports are being removed; then it is gone. */
  isRemoving = false;
  /** Claimed before a restart, so it is kept as long as a known one, but can be displaced. */
  isRestored = false;

  constructor(id: string, address: string, isAllowed: boolean) {
    this.id = id;
    this.address = address;
    this.isAllowed = isAllowed;
    this.isKnown = isAllowed;
  }

  /** Whether it was disconnected so long that it is removed. */
  isRemovalDue(now: number, removeAfterMs: number): boolean {
    if (this.disconnectedAt === undefined || this.isRemoving) return false;
    const isKept = this.isKnown || this.isRestored;
    return now - this.disconnectedAt >= (isKept ? removeAfterMs : Math.min(removeAfterMs, KNOWN_AFTER_MS));
  }
}
