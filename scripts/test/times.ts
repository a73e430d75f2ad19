/**
 * `test-times.json`, which git ignores: how long each suite took the last time that all of it ran, by the clock and in
 * processor time. Where the second is much less, the suite waits.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SuiteResult } from "./run-suite.ts";

interface SuiteTime {
  readonly elapsedSeconds: number;
  readonly cpuSeconds: number;
}

const seconds = (ms: number): number => Math.round(ms / 100) / 10;

/** Suites that did not run keep their times. */
export function storeTimes(root: string, results: readonly SuiteResult[]): void {
  const path = join(root, "test-times.json");
  const times = new Map<string, SuiteTime>(Object.entries(readTimes(path)));
  for (const { name, elapsedMs, cpuMs } of results)
    times.set(name, { elapsedSeconds: seconds(elapsedMs), cpuSeconds: seconds(cpuMs) });
  const sorted = [...times].sort(([, a], [, b]) => b.cpuSeconds - a.cpuSeconds);
  const lines = sorted.map(([name, time]) => `${JSON.stringify(name)}: ${JSON.stringify(time)}`);
  writeFileSync(path, `{\n${lines.join(",\n")}\n}\n`);
}

function readTimes(path: string): Record<string, SuiteTime> {
  if (!existsSync(path)) return {};
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return {}; // a run was ended while it wrote
  }
}
