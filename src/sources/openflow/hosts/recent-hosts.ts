/**
 * The hosts that were last seen at ports which went down. They are probed when their port settles again, because an idle
 * host would not be discovered otherwise. Bounded per port and in total; the oldest are dropped.
 */
import type { LearnedHost } from "./learned-host.ts";

const MAX_PER_PORT = 256;
const MAX_HOSTS = 10_000;

export class RecentHosts {
  /** The port of each host, oldest first. */
  readonly #portOf = new Map<string, string>();
  readonly #byPort = new Map<string, Map<string, LearnedHost>>();

  add(host: LearnedHost, port: string): void {
    this.delete(host.id);
    const atPort = this.#byPort.get(port) ?? new Map<string, LearnedHost>();
    if (atPort.size >= MAX_PER_PORT) return;
    if (this.#portOf.size >= MAX_HOSTS) {
      const [oldest] = this.#portOf.keys();
      if (oldest !== undefined) this.delete(oldest);
    }
    this.#portOf.set(host.id, port);
    this.#byPort.set(port, atPort.set(host.id, host));
  }

  delete(id: string): void {
    const port = this.#portOf.get(id);
    if (port === undefined) return;
    this.#portOf.delete(id);
    const atPort = this.#byPort.get(port);
    atPort?.delete(id);
    if (atPort?.size === 0) this.#byPort.delete(port);
  }

  /** Removes and returns the hosts of a port. */
  takeAt(port: string): LearnedHost[] {
    const hosts = [...(this.#byPort.get(port)?.values() ?? [])];
    for (const { id } of hosts) this.delete(id);
    return hosts;
  }
}
