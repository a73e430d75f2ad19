/** Runs the source under test on a free port, with a sink that stores the claims and the order of the changes. */
import { type Clock, systemClock } from "../../../src/lib/clock.ts";
import { createLogger } from "../../../src/lib/logger.ts";
import { OpenflowSource } from "../../../src/sources/openflow/openflow.ts";
import {
  type OpenflowOptions,
  type OpenflowSettings,
  resolveSettings,
} from "../../../src/sources/openflow/options.ts";
import type { Source, SourceCluster } from "../../../src/sources/source.ts";
import { MemorySink } from "../../support/memory-sink.ts";
import { until } from "../../support/until.ts";
import type { EmulatedNetwork } from "./emulator.ts";

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
  forwarding: "bridge",
  listen: "127.0.0.1:0",
  probeIntervalMs: 500,
  graceMs: 1000,
  echoIntervalMs: 1000,
};

const MAX_LOG_LINES = 1000;

/** Options, and settings that follow from options in a service. */
type TestSettings = Partial<OpenflowOptions & OpenflowSettings>;

export async function startSource(
  settings: TestSettings = {},
  {
    sink = new MemorySink(),
    clock = systemClock,
    cluster,
  }: { sink?: MemorySink; clock?: Clock; cluster?: SourceCluster } = {},
): Promise<RunningSource> {
  let port = 0;
  const lines: string[] = [];
  const log = createLogger((line) => {
    if (lines.push(line) > MAX_LOG_LINES) lines.shift();
    port ||= Number(/openflow listening on \S+:(\d+)/.exec(line)?.[1] ?? 0);
  });
  const source = new OpenflowSource(
    "openflow",
    { ...resolveSettings({ ...FAST_OPTIONS, ...settings }), settleMs: 200, ...settings },
    { clock, log, cluster: () => cluster },
  );
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
