/**
 * The `demo` source: a simulated network with events, for first steps, tests and measurements. The same options give
 * the same network and the same events in the same order; the clock decides when they occur.
 */
import { aborted } from "../../lib/aborted.ts";
import { createPoll } from "../../lib/poll.ts";
import type { ClaimChange } from "../../model/claim.ts";
import type { Source, SourceContext } from "../source.ts";
import { Churn } from "./churn.ts";
import { createDemoNetwork } from "./demo-network.ts";
import type { DemoOptions } from "./options.ts";

/** Minimum interval. At higher rates several events form one batch, which costs the sink less than many small ones. */
const MIN_INTERVAL_MS = 50;
const MAX_CATCH_UP_MS = 1000;

export function createDemoSource(
  { name, ...options }: DemoOptions & { name: string },
  { clock }: Pick<SourceContext, "clock">,
): Source {
  let events = 0;
  return {
    name,
    metrics: () => ({ events_total: events }),
    async run(sink, signal) {
      const network = createDemoNetwork(options);
      const churn = new Churn(network, options.churn, options.seed);
      await sink.replace(network.claims());
      if (options.churn === 0) return aborted(signal);
      const intervalMs = Math.max(MIN_INTERVAL_MS, 1000 / options.churn);
      let lastRunAt = clock.monotonic();
      let dueEvents = 0;
      await createPoll({ intervalMs, clock, signal }).run(async () => {
        // Events missed while the machine was suspended are skipped.
        dueEvents +=
          Math.min(clock.monotonic() - lastRunAt, Math.max(2 * intervalMs, MAX_CATCH_UP_MS)) *
          (options.churn / 1000);
        lastRunAt = clock.monotonic();
        const changes: ClaimChange[] = [];
        // The margin absorbs rounding errors: the default rate is 1/3.
        for (; dueEvents > 1 - 1e-6; dueEvents--) {
          changes.push(...churn.step());
          events++;
        }
        if (changes.length > 0) await sink.apply(changes);
      });
    },
  };
}
