/**
 * The `demo` source: a live, simulated network for trying things out, for tests and for measuring. The same options
 * give the same network and the same events in the same order; only the clock says when they come.
 */
import { aborted } from "../../lib/aborted.ts";
import { createPoll } from "../../lib/poll.ts";
import type { ClaimChange } from "../../model/claim.ts";
import type { Source, SourceContext } from "../source.ts";
import { Churn } from "./churn.ts";
import { createDemoNetwork } from "./network.ts";
import { DEMO_DEFAULTS, type DemoOptions } from "./options.ts";

/** Events faster than this come several at a time: the sink takes one batch more cheaply than many small ones. */
const MIN_INTERVAL_MS = 50;
const MAX_CATCH_UP_MS = 1000;

export function createDemoSource(
  { name, ...given }: DemoOptions & { name: string },
  { clock }: Pick<SourceContext, "clock">,
): Source {
  const options = { ...DEMO_DEFAULTS, ...given };
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
      let at = clock.now();
      let owed = 0;
      await createPoll({ intervalMs, clock, signal }).run(async () => {
        // What a suspended machine missed stays missed: nobody wants an hour's events at once.
        owed +=
          Math.min(clock.now() - at, Math.max(2 * intervalMs, MAX_CATCH_UP_MS)) * (options.churn / 1000);
        at = clock.now();
        const changes: ClaimChange[] = [];
        // The margin is for the rounding of thirds.
        for (; owed > 1 - 1e-6; owed--) {
          changes.push(...churn.step());
          events++;
        }
        if (changes.length > 0) await sink.apply(changes);
      });
    },
  };
}
