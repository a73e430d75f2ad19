/** A `restconf` source against a fake server, with a clock that the test moves and a sink in memory. */

import { silentLogger } from "../../../src/lib/logger.ts";
import type { RestconfOptions } from "../../../src/sources/restconf/options.ts";
import { createRestconfSource } from "../../../src/sources/restconf/restconf.ts";
import type { Source } from "../../../src/sources/source.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { MemorySink } from "../../support/memory-sink.ts";
import { until } from "../../support/until.ts";
import type { FakeRestconf } from "./fake-restconf.ts";

export const INTERVAL_MS = 30_000;

export class SourceUnderTest implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly sink = new MemorySink();
  readonly source: Source;
  readonly #abort = new AbortController();
  readonly #ended: Promise<void>;

  constructor(server: FakeRestconf, options: Partial<RestconfOptions> = {}) {
    const given = {
      name: "odl",
      url: server.url,
      credentials: "admin:admin",
      // The clock of the test runs faster than the requests.
      timeoutSeconds: 3600,
      intervalSeconds: 30,
      restartGraceSeconds: 60,
      ...options,
    };
    this.source = createRestconfSource(given, { clock: this.clock, log: silentLogger });
    this.#ended = this.source.run(this.sink, this.#abort.signal);
  }

  /** Moves the clock until the condition holds. Requests are real, so that each step waits a little for them. */
  async until(condition: () => boolean, what: string, stepMs = 100): Promise<void> {
    await until(
      async () => {
        if (condition()) return true;
        await this.clock.advance(stepMs);
        return condition();
      },
      { what, everyMs: 5 },
    );
  }

  count(name: string): number {
    return this.source.metrics?.()[name] ?? Number.NaN;
  }

  get replaces(): number {
    return this.sink.changeLog.filter((line) => line === "replace").length;
  }

  ids(): { devices: string[]; links: string[]; hosts: string[] } {
    const { devices, links, hosts } = this.sink;
    return { devices: keys(devices), links: keys(links), hosts: keys(hosts) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#ended;
  }
}

const keys = (map: ReadonlyMap<string, unknown>): string[] => [...map.keys()].sort();
