/**
 * The switches, their ports and their claims. A datapath id has one session: while that session replies, a second one is
 * rejected and the device is flagged. A switch whose session ends is unavailable at once, and is removed after
 * `removeAfterMs`. A switch that was never connected for `KNOWN_AFTER_MS` is removed after that time, if it is shorter.
 *
 * Work that grows with the number of ports runs in steps. A switch whose ports are being removed stays in the table until
 * all are removed, and its datapath id cannot connect until then.
 */
import type { Clock } from "../../../lib/clock.ts";
import { Quota } from "../../../lib/quota.ts";
import { COST, forEachInSteps, Pause, type Steps } from "../../../lib/steps.ts";
import type { DeviceClaim, PortClaim } from "../../../model/claim.ts";
import { isRealIdentity } from "../../../model/derived-ids.ts";
import type { ClaimBuffer } from "../claim-buffer.ts";
import { ROLE } from "../codec/openflow-messages.ts";
import {
  isFiber,
  isRealPort,
  isUp,
  type PortDescription,
  portRef,
  portText,
  speedMbps,
} from "../codec/port.ts";
import type { OpenflowSettings } from "../options.ts";
import { MAX_PORTS, type PortReport, type Session } from "../session/session.ts";
import {
  createPort,
  KNOWN_AFTER_MS,
  PortDamping,
  Switch,
  type SwitchEvents,
  type SwitchPort,
  startClassification,
} from "./switch.ts";
import { type ChangeBudget, SwitchAdmission } from "./switch-admission.ts";

/** How long the conflict annotation stays after the last rejected session. */
const CONFLICT_FLAG_MS = 60_000;
/** The session of a switch is paused while this many of its ports are damped, which means that they changed lately. */
const MAX_DAMPINGS = 16_384;

export class SwitchTable {
  readonly #claims: ClaimBuffer;
  readonly #events: SwitchEvents;
  readonly #settings: OpenflowSettings;
  readonly #clock: Clock;
  readonly #budget: ChangeBudget;
  readonly #admission: SwitchAdmission;
  /** The generation with which this node requests the master role of each switch; undefined when it does not. */
  readonly #masterGeneration: bigint | undefined;
  readonly #switches = new Map<string, Switch>();
  readonly #portMacs = new PortMacs();

