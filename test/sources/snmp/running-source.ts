/** An `snmp` source that runs in the test, against a sink in memory, with intervals of a second and short time-outs. */
import { systemClock } from "../../../src/lib/clock.ts";
import { createLogger } from "../../../src/lib/logger.ts";
import type { Claims } from "../../../src/model/claim.ts";
import type { SnmpOptions } from "../../../src/sources/snmp/options.ts";
import { createSnmpSource } from "../../../src/sources/snmp/snmp.ts";
import type { Source } from "../../../src/sources/source.ts";
import { MemorySink } from "../../support/memory-sink.ts";
import type { SnmpObject } from "../../support/udp-snmp-agent.ts";
import { until } from "../../support/until.ts";

export class RunningSource {
  readonly sink: MemorySink & { lastClaims?: () => Promise<Claims> } = new MemorySink();
  readonly log: string[] = [];
  readonly #source: Source;
  readonly #abort = new AbortController();
  readonly #ended: Promise<void>;

  constructor(
    targets: readonly string[],
    options: Partial<SnmpOptions> = {},
    previous?: Claims,
    stateDir?: string,
  ) {
    this.#source = createSnmpSource(
      {
        name: "test",
        targets: [...targets],
        intervalSeconds: 1,
        timeoutSeconds: 0.4,
        retries: 1,
        port: 161,
        scanSeconds: 900,
        concurrency: 32,
        packetsPerSecond: 1000,
        maxVarbinds: 500_000,
        maxAgentSeconds: 120,
        ...(options.v3 ? {} : { community: "c0mmunity" }),
        ...options,
      },
      { clock: systemClock, log: createLogger((line) => void this.log.push(line)), stateDir },
    );
    if (previous) this.sink.lastClaims = async () => previous;
    this.#ended = this.#source.run(this.sink, this.#abort.signal);
  }

  metric(name: string): number {
    return this.#source.metrics?.()[name] ?? Number.NaN;
  }

  /** Waits until a metric has at least this value. */
  async reach(name: string, value: number, deadlineMs = 90_000): Promise<void> {
    await until(() => this.metric(name) >= value, { what: `${name} ${value}`, deadlineMs }).catch(
      (error: unknown) => {
        throw new Error(JSON.stringify(this.#source.metrics?.()), { cause: error });
      },
    );
  }

  async until(condition: () => boolean, what: string): Promise<void> {
    await until(condition, { what });
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** A switch of so many interfaces, all up. */
export function switchObjects(name: string, interfaces = 3): SnmpObject[] {
  const rows = Array.from({ length: interfaces }, (_, i): SnmpObject[] => [
    [`1.3.6.1.2.1.2.2.1.2.${i + 1}`, `eth${i + 1}`],
    [`1.3.6.1.2.1.2.2.1.3.${i + 1}`, 6],
    [`1.3.6.1.2.1.2.2.1.7.${i + 1}`, 1],
    [`1.3.6.1.2.1.2.2.1.8.${i + 1}`, 1],
  ]);
  return [["1.3.6.1.2.1.1.1.0", "a switch"], ["1.3.6.1.2.1.1.5.0", name], ...rows.flat()];
}
