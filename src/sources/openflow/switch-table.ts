/**
 * The switches, their ports and their claims. A datapath id has one session: while the first session replies, a second
 * one is rejected and the device is flagged. A switch whose session ends is unavailable at once, and is removed from the
 * inventory after `removeAfterMs`.
 */
import type { DeviceClaim } from "../../model/claim.ts";
import { portId } from "../../model/ids.ts";
import type { ClaimBuffer } from "./claim-buffer.ts";
import { isFiber, isUp, type PortDescription, speedMbps } from "./codec/port.ts";
import type { OpenflowSettings } from "./options.ts";
import { isRealPort, portText } from "./port-ref.ts";
import type { Session } from "./session.ts";

/** How long the conflict annotation stays after the last rejected session. */
const CONFLICT_FLAG_MS = 60_000;

export interface SwitchPort {
  readonly number: number;
  description: PortDescription;
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

export function startClassification(port: SwitchPort, now: number): void {
  port.probeableSince = now;
  port.unclassifiedTicks = 0;
}

export class Switch {
  readonly id: string;
  session: Session | undefined;
  readonly ports = new Map<number, SwitchPort>();
  /** Set while there is no session. */
  disconnectedAt: number | undefined;
  /** The switch closed its last session itself. Otherwise it may be unreachable but still forward. */
  closedByPeer = false;
  conflict: { readonly text: string; readonly at: number } | undefined;
  connectedAt = 0;
  nextProbeAt = 0;
  /** Whether its hosts were removed since it disconnected. */
  hostsRemoved = false;

  constructor(id: string) {
    this.id = id;
  }
}

export interface SwitchEvents {
  switchConnected(sw: Switch): void;
  switchDisconnected(sw: Switch): void;
  switchRemoved(sw: Switch): void;
  portUp(sw: Switch, port: SwitchPort): void;
  portDown(sw: Switch, port: SwitchPort): void;
}

export class SwitchTable {
  readonly #claims: ClaimBuffer;
  readonly #events: SwitchEvents;
  readonly #settings: OpenflowSettings;
  readonly #switches = new Map<string, Switch>();
  readonly #portMacs = new Map<string, string>();

  constructor(claims: ClaimBuffer, events: SwitchEvents, settings: OpenflowSettings) {
    this.#claims = claims;
    this.#events = events;
    this.#settings = settings;
  }

  get(id: string): Switch | undefined {
    return this.#switches.get(id);
  }

  all(): Iterable<Switch> {
    return this.#switches.values();
  }

  get size(): number {
    return this.#switches.size;
  }

  /** Whether the MAC belongs to a port of a switch. Such a MAC is not a host. */
  isSwitchMac(mac: string): boolean {
    return this.#portMacs.has(mac);
  }

  sessionReady(session: Session, now: number): void {
    const sw = this.#switches.get(session.deviceId) ?? new Switch(session.deviceId);
    if (sw.session) {
      if (session.auxiliary === 0) this.#flagDuplicateSession(sw, session, now);
      session.reject(
        session.auxiliary === 0
          ? "this datapath id is already connected"
          : "auxiliary connections are not supported",
      );
      return;
    }
    this.#switches.set(sw.id, sw);
    sw.session = session;
    sw.disconnectedAt = undefined;
    sw.closedByPeer = false;
    sw.hostsRemoved = false;
    sw.connectedAt = now;
    this.#publishDevice(sw);
    const removed = [...sw.ports.values()].filter((port) => !session.ports.has(port.number));
    for (const port of removed) this.#removePort(sw, port);
    this.#claims.removePorts(
      sw.id,
      new Set([...session.ports.keys()].map((port) => portId(sw.id, portText(port)))),
    );
    for (const description of session.ports.values()) {
      const port = sw.ports.get(description.number);
      // The cabling may have changed while the switch was disconnected, so the port is classified again.
      if (port) {
        startClassification(port, now);
        port.isEdge = false;
      }
      this.#updatePort(sw, description, now);
    }
    this.#events.switchConnected(sw);
  }

  portChanged(session: Session, description: PortDescription, now: number): void {
    const sw = this.#switchOf(session);
    if (!sw) return;
    const wasUp = sw.ports.get(description.number)?.up;
    this.#updatePort(sw, description, now);
    const port = sw.ports.get(description.number);
    if (port?.up && !wasUp) this.#events.portUp(sw, port);
  }

  portRemoved(session: Session, number: number): void {
    const sw = this.#switchOf(session);
    const port = sw?.ports.get(number);
    if (sw && port) this.#removePort(sw, port);
  }

