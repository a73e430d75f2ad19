/**
 * The switches there are and their ports, and what is claimed of them. One live session a datapath id: a second
 * session does not displace the first while that one answers; it is refused and the device says so. A switch whose
 * session ends is unavailable at once and stays in the inventory until `removeAfterMs` have passed.
 */
import type { DeviceClaim } from "../../model/claim.ts";
import { portId } from "../../model/ids.ts";
import type { ClaimBook } from "./claim-buffer.ts";
import { isFiber, isUp, type PortDescription, speedMbps } from "./codec/port.ts";
import type { Settings } from "./options.ts";
import { isRealPort, portText } from "./port-ref.ts";
import type { Session } from "./session.ts";

/** How long a contradiction stays flagged after it was last seen. */
const CONFLICT_SHOWN_MS = 60_000;

export interface SwitchPort {
  readonly number: number;
  description: PortDescription;
  up: boolean;
  /** Since when it could be probed: it is up and its switch connected. */
  since: number;
  /** It was probed for `settleMs` and leads to no other switch. */
  edge: boolean;
  /** It leads to another switch. */
  linked: boolean;
  probedAt: number;
  /** How often it was looked at since `since` without being judged. */
  ticks: number;
}

export class Switch {
  readonly id: string;
  session: Session | undefined;
  readonly ports = new Map<number, SwitchPort>();
  /** When it was lost, while it is. */
  goneAt: number | undefined;
  /** It ended its session itself, rather than falling silent: then it is not forwarding behind our back. */
  leftByItself = false;
  conflict: { readonly text: string; readonly at: number } | undefined;
  connectedAt = 0;
  nextProbeAt = 0;
  /** While it is gone: whether its hosts were given up. */
  hostsLeft = false;

  constructor(id: string) {
    this.id = id;
  }
}

export interface SwitchWatcher {
  switchUp(sw: Switch): void;
  switchDown(sw: Switch): void;
  switchRemoved(sw: Switch): void;
  portUp(sw: Switch, port: SwitchPort): void;
  portDown(sw: Switch, port: SwitchPort): void;
}

export class Switches {
  readonly #book: ClaimBook;
  readonly #watcher: SwitchWatcher;
  readonly #settings: Settings;
  readonly #known = new Map<string, Switch>();
  readonly #portMacs = new Map<string, string>();

  constructor(book: ClaimBook, watcher: SwitchWatcher, settings: Settings) {
    this.#book = book;
    this.#watcher = watcher;
    this.#settings = settings;
  }

  get(id: string): Switch | undefined {
    return this.#known.get(id);
  }

  all(): Iterable<Switch> {
    return this.#known.values();
  }

  get size(): number {
    return this.#known.size;
  }

  /** Whether a MAC is that of a switch's own port, which speaks for the switch and is no host. */
  ownsMac(mac: string): boolean {
    return this.#portMacs.has(mac);
  }