  constructor(
    claims: ClaimBuffer,
    events: SwitchEvents,
    settings: OpenflowSettings,
    clock: Clock,
    budget: ChangeBudget,
    masterGeneration: bigint | undefined,
  ) {
    this.#claims = claims;
    this.#events = events;
    this.#settings = settings;
    this.#clock = clock;
    this.#budget = budget;
    this.#masterGeneration = masterGeneration;
    this.#admission = new SwitchAdmission(settings);
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

  /** Whether the MAC in an announcement that the device reports is that of a switch port, not of a host. */
  isSwitchMac(device: string, mac: string): boolean {
    return this.#portMacs.has(device, mac);
  }

  /** Whether the handshake may end now. It waits while the switch is being removed or its peer has no tokens for changes. */
  mayConnect(session: Session): boolean {
    const sw = this.#switches.get(session.deviceId);
    if (sw?.isRemoving) return false;
    const isKnown = sw?.isKnown ?? this.#admission.allowList.has(session.deviceId);
    const changer = { address: session.channel.remoteAddress, isKnown };
    // A second session of a connected switch adds no ports: it is rejected.
    return this.#budget.take(changer, 1 + (sw?.session ? 0 : session.ports.size)) === 0;
  }

  /** Whether further messages of the session must not be handled now. */
  mustWait(session: Session): boolean {
    return (this.#switchOf(session)?.dampings.size ?? 0) >= MAX_DAMPINGS;
  }

  *sessionReady(session: Session): Steps<void> {
    this.#events.count("sessions_total");
    if (this.#rejectDuplicate(session)) return;
    const refusal =
      this.#admission.allowList.refusal(session.deviceId, session.channel.certificate) ??
      (yield* this.#makeRoom(session));
    if (session.isClosed || this.#rejectDuplicate(session)) return;
    if (refusal !== undefined) {
      this.#events.count("devices_refused_total");
      session.reject(refusal);
      return;
    }
    const now = this.#clock.monotonic();
    const sw = this.#connect(session, now);
    this.#publishDevice(sw);
    this.#events.switchConnecting(sw);
    // The cabling may have changed while the switch was disconnected, so its ports are classified again.
    for (const port of sw.ports.values()) {
      startClassification(port, now);
      port.isEdge = false;
    }
    const pause = new Pause();
    const removed = [...sw.ports.values()].filter((port) => !session.ports.has(port.number));
    for (const port of removed) {
      this.#removePort(sw, port);
      if (pause.due(COST.entity)) yield;
      if (sw.session !== session) return;
    }
    this.#claims.removePorts(
      sw.id,
      new Set(Array.from(session.ports.keys(), (port) => portRef(sw.id, port).key)),
    );
    for (const description of session.ports.values()) {
      const port = this.#updatePort(sw, description, this.#clock.monotonic());
      if (port) this.#events.portConnected(sw, port);
      if (pause.due(COST.entity)) yield;
      if (sw.session !== session) return;
    }
    this.#events.switchConnected(sw);
  }

  /** Applies a change of a port, or holds it while the port is flapping or its switch has no tokens for changes. */
  portChanged(session: Session, change: PortReport): void {
    const now = this.#clock.monotonic();
    const sw = this.#switchOf(session);
    const { number } = change;
    if (!sw || !isRealPort(number)) return;
    const damping = sw.dampings.get(number) ?? new PortDamping();
    const last = damping.held ?? sw.ports.get(number);
    if (Bun.deepEquals(last?.description, change.description)) return;
    sw.dampings.set(number, damping);
    const wasFlapping = damping.isFlapping;
    const isDue = damping.record(now);
    if (damping.isFlapping && !wasFlapping) this.#events.count("ports_flapping_total");
    if (isDue && this.#budget.take(sw) === 0) {
      damping.held = undefined;
      this.#applyChange(sw, change, now);
      return;
    }
    this.#events.count("changes_delayed_total");
    damping.held = change;
    const port = sw.ports.get(number);
    if (port) this.#portWentDown(port);
  }

  sessionClosed(session: Session, closedByPeer: boolean, now: number): void {
    const sw = this.#switchOf(session);
    if (!sw) return;
    sw.session = undefined;
    sw.disconnectedAt = now;
    sw.closedByPeer = closedByPeer;
    sw.isKnown ||= now - sw.connectedAt >= KNOWN_AFTER_MS;
    for (const damping of sw.dampings.values()) damping.held = undefined;
    this.#publishUnavailable(sw, this.#claims.getDevice(sw.id));
    this.#events.switchDisconnected(sw);
  }

  /** Ends conflict flags, applies held changes, and removes the switch when that is due. Returns the remaining steps. */
  tickSwitch(sw: Switch, now: number): Steps<void> | undefined {
    if (sw.conflict && now - sw.conflict.at > CONFLICT_FLAG_MS) {
      sw.conflict = undefined;
      this.#publishDevice(sw);
    }
    if (sw.session && now - sw.connectedAt >= KNOWN_AFTER_MS) sw.isKnown = true;
    if (sw.dampings.size > 0) return this.#tickDampings(sw, now);
    return sw.isRemovalDue(now, this.#settings.removeAfterMs) ? this.#remove(sw) : undefined;
  }

  /** Adds a device that was claimed before a restart and did not reconnect within the grace period. */
  restoreDisconnected(claim: DeviceClaim, now: number): void {
    if (this.#switches.has(claim.id)) return;
    const sw = this.#add(claim.id, claim.annotations?.managementAddress ?? "");
    sw.isRestored = true;
    // A device that was disconnected before the restart keeps that time, so that a restart does not prolong `removeAfterMs`.
    const ageMs =
      claim.available === false ? this.#clock.now() - Number(claim.lastUpdate ?? this.#clock.now()) : 0;
    sw.disconnectedAt = now - Math.max(0, ageMs);
    this.#publishUnavailable(sw, claim);
  }

  #switchOf(session: Session): Switch | undefined {
    const sw = this.#switches.get(session.deviceId);
    return sw?.session === session ? sw : undefined;
  }

  #add(id: string, address: string): Switch {
    const sw = new Switch(id, address, this.#admission.allowList.has(id));
    this.#switches.set(id, sw);
    this.#admission.devices.add(address);
    return sw;
  }

  /** Rejects the session when its datapath id already has another session. */
  #rejectDuplicate(session: Session): boolean {
    const sw = this.#switches.get(session.deviceId);
    if (!sw?.session) return false;
    if (session.auxiliary === 0) {
      this.#flagDuplicateSession(sw, session, sw.session, this.#clock.monotonic());
      session.reject("this datapath id is already connected");
    } else session.reject("auxiliary connections are not supported");
    return true;
  }

  #flagDuplicateSession(sw: Switch, second: Session, first: Session, now: number): void {
    const text = `a second session from ${second.channel.remoteAddress} claims this datapath id`;
    const isNew = sw.conflict?.text !== text;
    sw.conflict = { text, at: now };
    if (isNew) this.#publishDevice(sw);
    // The first session may be a dead TCP connection. In that case the check closes it, and the switch connects again.
    first.checkAlive(now);
  }

  /** Removes switches until there is room for the session. Returns the reason when there is none. */
  *#makeRoom(session: Session): Steps<string | undefined> {
    for (;;) {
      const known = this.#switches.get(session.deviceId);
      const scope = this.#admission.exceededBy(session, known);
      if (!scope) return undefined;
      const isKnown = known?.isKnown === true;
      const displaced = this.#admission.findDisplaceable(this.all(), scope, session, isKnown);
      if (!displaced) return `too many switches or ports of this ${scope === "key" ? "address" : "source"}`;
      this.#events.count("devices_displaced_total");
      const { session: displacedSession } = displaced;
      displaced.session = undefined;
      displacedSession?.reject("displaced by another switch: there are too many");
      yield* this.#remove(displaced);
      yield;
    }
  }

  #connect(session: Session, now: number): Switch {
    const address = session.channel.remoteAddress;
    const known = this.#switches.get(session.deviceId);
    const sw = known ?? this.#add(session.deviceId, address);
    // A switch refuses a generation that is smaller than one it has seen.
    if (this.#masterGeneration !== undefined)
      session.send("roleRequest", { role: ROLE.master, generation: this.#masterGeneration });
    if (sw.address !== address) this.#admission.move(sw, address);
    sw.session = session;
    sw.disconnectedAt = undefined;
    sw.closedByPeer = false;
    sw.hostsRemoved = false;
    sw.connectedAt = now;
    return sw;
  }

  *#tickDampings(sw: Switch, now: number): Steps<void> {
    yield* forEachInSteps(sw.dampings, COST.entity, ([number, damping]) =>
      this.#tickDamping(sw, number, damping, now),
    );
    if (sw.isRemovalDue(now, this.#settings.removeAfterMs)) yield* this.#remove(sw);
  }

  #tickDamping(sw: Switch, number: number, damping: PortDamping, now: number): void {
    const wasFlapping = damping.isFlapping;
    const { held } = damping;
    if (damping.tick(now)) {
      const port = sw.ports.get(number);
      if (held && sw.session && this.#budget.take(sw) === 0) {
        damping.held = undefined;
        this.#applyChange(sw, held, now);
      } else if (wasFlapping && !damping.isFlapping && port) this.#publishPort(sw, port);
    }
    if (damping.isOver(now)) sw.dampings.delete(number);
  }

  #applyChange(sw: Switch, { number, description }: PortReport, now: number): void {
    const known = sw.ports.get(number);
    if (!description) {
      if (known) this.#removePort(sw, known);
      return;
    }
    const wasUp = known?.up === true;
    const port = this.#updatePort(sw, description, now);
    if (port?.up && !wasUp) this.#events.portUp(sw, port);
  }

  #updatePort(sw: Switch, description: PortDescription, now: number): SwitchPort | undefined {
    const { number } = description;
    if (!isRealPort(number)) return undefined;
    const port = sw.ports.get(number) ?? this.#addPort(sw, description, now);
    if (!port) return undefined;
    if (port.description.mac !== description.mac) {
      this.#portMacs.remove(sw.id, sw.isAllowed, port.description.mac);
      this.#portMacs.add(sw.id, sw.isAllowed, description.mac);
    }
    port.description = description;
    this.#publishPort(sw, port);
    if (!isUp(description)) this.#portWentDown(port);
    else if (!port.up) {
      startClassification(port, now);
      port.up = true;
    }
    return port;
  }

  #addPort(sw: Switch, description: PortDescription, now: number): SwitchPort | undefined {
    if (sw.ports.size >= MAX_PORTS || !this.#admission.acceptsPort(sw)) {
      this.#events.count("ports_refused_total");
      return undefined;
    }
    const port = createPort(sw.id, description, now);
    sw.ports.set(port.number, port);
    this.#admission.ports.add(sw.address);
    this.#portMacs.add(sw.id, sw.isAllowed, description.mac);
    return port;
  }

  #portWentDown(port: SwitchPort): void {
    if (!port.up) return;
    port.up = false;
    this.#events.portDown(port);
  }

