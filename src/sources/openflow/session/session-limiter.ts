/**
 * The open sessions. Their number is limited per peer address and in total. The source is full when the total is reached
 * or there are too few file descriptors. A new session is then accepted only if its address will have fewer sessions than
 * the address with the most. That address loses one session that belongs to no known switch.
 */
import { Multimap } from "../../../lib/multimap.ts";
import type { OpenflowSettings } from "../options.ts";
import type { Session } from "./session.ts";

export class SessionLimiter {
  readonly #limits: Pick<OpenflowSettings, "maxSessions" | "maxSessionsPerAddress">;
  readonly #isKnown: (session: Session) => boolean;
  readonly #byAddress = new Multimap<string, Session>();
  #size = 0;

  constructor(
    limits: Pick<OpenflowSettings, "maxSessions" | "maxSessionsPerAddress">,
    isKnown: (session: Session) => boolean,
  ) {
    this.#limits = limits;
    this.#isKnown = isKnown;
  }

  get size(): number {
    return this.#size;
  }

  tick(now: number): void {
    for (const sessions of this.#byAddress.values()) for (const session of sessions) session.tick(now);
  }

  add(session: Session): void {
    this.#byAddress.add(session.channel.remoteAddress, session);
    this.#size++;
  }

  delete(session: Session): void {
    if (this.#byAddress.remove(session.channel.remoteAddress, session)) this.#size--;
  }

  /** Returns whether a session from the address is accepted. */
  makeRoom(address: string, descriptorsAreLow: boolean): boolean {
    const count = this.#byAddress.of(address).size;
    if (count >= this.#limits.maxSessionsPerAddress) return false;
    if (this.#size < this.#limits.maxSessions && !descriptorsAreLow) return true;
    let most = new Set<Session>();
    for (const sessions of this.#byAddress.values()) if (sessions.size > most.size) most = sessions;
    if (most.size <= count + 1) return false;
    for (const session of most) {
      if (session.isClosed || this.#isKnown(session)) continue;
      this.delete(session);
      session.reject("displaced by another session: there are too many");
      session.channel.terminate();
      return true;
    }
    return false;
  }
}
