/**
 * The sessions of one datapath in a cluster. A switch that knows several nodes has a session through each of them: one is
 * the master, the others stand by and follow it when it ends. Switches are sent the role with a generation that grows with
 * each takeover of the source: a node that has lost the source, and does not know it yet, is refused by the switches.
 *
 * A second session through the same node, or of something else than the same switch, is none of these.
 */
import type { OpenflowSettings } from "../options.ts";
import type { Session } from "./session.ts";

/** What the nodes of a cluster have in common. */
export interface ClusterFacts {
  readonly probeKey: Uint8Array;
  /** Of the takeover by which this node runs the source. */
  readonly generation: bigint;
}

export class Mastership {
  /** Undefined where no roles are requested. */
  readonly #generation: bigint | undefined;
  /** In the order in which they connected, by device. */
  readonly #standbys = new Map<string, Set<Session>>();

  /** `generation` is undefined outside a cluster. Where another controller programs the switches, it is their master. */
  constructor(generation: bigint | undefined, { forwarding }: Pick<OpenflowSettings, "forwarding">) {
    this.#generation = forwarding === "bridge" ? generation : undefined;
  }

  /** Sessions that stand by. */
  get size(): number {
    return this.#standbys.values().reduce((sum, sessions) => sum + sessions.size, 0);
  }

  lead(session: Session): void {
    if (this.#generation !== undefined) session.requestRole("master", this.#generation);
  }

  /** The session of the datapath that came the same way, so that the given one cannot stand by for `master`. */
  rivalOf(session: Session, master: Session): Session | undefined {
    const others = [master, ...(this.#standbys.get(session.deviceId) ?? [])];
    return (
      others.find((other) => other.channel.relayedBy === session.channel.relayedBy) ??
      (isSameSwitch(session, master) ? undefined : master)
    );
  }

  standBy(session: Session): void {
    const sessions = this.#standbys.get(session.deviceId);
    if (sessions) sessions.add(session);
    else this.#standbys.set(session.deviceId, new Set([session]));
    if (this.#generation !== undefined) session.requestRole("slave", this.#generation);
  }

  /** The session is closed. */
  remove(session: Session): void {
    const sessions = this.#standbys.get(session.deviceId);
    if (sessions?.delete(session) && sessions.size === 0) this.#standbys.delete(session.deviceId);
  }

  /** The session that becomes the master. What was sent to the one before, or by it, may be lost. */
  promoteNext(device: string, now: number): Session | undefined {
    const next = this.takeNext(device);
    if (!next) return undefined;
    this.lead(next);
    next.renew(now);
    return next;
  }

  /** A session that stood by, and no longer does. */
  takeNext(device: string): Session | undefined {
    for (const session of this.#standbys.get(device) ?? []) {
      this.remove(session);
      if (!session.isClosed) return session;
    }
    return undefined;
  }
}

/** By its certificate, or without one by its address, which on a separate management network only the switch has. */
function isSameSwitch(a: Session, b: Session): boolean {
  const [certificate, other] = [a.channel.certificate, b.channel.certificate];
  const isSamePeer =
    certificate || other
      ? certificate?.fingerprint === other?.fingerprint
      : a.channel.remoteAddress === b.channel.remoteAddress;
  return isSamePeer && Bun.deepEquals(a.description, b.description);
}