  #removePort(sw: Switch, port: SwitchPort): void {
    sw.ports.delete(port.number);
    this.#admission.ports.remove(sw.address);
    this.#portMacs.remove(sw.id, sw.isAllowed, port.description.mac);
    port.up = false;
    this.#events.portDown(port);
    this.#events.portRemoved(port);
    this.#claims.remove("ports", port.ref.key);
  }

  *#remove(sw: Switch): Steps<void> {
    sw.isRemoving = true;
    yield* forEachInSteps(sw.ports.values(), COST.entity, (port) => this.#removePort(sw, port));
    this.#switches.delete(sw.id);
    this.#admission.devices.remove(sw.address);
    this.#claims.removePorts(sw.id);
    this.#events.switchRemoved(sw);
    this.#claims.remove("devices", sw.id);
  }

  #publishDevice(sw: Switch): void {
    if (sw.session) this.#claims.setDevice(deviceClaim(sw, sw.session, this.#settings.forwarding));
  }

  #publishUnavailable({ disconnectedAt }: Switch, last: DeviceClaim | undefined): void {
    if (!last || disconnectedAt === undefined) return;
    const ageMs = this.#clock.monotonic() - disconnectedAt;
    this.#claims.setDevice(unavailableClaim(last, this.#clock.now() - ageMs));
  }

  #publishPort(sw: Switch, port: SwitchPort): void {
    const isFlapping = sw.dampings.get(port.number)?.isFlapping === true;
    this.#claims.setPort(portClaim(sw.id, port, isFlapping));
  }
}

