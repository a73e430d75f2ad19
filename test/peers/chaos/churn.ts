/**
 * Two networks that change in a known sequence, each read by a source that all nodes have: `alpha` over HTTP, `beta` from a
 * file. Each change has a number, which grows: the `sw` of a device, the `name` of a host. Both know the devices of the core,
 * where `alpha` says `sw` and `beta` says `serial`.
 */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom, type Random } from "../../../src/sources/demo/demo-random.ts";
import { deviceId } from "../../cluster/service-nodes.ts";

export const SOURCES = ["alpha", "beta"] as const;
export type ChurnedSource = (typeof SOURCES)[number];

const CORE = 4;
const DEVICES = 30;
const HOSTS = 40;
const BASES: Readonly<Record<ChurnedSource, number>> = { alpha: 0x1000, beta: 0x2000 };
/** The field that the source alone says of devices. */
export const FIELDS = { alpha: "sw", beta: "serial" } as const satisfies Record<ChurnedSource, string>;

/** Of neither network. */
const END = 0x3000;

const numberOf = (id: string): number => Number.parseInt(id.replace(/^of:|:|\/.*$/g, ""), 16);

/** Whether one of the networks has the device. */
export const isChurned = (id: string): boolean => numberOf(id) < END;

/** The source that alone has this entity; undefined for the core, and for what neither network has. */
export function sourceOf(id: string): ChurnedSource | undefined {
  const number = numberOf(id);
  if (number >= END) return undefined;
  if (number >= BASES.beta) return "beta";
  return number >= BASES.alpha ? "alpha" : undefined;
}

export class Network {
  readonly source: ChurnedSource;
  /** How many changes there were. */
  count = 0;
  readonly #random: Random;
  readonly #versions = new Map<string, number>();
  readonly #hosts = new Set<number>();
  readonly #devices: string[];

  constructor(source: ChurnedSource, seed: number) {
    this.source = source;
    this.#random = createRandom(seed ^ BASES[source]);
    const core = Array.from({ length: CORE }, (_, n) => deviceId(n + 1));
    const own = Array.from({ length: DEVICES }, (_, n) => deviceId(BASES[source] + n));
    this.#devices = [...core, ...own];
    for (const id of this.#devices) this.#versions.set(id, 0);
  }

  /** Changes some devices, and adds or removes some hosts. */
  change(): void {
    this.count++;
    for (let n = 1 + this.#random.below(5); n > 0; n--) {
      const id = this.#devices[this.#random.below(this.#devices.length)];
      if (id !== undefined) this.#versions.set(id, this.count);
    }
    for (let n = this.#random.below(3); n > 0; n--) {
      const host = this.#random.below(HOSTS);
      if (!this.#hosts.delete(host)) this.#hosts.add(host);
    }
  }

  /** Of each device, what the source says last. */
  get versions(): ReadonlyMap<string, string> {
    return new Map([...this.#versions].map(([id, version]) => [id, versionText(version)]));
  }

  get hostMacs(): string[] {
    return [...this.#hosts].map((host) => this.#mac(host)).sort();
  }

  get document(): string {
    const field = FIELDS[this.source];
    const devices = [...this.versions].map(([id, version]) => ({ id, [field]: version }));
    const own = this.#devices.slice(CORE);
    const links = own.slice(1).map((id, i) => ({
      src: { device: own[i], port: 1 },
      dst: { device: id, port: 2 },
      bidirectional: true,
    }));
    const hosts = [...this.#hosts].map((host) => ({
      mac: this.#mac(host),
      location: { elementId: own[host % own.length], port: 3 },
    }));
    return JSON.stringify({ devices, links, hosts });
  }

  #mac(host: number): string {
    const digits = (BASES[this.source] + host).toString(16).padStart(12, "0");
    return (digits.toUpperCase().match(/../g) ?? []).join(":");
  }
}

/** Numbers in the order of text. */
const versionText = (version: number): string => String(version).padStart(6, "0");

export interface Churn extends AsyncDisposable {
  readonly networks: readonly Network[];
  /** The `sources` of a configuration. */
  readonly sources: readonly object[];
  stop(): void;
}

/** Changes a network about every `everyMs`. */
export function startChurn(folder: string, seed: number, everyMs: number): Churn {
  const alpha = new Network("alpha", seed);
  const beta = new Network("beta", seed);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(alpha.document, { headers: { "content-type": "application/json" } }),
  });
  const file = join(folder, "beta.json");
  const write = () => {
    writeFileSync(`${file}.new`, beta.document);
    renameSync(`${file}.new`, file);
  };
  write();
  const random = createRandom(seed);
  const timer = setInterval(() => {
    const network = random.below(2) === 0 ? alpha : beta;
    network.change();
    if (network === beta) write();
  }, everyMs);
  return {
    networks: [alpha, beta],
    sources: [
      {
        type: "http",
        name: "alpha",
        url: `http://127.0.0.1:${server.port}/network.json`,
        intervalSeconds: 1,
      },
      { type: "file", name: "beta", path: file },
    ],
    stop: () => clearInterval(timer),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await server.stop(true);
    },
  };
}
