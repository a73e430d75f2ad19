/**
 * Runs suites: first those that may run side by side, as many at a time as there are processors, then the others one by
 * one. Prints the output of each suite in one piece and how far the run is. A line at an interval shows that the run is
 * alive while no suite has ended.
 */
import { type RunContext, runSuite, type SuiteResult } from "./run-suite.ts";
import type { Suite } from "./suites.ts";

export interface Pace {
  /** How many suites run side by side. */
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
    const together = suites.filter(({ sideBySide }) => sideBySide);
    const workers = Math.min(jobs, together.length);
    await drain(together, workers, context.stop, (suite) => run(suite, workers === 1));
    const others = suites.filter(({ sideBySide }) => !sideBySide);
    await drain(others, 1, context.stop, (suite) => run(suite, true));
  } finally {
    clearInterval(heartbeat);
  }
  return results;
}

/** Starts nothing more once it is stopped. */
async function drain(
  suites: readonly Suite[],
  workers: number,
  stop: AbortSignal,
  run: (suite: Suite) => Promise<void>,
): Promise<void> {
  const queue = suites.values();
  const work = async () => {
    for (const suite of queue) {
      if (stop.aborted) return;
      await run(suite);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
}

const countsOf = ({ passed, failures, skipped }: SuiteResult): string =>
  `${passed} passed, ${failures.length} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`;

/** `4 s`, `2 min 05 s`. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}
