/**
 * Processor time of this code beside an earlier commit. Both versions run in turn, in rounds, so that a change of the
 * machine's load meets both; values are medians. The services share one core and wrk has the other. Only one service has
 * work at a time, and only after a round that lets the runtime compile the code and is not counted.
 */
import type { Checkout } from "../fairness/checkout.ts";
import { median, shown } from "../lib/table.ts";
import { type Peer, ROOT, type Shape, startGazetteer } from "./peers.ts";
import type { Result } from "./result.ts";

/** Measures with one service. Returns microseconds by the name of the case. The result of a warm-up is not used. */
export type Measure = (service: Peer, isWarmUp: boolean) => Promise<Readonly<Record<string, number>>>;

export interface BesideOptions {
  readonly name: string;
  readonly before: string;
  readonly earlier: Checkout;
  readonly rounds: number;
  readonly shape: Shape;
  /** The lowest ratio of the earlier commit's time to ours. */
  readonly bar: number;
  /** Called once for each service. */
  readonly casesOf: (service: Peer) => Promise<readonly Measure[]>;
}

type Side = "before" | "now";

export async function measureBeside(options: BesideOptions): Promise<Result[]> {
  const { name, before, rounds, bar } = options;
  const samples = new Map<string, Record<Side, number[]>>();
  const services = await startBoth(options);
  try {
    const cases = {
      before: await options.casesOf(services.before),
      now: await options.casesOf(services.now),
    };
    for (let round = 0; round <= rounds; round++) {
      const order: readonly Side[] = round % 2 === 0 ? ["before", "now"] : ["now", "before"];
      for (const [i] of cases.now.entries())
        for (const side of order) {
          const values = (await cases[side][i]?.(services[side], round === 0)) ?? {};
          if (round === 0) continue;
          for (const [what, micros] of Object.entries(values)) {
            const sides = samples.get(what) ?? { before: [], now: [] };
            samples.set(what, sides);
            sides[side].push(micros);
          }
        }
    }
  } finally {
    await services.before.stop();
    await services.now.stop();
  }
  for (const [what, sides] of samples) {
    const remark = isQuiet(sides) ? "" : ": they differ too much to be judged";
    process.stderr.write(
      `${what}: ${before} ${listed(sides.before)}; now ${listed(sides.now)} µs${remark}\n`,
    );
  }
  return [...samples].map(([what, sides]) => ({
    name,
    what,
    unit: "µs",
    ours: median(sides.now),
    against: { [before]: median(sides.before) },
    isCost: true,
    ...(isQuiet(sides) && { bar }),
  }));
}

/** How much the rounds of one side may differ. Where they differ more, the medians say little and have no bar. */
const MAX_SPREAD = 1.2;
const spreadOf = (values: readonly number[]): number => Math.max(...values) / Math.min(...values);
const isQuiet = ({ before, now }: Readonly<Record<Side, readonly number[]>>): boolean =>
  Math.max(spreadOf(before), spreadOf(now)) <= MAX_SPREAD;
const listed = (values: readonly number[]): string => values.map(shown).join(" ");

async function startBoth({ shape, earlier }: BesideOptions): Promise<Readonly<Record<Side, Peer>>> {
  const before = await startGazetteer(shape, earlier.root);
  try {
    return { before, now: await startGazetteer(shape, ROOT) };
  } catch (error) {
    await before.stop();
    throw error;
  }
}
