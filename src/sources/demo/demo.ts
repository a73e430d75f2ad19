/**
 * The `demo` source: a live, simulated network for a first look, for tests and for measurements. The same options give
 * the same network and the same events in the same order; the clock decides when they occur.
 */
import Type from "typebox";
import Value from "typebox/value";
import { aborted } from "../../lib/aborted.ts";
import { createPoll } from "../../lib/poll.ts";
import { findSchemaFaults } from "../../lib/schema-faults.ts";
import type { ClaimChange } from "../../model/claim.ts";
import type { OptionFault } from "../option-fault.ts";
import type { Source, SourceContext } from "../source.ts";
import { Churn } from "./churn.ts";
import { createDemoNetwork } from "./demo-network.ts";

/** At higher rates several events form one batch, which costs the sink less than many small ones. */
const MIN_INTERVAL_MS = 50;
const MAX_CATCH_UP_MS = 1000;

export function createDemoSource(
  { name, ...rest }: DemoOptions & { name: string },
  { clock }: Pick<SourceContext, "clock">,
): Source {
  const options = { ...DEMO_DEFAULTS, ...rest };
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

/** The options of the `demo` source, and their short form `devices=50,hosts=300`. */

export const DemoOptions = Type.Object(
  {
    devices: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 50_000, description: "Routers and switches. Default 50." }),
    ),
    hosts: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 2_000_000, description: "Hosts. Default 300." }),
    ),
    churn: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 10_000,
        description: "Changes per second. Default: one every three seconds.",
      }),
    ),
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 4_294_967_295,
        description: "The same seed gives the same network. Default 1.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type DemoOptions = Type.Static<typeof DemoOptions>;

const DEMO_DEFAULTS: Required<DemoOptions> = { devices: 50, hosts: 300, churn: 1 / 3, seed: 1 };

type DemoSpec =
  | { readonly ok: true; readonly options: DemoOptions }
  | { readonly ok: false; readonly faults: readonly OptionFault[] };

/** `devices=N,hosts=N,churn=PER_SECOND,seed=N`, each at most once and in any order. Empty means all defaults. */
export function parseDemoSpec(text: string): DemoSpec {
  const options = new Map<string, number | string>();
  const faults: OptionFault[] = [];
  for (const part of text.split(",").map((piece) => piece.trim())) {
    if (part === "") continue;
    const [name = "", value = ""] = part.split(/\s*=\s*/, 2);
    if (options.has(name)) faults.push({ path: [name], message: "is given twice" });
    // What is not a number stays text: the schema says what it must be.
    options.set(name, /^\d+(\.\d+)?$/.test(value) ? Number(value) : value);
  }
  const values = Object.fromEntries(options);
  faults.push(...findSchemaFaults(DemoOptions, values));
  if (faults.length === 0 && Value.Check(DemoOptions, values)) return { ok: true, options: values };
  return { ok: false, faults };
}