  sessionClosed(session: Session, closedByPeer: boolean, now: number): void {
    const sw = this.#switchOf(session);
    if (!sw) return;
    sw.session = undefined;
    sw.disconnectedAt = now;
    sw.closedByPeer = closedByPeer;
    this.#publishUnavailable(sw, this.#claims.getDevice(sw.id));
    this.#events.switchDisconnected(sw);
  }

  tick(now: number): void {
    for (const sw of this.#switches.values()) {
      if (sw.conflict && now - sw.conflict.at > CONFLICT_FLAG_MS) {
        sw.conflict = undefined;
        if (sw.session) this.#publishDevice(sw);
      }
      if (sw.disconnectedAt !== undefined && now - sw.disconnectedAt >= this.#settings.removeAfterMs)
        this.#remove(sw);
    }
  }

  /** Adds a device that was claimed before a restart and did not reconnect within the grace period. */
  restoreDisconnected(claim: DeviceClaim, now: number): void {
    if (this.#switches.has(claim.id)) return;
    const sw = new Switch(claim.id);
    // A device that was disconnected before the restart keeps that time: a restart does not prolong `removeAfterMs`.
    const disconnectedAt = claim.available === false ? Number(claim.lastUpdate ?? now) : now;
    sw.disconnectedAt = Math.min(disconnectedAt, now);
    this.#switches.set(sw.id, sw);
    this.#publishUnavailable(sw, claim);
  }

  #switchOf(session: Session): Switch | undefined {
    const sw = this.#switches.get(session.deviceId);
    return sw?.session === session ? sw : undefined;
  }

  #flagDuplicateSession(sw: Switch, second: Session, now: number): void {
    sw.conflict = {
      text: `a second session from ${second.channel.remoteAddress} claims this datapath id`,
      at: now,
    };
    this.#publishDevice(sw);
    // The first session may be a dead TCP connection. Then it is closed here and the switch connects again.
    sw.session?.checkAlive(now);
  }

  #updatePort(sw: Switch, description: PortDescription, now: number): void {
    const { number } = description;
    if (!isRealPort(number)) return;
    const up = isUp(description);
    const known = sw.ports.get(number);
    const port: SwitchPort = known ?? {
      number,
      description,
      up: false,
      probeableSince: now,
      isEdge: false,
      isLinked: false,
      probedAt: 0,
      unclassifiedTicks: 0,
    };
    sw.ports.set(number, port);
    if (known && known.description.mac !== description.mac) this.#portMacs.delete(known.description.mac);
    this.#portMacs.set(description.mac, sw.id);
    const wentDown = port.up && !up;
    if (up && !port.up) startClassification(port, now);
    port.description = description;
    port.up = up;
    this.#publishPort(sw, port);
    if (wentDown) this.#events.portDown(sw, port);
  }

  #removePort(sw: Switch, port: SwitchPort): void {
    sw.ports.delete(port.number);
    this.#portMacs.delete(port.description.mac);
    port.up = false;
    this.#events.portDown(sw, port);
    this.#claims.remove("ports", portId(sw.id, portText(port.number)));
  }

  #remove(sw: Switch): void {
    this.#switches.delete(sw.id);
    for (const port of sw.ports.values()) this.#removePort(sw, port);
    this.#claims.removePorts(sw.id);
    this.#events.switchRemoved(sw);
    this.#claims.remove("devices", sw.id);
  }

  #publishDevice(sw: Switch): void {
    const { session } = sw;
    if (!session) return;
    const { remoteAddress } = session.channel;
    this.#claims.setDevice({
      id: sw.id,
      type: "SWITCH",
      available: true,
      role: this.#settings.forwarding === "bridge" ? "MASTER" : "NONE",
      mfr: session.description?.mfr ?? "",
      hw: session.description?.hw ?? "",
      sw: session.description?.sw ?? "",
      serial: session.description?.serial ?? "",
      chassisId: sw.id.slice(3).replace(/^0+(?=.)/, ""),
      annotations: {
        managementAddress: remoteAddress,
        channelId: session.remote,
        protocol: "OF_13",
        datapathDescription: session.description?.datapath ?? "",
        ...(sw.conflict && { conflict: sw.conflict.text }),
      },
    });
  }

  #publishUnavailable({ disconnectedAt }: Switch, last: DeviceClaim | undefined): void {
    if (!last || disconnectedAt === undefined) return;
    this.#claims.setDevice({ ...last, available: false, role: "NONE", lastUpdate: String(disconnectedAt) });
  }

  #publishPort(sw: Switch, { number, description, up }: SwitchPort): void {
    this.#claims.setPort({
      element: sw.id,
      port: portText(number),
      isEnabled: up,
      type: isFiber(description) ? "fiber" : "copper",
      portSpeed: speedMbps(description),
      annotations: { portName: description.name, portMac: description.mac },
    });
  }
}
