/** Runs the source under test on a free port, with a sink that stores the claims and the order of the changes. */
import { type Clock, systemClock } from "../../../src/lib/clock.ts";
import { createLogger } from "../../../src/lib/logger.ts";
import { type ClaimChange, type Claims, type ClaimTypes, canonicalClaim } from "../../../src/model/claim.ts";
import type { Kind } from "../../../src/model/ids.ts";
import { createOpenflowSource } from "../../../src/sources/openflow/openflow.ts";
import type { OpenflowOptions } from "../../../src/sources/openflow/options.ts";
import type { Sink, Source } from "../../../src/sources/source.ts";
import { until } from "../../support/until.ts";
import type { EmulatedNetwork } from "./emulator.ts";

export class MemorySink implements Sink {
  readonly devices = new Map<string, ClaimTypes["devices"]>();
  readonly ports = new Map<string, ClaimTypes["ports"]>();
  readonly links = new Map<string, ClaimTypes["links"]>();
  readonly hosts = new Map<string, ClaimTypes["hosts"]>();
  /** One line a change: `set links ID`, `remove hosts ID`. */
  readonly changeLog: string[] = [];
  readonly rejected: string[] = [];

  async replace(all: Claims): Promise<void> {
    this.changeLog.push("replace");
    for (const kind of ["devices", "ports", "links", "hosts"] as const) this[kind].clear();
    for (const claim of all.devices ?? []) this.#set("devices", claim);
    for (const claim of all.ports ?? []) this.#set("ports", claim);
    for (const claim of all.links ?? []) this.#set("links", claim);
    for (const claim of all.hosts ?? []) this.#set("hosts", claim);
  }

  async apply(changes: readonly ClaimChange[]): Promise<void> {
    for (const change of changes) {
      if (change.op === "remove") {
        this[change.kind].delete(change.id);
        this.changeLog.push(`remove ${change.kind} ${change.id}`);
      } else this.changeLog.push(`set ${change.kind} ${this.#set(change.kind, change.claim)}`);
    }
  }

  markStale(): void {}

  /** The claims that a persistent sink would return after a restart. */
  all(): Claims {
    return {
      devices: [...this.devices.values()],
      ports: [...this.ports.values()],
      links: [...this.links.values()],
      hosts: [...this.hosts.values()],
    };
  }

  #maps(): { readonly [K in Kind]: Map<string, ClaimTypes[K]> } {
    return this;
  }

  #set<K extends Kind>(kind: K, claim: ClaimTypes[K]): string {
    const result = canonicalClaim(kind, claim);
    if (!result.ok) {
      this.rejected.push(`${kind} ${result.fault.field} ${result.fault.message}`);
      return "?";
    }
    const map: Map<string, ClaimTypes[K]> = this.#maps()[kind];
    map.set(result.id, result.claim);
    return result.id;
  }
}

export interface RunningSource {
  readonly source: Source;
  readonly sink: MemorySink;
  readonly port: number;
  /** The latest lines of its log. */
  readonly log: readonly string[];
  metric(name: string): number;
  stop(): Promise<void>;
}

/** Short enough for a test, long enough for a busy machine. */
export const FAST_OPTIONS: OpenflowOptions = {
  listen: "127.0.0.1:0",
  probeIntervalMs: 500,
  settleMs: 200,
  graceMs: 1000,
  echoIntervalMs: 1000,
};

const MAX_LOG_LINES = 1000;

export async function startSource(
  options: OpenflowOptions = {},
  { sink = new MemorySink(), clock = systemClock }: { sink?: MemorySink; clock?: Clock } = {},
): Promise<RunningSource> {
  let port = 0;
  const lines: string[] = [];
  const log = createLogger("info", (line) => {
    if (lines.push(line) > MAX_LOG_LINES) lines.shift();
    port ||= Number(/openflow listening on \S+:(\d+)/.exec(line)?.[1] ?? 0);
  });
  const source = createOpenflowSource({ ...FAST_OPTIONS, ...options, name: "openflow" }, { clock, log });
  const abort = new AbortController();
  const done = source.run(sink, abort.signal);
  done.catch(() => {});
  await until(() => port > 0, { what: "the listener" });
  return {
    source,
    sink,
    port,
    log: lines,
    metric: (name) => source.metrics?.()[name] ?? 0,
    async stop() {
      abort.abort();
      await done;
    },
  };
}

/** What a test has started. `close` stops it in reverse order and is called after each test. */
export class TestResources {
  readonly #cleanups: (() => Promise<void> | void)[] = [];

  defer(cleanup: () => Promise<void> | void): void {
    this.#cleanups.push(cleanup);
  }

  async startSource(...args: Parameters<typeof startSource>): Promise<RunningSource> {
    const source = await startSource(...args);
    this.defer(() => source.stop());
    return source;
  }

  async connect(net: EmulatedNetwork, port: number): Promise<void> {
    this.defer(() => net.disconnect());
    await net.connect({ port });
  }

  async close(): Promise<void> {
    for (const cleanup of this.#cleanups.splice(0).reverse()) await cleanup();
  }
}
