/**
 * `npm test`: types, lint and the tests of src/ and test/; `npm run test:peers`: those of test/peers/. A word selects one suite by its name (`npm test -- test/api`) or test files by
 * a part of their path (`npm test -- view lint`). The last line is always `N passed, N failed`; the type check and the
 * lint count as one test each.
 *   --peers        the suites of `npm run test:peers`
 *   --list         prints the suites, and which run side by side
 *   --repeat N     runs the selection N times, to find tests that fail only sometimes; the last line sums all runs
 *   --jobs N       runs suites side by side for N processors, one by one with 1; the number of processors when absent
 *   --heartbeat S  prints a line every S seconds while no suite ends; 30 when absent
 */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, constants, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { failureReasons } from "./test/failure-reasons.ts";
import type { SuiteResult } from "./test/run-suite.ts";
import { formatDuration, runSuites } from "./test/run-suites.ts";
import { SHARED_MARK } from "./test/shared.ts";
import { findSuites, PLACEMENTS, type Suite, selectSuites } from "./test/suites.ts";
import { storeTimes } from "./test/times.ts";

const root = join(import.meta.dir, "..");
const SLOWEST_SUITES = 5;
const SLOWEST_TESTS = 10;

const { values: options, positionals: words } = parseArgs({
  args: process.argv.slice(2),
  options: {
    peers: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    repeat: { type: "string", default: "1" },
    jobs: { type: "string", default: String(availableParallelism()) },
    heartbeat: { type: "string", default: "30" },
  },
  allowPositionals: true,
});

function countFrom1(name: "repeat" | "jobs"): number {
  const count = Number(options[name]);
  if (!Number.isInteger(count) || count < 1)
    throw new Error(`--${name} ${options[name]}: must be a count from 1 on`);
  return count;
}

function printSuites(suites: readonly Suite[]): void {
  for (const { name, load, isOnRequest } of suites) {
    const how = isOnRequest ? "on request" : load === undefined ? "alone" : "side by side";
    console.log(`${name.padEnd(28)}${how.padEnd(15)}${PLACEMENTS[name]?.reason ?? "not in the table"}`);
  }
}

function printSummary(results: readonly SuiteResult[]): void {
  console.log();
  const suiteTimes = slowest(results, SLOWEST_SUITES).map(
    ({ name, elapsedMs }) => `${name} ${formatDuration(elapsedMs)}`,
  );
  console.log(`slowest suites: ${suiteTimes.join(", ")}`);
  const tests = results.flatMap(({ tests }) => tests);
  for (const { name, elapsedMs } of slowest(tests, SLOWEST_TESTS))
    console.log(`slow: ${(elapsedMs / 1000).toFixed(1).padStart(5)} s  ${name}`);
  const skipped = results.flatMap((result) => result.skipped);
  if (skipped.length > 0) console.log(`SKIPPED: ${skipped.length} did not run; see the SKIP lines above`);
  for (const name of skipped.filter((name) => name.includes(SHARED_MARK))) console.log(`skipped: ${name}`);
  for (const reason of results.flatMap(({ output }) => failureReasons(output))) console.log(`\n${reason}`);
  for (const failure of results.flatMap(({ failures }) => failures)) console.log(`failed: ${failure}`);
}

const slowest = <T extends { readonly elapsedMs: number }>(all: readonly T[], count: number): T[] =>
  all.toSorted((a, b) => b.elapsedMs - a.elapsedMs).slice(0, count);

const sum = (results: readonly SuiteResult[]) => ({
  passed: results.reduce((total, { passed }) => total + passed, 0),
  failed: results.reduce((total, { failures }) => total + failures.length, 0),
});

/** Returns the exit status. */
async function main(folder: string): Promise<number> {
  const [runs, jobs, heartbeatMs] = [
    countFrom1("repeat"),
    countFrom1("jobs"),
    Number(options.heartbeat) * 1000,
  ];
  const every = findSuites(root, options.peers ? "peers" : "test");
  const suites = selectSuites(every, words);
  if (options.list) {
    printSuites(words.length === 0 ? every : suites);
    return 0;
  }
  // Network tools live in the sbin folders, which are not on every user's path.
  process.env.PATH = `${process.env.PATH ?? ""}:/usr/sbin:/sbin`;
  const stop = new AbortController();
  let stoppedBy = 0;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      stoppedBy ||= constants.signals[signal];
      stop.abort();
    });
  }
  const context = { root, folder, stop: stop.signal, strict: process.env.CI === "true" };
  const all: SuiteResult[] = [];
  for (let run = 1; run <= runs && !stop.signal.aborted; run++) {
    const beganMs = performance.now();
    const results = await runSuites(suites, context, { jobs, heartbeatMs });
    all.push(...results);
    // A part of a suite says nothing about the time of the whole.
    const whole = new Set(every.filter((suite) => suites.includes(suite)).map(({ name }) => name));
    if (!stop.signal.aborted)
      storeTimes(
        root,
        results.filter(({ name }) => whole.has(name)),
      );
    printSummary(results);
    const { passed, failed } = sum(results);
    const duration = formatDuration(performance.now() - beganMs);
    if (runs > 1) console.log(`run ${run} of ${runs}: ${passed} passed, ${failed} failed (${duration})`);
  }
  const { passed, failed } = sum(all);
  if (suites.length === 0) {
    console.log(`no test matches ${words.join(" ")}; the suites are:`);
    printSuites(every);
  }
  console.log(`${passed} passed, ${suites.length === 0 ? 1 : failed} failed`);
  if (stoppedBy > 0) return 128 + stoppedBy;
  return suites.length === 0 || failed > 0 ? 1 : 0;
}

const folder = mkdtempSync(join(tmpdir(), "gazetteer-test-"));
try {
  process.exitCode = await main(folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
