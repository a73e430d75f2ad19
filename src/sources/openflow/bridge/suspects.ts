/** Removed links of unreachable switches that may still forward, and the ports at their ends. */

import { type PortRef, portKey } from "../codec/port-ref.ts";
import type { DiscoveredLink } from "../discovery/link-table.ts";

interface Suspect {
  readonly link: DiscoveredLink;
  readonly until: number;
}

export class Suspects {
  readonly #suspects = new Map<string, Suspect>();
  readonly #byPort = new Map<string, Set<string>>();

  add(link: DiscoveredLink, until: number): void {
    this.#suspects.set(link.id, { link, until });
    for (const key of [portKey(link.src), portKey(link.dst)])
      this.#byPort.set(key, (this.#byPort.get(key) ?? new Set<string>()).add(link.id));
  }

  /** Whether the port leads to an unreachable switch that may still forward. */
  has(ref: PortRef): boolean {
    return this.#byPort.has(portKey(ref));
  }

  /** It is known again where the port leads. */
  clear(ref: PortRef): void {
    for (const id of [...(this.#byPort.get(portKey(ref)) ?? [])]) this.#remove(id);
  }

  links(): DiscoveredLink[] {
    return Array.from(this.#suspects.values(), ({ link }) => link);
  }

  /** Removes and returns those whose time is over. All have the same time to live, so the oldest come first. */
  takeExpired(now: number): DiscoveredLink[] {
    const expired: DiscoveredLink[] = [];
    for (const [id, { link, until }] of this.#suspects) {
      if (now < until) break;
      this.#remove(id);
      expired.push(link);
    }
    return expired;
  }

  #remove(id: string): void {
    const suspect = this.#suspects.get(id);
    this.#suspects.delete(id);
    if (!suspect) return;
    for (const key of [portKey(suspect.link.src), portKey(suspect.link.dst)]) {
      const ids = this.#byPort.get(key);
      ids?.delete(id);
      if (ids?.size === 0) this.#byPort.delete(key);
    }
  }
}