  /** A session finished its handshake. */
  connected(session: Session, now: number): void {
    const sw = this.#known.get(session.deviceId) ?? new Switch(session.deviceId);
    if (sw.session) {
      if (session.auxiliary === 0) this.#contradict(sw, session, now);
      session.refuse(
        session.auxiliary === 0 ? "this datapath id is connected already" : "no auxiliary connections",
      );
      return;
    }
    this.#known.set(sw.id, sw);
    sw.session = session;
    sw.goneAt = undefined;
    sw.leftByItself = false;
    sw.hostsLeft = false;
    sw.connectedAt = now;
    this.#claimDevice(sw);
    const gone = [...sw.ports.values()].filter((port) => !session.ports.has(port.number));
    for (const port of gone) this.#removePort(sw, port);
    this.#book.removePorts(
      sw.id,
      new Set([...session.ports.keys()].map((port) => portId(sw.id, portText(port)))),
    );
    for (const description of session.ports.values()) {
      const port = sw.ports.get(description.number);
      // What is behind a port may have changed while nobody looked, so it is judged anew.
      if (port) Object.assign(port, { since: now, ticks: 0, edge: false });
      this.#updatePort(sw, description, now);
    }
    this.#watcher.switchUp(sw);
  }

  portChanged(session: Session, description: PortDescription, now: number): void {
    const sw = this.#of(session);
    if (!sw) return;
    const wasUp = sw.ports.get(description.number)?.up;
    this.#updatePort(sw, description, now);
    const port = sw.ports.get(description.number);
    if (port?.up && !wasUp) this.#watcher.portUp(sw, port);
  }

  portRemoved(session: Session, number: number): void {
    const sw = this.#of(session);
    const port = sw?.ports.get(number);
    if (sw && port) this.#removePort(sw, port);
  }

  disconnected(session: Session, leftByItself: boolean, now: number): void {
    const sw = this.#of(session);
    if (!sw) return;
    sw.session = undefined;
    sw.goneAt = now;
    sw.leftByItself = leftByItself;
    this.#claimGone(sw, this.#book.device(sw.id));
    this.#watcher.switchDown(sw);
  }

  tick(now: number): void {
    for (const sw of this.#known.values()) {
      if (sw.conflict && now - sw.conflict.at > CONFLICT_SHOWN_MS) {
        sw.conflict = undefined;
        if (sw.session) this.#claimDevice(sw);
      }
      if (sw.goneAt !== undefined && now - sw.goneAt >= this.#settings.removeAfterMs) this.#remove(sw);
    }
  }

  /** A device that was claimed in an earlier life and has not come back within the grace period. */
  recallGone(claim: DeviceClaim, now: number): void {
    if (this.#known.has(claim.id)) return;
    const sw = new Switch(claim.id);
    // One that was lost in that life already has been gone since then: a restart gives it no new time.
    const goneAt = claim.available === false ? Number(claim.lastUpdate ?? now) : now;
    sw.goneAt = Math.min(goneAt, now);
    this.#known.set(sw.id, sw);
    this.#claimGone(sw, claim);
  }

  #of(session: Session): Switch | undefined {
    const sw = this.#known.get(session.deviceId);
    return sw?.session === session ? sw : undefined;
  }

  #contradict(sw: Switch, rival: Session, now: number): void {
    sw.conflict = {
      text: `a second session from ${rival.channel.remoteAddress} claims this datapath id`,
      at: now,
    };
    this.#claimDevice(sw);
    // The first may be a dead connection that TCP has not noticed; then the second is right, and comes again.
    sw.session?.challenge(now);
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
      since: now,
      edge: false,
      linked: false,
      probedAt: 0,
      ticks: 0,
    };
    sw.ports.set(number, port);
    if (known && known.description.mac !== description.mac) this.#portMacs.delete(known.description.mac);
    this.#portMacs.set(description.mac, sw.id);
    const wentDown = port.up && !up;
    if (up && !port.up) Object.assign(port, { since: now, ticks: 0 });
    port.description = description;
    port.up = up;
    this.#claimPort(sw, port);
    if (wentDown) this.#watcher.portDown(sw, port);
  }

  #removePort(sw: Switch, port: SwitchPort): void {
    sw.ports.delete(port.number);
    this.#portMacs.delete(port.description.mac);
    port.up = false;
    this.#watcher.portDown(sw, port);
    this.#book.remove("ports", portId(sw.id, portText(port.number)));
  }

  #remove(sw: Switch): void {
    this.#known.delete(sw.id);
    for (const port of sw.ports.values()) this.#removePort(sw, port);
    this.#book.removePorts(sw.id);
    this.#watcher.switchRemoved(sw);
    this.#book.remove("devices", sw.id);
  }

  #claimDevice(sw: Switch): void {
    const { session } = sw;
    if (!session) return;
    const { remoteAddress } = session.channel;
    this.#book.setDevice({
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

  #claimGone({ goneAt }: Switch, last: DeviceClaim | undefined): void {
    if (!last || goneAt === undefined) return;
    this.#book.setDevice({ ...last, available: false, role: "NONE", lastUpdate: String(goneAt) });
  }

  #claimPort(sw: Switch, { number, description, up }: SwitchPort): void {
    this.#book.setPort({
      element: sw.id,
      port: portText(number),
      isEnabled: up,
      type: isFiber(description) ? "fiber" : "copper",
      portSpeed: speedMbps(description),
      annotations: { portName: description.name, portMac: description.mac },
    });
  }
}
