/**
 * Runs suites: first those that may run side by side, as many at a time as keep the processors busy, then the others one
 * by one. Prints the output of each suite in one piece and how far the run is. A line at an interval shows that the run is
 * alive while no suite has ended.
 */
import { Preparations } from "./preparations.ts";
import { type RunContext, runSuite, type SuiteResult } from "./run-suite.ts";
import type { Suite } from "./suites.ts";

export interface Pace {
  /** How many processors the suites that run side by side may use. With 1, suites run one by one. */
  readonly jobs: number;
  readonly heartbeatMs: number;
}

export async function runSuites(
  suites: readonly Suite[],
  context: RunContext,
  { jobs, heartbeatMs }: Pace,
): Promise<SuiteResult[]> {
  const beganMs = performance.now();
  const elapsed = () => formatDuration(performance.now() - beganMs);
  const results: SuiteResult[] = [];
  const running = new Map<string, number>();

  const run = async (suite: Suite, toTerminal: boolean): Promise<void> => {
    if (toTerminal) console.log(`\n── ${suite.name}`);
    running.set(suite.name, performance.now());
    const result = await runSuite(suite, context, toTerminal);
    running.delete(suite.name);
    results.push(result);
    if (!toTerminal) console.log(`\n── ${suite.name}`);
    if (result.output !== "") console.log(result.output.trimEnd());
    console.log(
      `── suite ${results.length} of ${suites.length}: ${suite.name}: ${countsOf(result)} ` +
        `in ${formatDuration(result.elapsedMs)} (CPU ${formatDuration(result.cpuMs)}); ${elapsed()} elapsed`,
    );
  };

  const heartbeat = setInterval(() => {
    const names = [...running].map(([name, at]) => `${name} (${formatDuration(performance.now() - at)})`);
    console.log(
      `── ${elapsed()} elapsed, ${results.length} of ${suites.length} suites done, running: ${names.join(", ")}`,
    );
  }, heartbeatMs);
  try {
    const preparations = new Preparations(suites, context);
    const together = suites.filter(({ load }) => load !== undefined);
    const oneByOne = jobs === 1 || together.length === 1;
    await drain(together, oneByOne ? 1 : 100 * jobs, preparations, context.stop, (suite) =>
      run(suite, oneByOne),
    );
    const others = suites.filter(({ load }) => load === undefined);
    await drain(others, 1, preparations, context.stop, (suite) => run(suite, true));
  } finally {
    clearInterval(heartbeat);
  }
  return results;
}

/**
 * Starts a suite when what it needs is installed and its load fits beside those that run; one whose load never fits runs
 * alone. Starts nothing more once it is stopped.
 */
async function drain(
  suites: readonly Suite[],
  maxLoad: number,
  preparations: Preparations,
  stop: AbortSignal,
  run: (suite: Suite) => Promise<void>,
): Promise<void> {
  const waiting = [...suites];
  const running = new Map<Suite, Promise<void>>();
  const fits = ({ load = 100 }: Suite) =>
    running.size === 0 ||
    load + [...running.keys()].reduce((sum, suite) => sum + (suite.load ?? 100), 0) <= maxLoad;
  while (waiting.length > 0 && !stop.aborted) {
    const next = waiting.findIndex((suite) => preparations.isReady(suite));
    const suite = waiting[next];
    // No suite overtakes a larger one before it: the longest would be the last.
    if (!suite || !fits(suite)) {
      await Promise.race([...running.values(), ...preparations.pending]);
      continue;
    }
    waiting.splice(next, 1);
    running.set(
      suite,
      run(suite).finally(() => running.delete(suite)),
    );
  }
  await Promise.all(running.values());
}

const countsOf = ({ passed, failures, skipped }: SuiteResult): string =>
  `${passed} passed, ${failures.length} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`;

/** `4 s`, `2 min 05 s`. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}
