/**
 * The names and speeds of the ports of devices in view. Ports are not part of the page's network, because there are fifty
 * times as many as devices. They are loaded per device, only when few devices are in view, with a few concurrent requests,
 * and are kept for a while in a bounded cache.
 */
import type { Client } from "../../client/client.ts";
import type { Cable } from "../../model/cable.ts";
import type { Bundle } from "./bundles.ts";

export interface PortFact {
  /** The name of the port, or its number if it has none. */
  readonly name: string;
  /** The speed in Mb/s; 0 when it is not known. */
  readonly speed: number;
}

/** Maximum number of devices in view whose ports are loaded. With more, lines show only cached speeds. */
export const MAX_DEVICES_IN_VIEW = 120;
const MAX_CACHED_DEVICES = 2000;
const MAX_REQUESTS = 4;
const MAX_AGE_MS = 60_000;

interface CachedDevice {
  readonly ports: ReadonlyMap<string, PortFact>;
  readonly loadedAt: number;
}

export class PortCache {
  readonly #client: Pick<Client, "ports">;
  readonly #onLoaded: (device: string) => void;
  /** Devices in the order in which they were loaded. The first one is evicted when there are too many. */
  readonly #cache = new Map<string, CachedDevice>();
  #wanted: string[] = [];
  #at: string | undefined;
  #requests = new Map<string, AbortController>();

  constructor(client: Pick<Client, "ports">, onLoaded: (device: string) => void) {
    this.#client = client;
    this.#onLoaded = onLoaded;
  }

  /** Sets the devices in view, and the moment of the past or undefined for now. Requests for other devices are cancelled. */
  want(devices: readonly string[], at: string | undefined): void {
    if (at !== this.#at) this.#cache.clear();
    const kept = new Set(at === this.#at ? devices : []);
    for (const [device, request] of this.#requests) if (!kept.has(device)) request.abort();
    this.#at = at;
    this.#wanted = devices.filter((device) => !this.#requests.has(device) && !this.#isFresh(device));
    this.#next();
  }

  get(device: string, port: string): PortFact | undefined {
    return this.#cache.get(device)?.ports.get(port);
  }

  /** The total speed of the active cables; 0 when the speed of none is known. A single cable counts even if inactive. */
  speedOfBundle({ cables }: Bundle): number {
    const speeds = cables.filter((cable) => cable.active || cables.length === 1);
    return speeds.reduce((sum, cable) => sum + this.speedOf(cable), 0);
  }

  /** The speed that a source states for the link, or else the lower speed of its two ports; 0 when it is not known. */
  speedOf({ links, from, to }: Cable): number {
    for (const { annotations } of links) {
      const stated = Number(annotations?.bandwidthMbps ?? annotations?.bandwidth);
      if (stated > 0) return stated;
    }
    const speeds = [from, to].map(({ device, port }) => this.get(device, port)?.speed ?? 0);
    const known = speeds.filter((speed) => speed > 0);
    return known.length === 0 ? 0 : Math.min(...known);
  }

  #isFresh(device: string): boolean {
    const cached = this.#cache.get(device);
    return cached !== undefined && performance.now() - cached.loadedAt < MAX_AGE_MS;
  }

  #next(): void {
    while (this.#requests.size < MAX_REQUESTS) {
      const device = this.#wanted.shift();
      if (device === undefined) return;
      void this.#load(device);
    }
  }

  async #load(device: string): Promise<void> {
    const request = new AbortController();
    this.#requests.set(device, request);
    const query = this.#at === undefined ? {} : { at: this.#at };
    try {
      const { ports } = await this.#client.ports(device, query, { signal: request.signal });
      const facts = ports.map(({ port, portSpeed, annotations }): [string, PortFact] => [
        port,
        { name: annotations?.portName?.trim() || port, speed: portSpeed },
      ]);
      if (!request.signal.aborted) this.#store(device, new Map(facts));
    } catch {
      // Without the ports, the map shows their numbers.
      if (!request.signal.aborted) this.#store(device, new Map());
    } finally {
      this.#requests.delete(device);
      this.#next();
    }
  }

  #store(device: string, ports: ReadonlyMap<string, PortFact>): void {
    this.#cache.delete(device);
    this.#cache.set(device, { ports, loadedAt: performance.now() });
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > MAX_CACHED_DEVICES && oldest !== undefined) this.#cache.delete(oldest);
    this.#onLoaded(device);
  }
}

/** Formats a speed as `10G` or `100M`; empty when it is not known. */
export const formatSpeed = (mbps: number): string =>
  mbps >= 1000 ? `${Number((mbps / 1000).toPrecision(3))}G` : mbps > 0 ? `${mbps}M` : "";