function deviceClaim(
  { id, conflict }: Switch,
  session: Session,
  forwarding: OpenflowSettings["forwarding"],
): DeviceClaim {
  const { description, remote, channel } = session;
  const name = description?.datapath.trim() ?? "";
  return {
    id,
    type: "SWITCH",
    available: true,
    role: forwarding === "none" ? "NONE" : "MASTER",
    mfr: description?.mfr ?? "",
    hw: description?.hw ?? "",
    sw: description?.sw ?? "",
    serial: description?.serial ?? "",
    chassisId: id.slice(3).replace(/^0+(?=.)/, ""),
    annotations: {
      // Open vSwitch reports the description None until a description is set, for example by Mininet.
      ...(isRealIdentity(name) && { name }),
      managementAddress: channel.remoteAddress,
      channelId: remote,
      protocol: "OF_13",
      datapathDescription: description?.datapath ?? "",
      ...(conflict && { conflict: conflict.text }),
    },
  };
}

/** `disconnectedAt` is in epoch milliseconds. */
const unavailableClaim = (last: DeviceClaim, disconnectedAt: number): DeviceClaim => ({
  ...last,
  available: false,
  role: "NONE",
  lastUpdate: String(Math.round(disconnectedAt)),
});

function portClaim(device: string, { number, description }: SwitchPort, isFlapping: boolean): PortClaim {
  return {
    element: device,
    port: portText(number),
    isEnabled: isUp(description),
    type: isFiber(description) ? "fiber" : "copper",
    portSpeed: speedMbps(description),
    annotations: {
      portName: description.name,
      portMac: description.mac,
      ...(isFlapping && { flapping: "true" }),
    },
  };
}

const EVERYWHERE = "";

/**
 * The MACs of switch ports. Such a MAC is not a host. Since a switch can report any MAC, the MACs of a switch apply only to
 * announcements that the same switch reports. The MACs of a switch on the allow list apply to all announcements. A MAC is
 * removed with its port.
 */
export class PortMacs {
  /** Number of ports with the MAC, by `SWITCH MAC`. */
  readonly #counts = new Quota({ perKey: Number.POSITIVE_INFINITY, total: Number.POSITIVE_INFINITY });

  add(device: string, isTrusted: boolean, mac: string): void {
    this.#counts.add(`${device} ${mac}`);
    if (isTrusted) this.#counts.add(`${EVERYWHERE} ${mac}`);
  }

  remove(device: string, isTrusted: boolean, mac: string): void {
    this.#counts.remove(`${device} ${mac}`);
    if (isTrusted) this.#counts.remove(`${EVERYWHERE} ${mac}`);
  }

  /** Whether the MAC in an announcement that the device reports is that of a switch port. */
  has(device: string, mac: string): boolean {
    return this.#counts.of(`${device} ${mac}`) > 0 || this.#counts.of(`${EVERYWHERE} ${mac}`) > 0;
  }
}
