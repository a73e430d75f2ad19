/**
 * Loaded into the service before its own code (`--preload`): measures how late the event loop runs a timer of a
 * millisecond. On SIGUSR2 it prints what it has measured as one line, `loop {…}`, and starts anew.
 *
 * On a machine that does other things too, a timer is also late because the thread did not get the processor. So the
 * processor time of the thread between two timers is measured as well: the longest is the longest piece of work.
 */
import { readFileSync } from "node:fs";

const INTERVAL_MS = 1;

export interface LoopStats {
  readonly samples: number;
  readonly delayP99Ms: number;
  readonly delayMaxMs: number;
  readonly workP99Ms: number;
  readonly workMaxMs: number;
}

let delays: number[] = [];
let works: number[] = [];

/** Of the main thread, whose id is that of the process. */
const processorMs = (): number =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ", 1)[0]) / 1e6;

let due = performance.now() + INTERVAL_MS;
let worked = processorMs();
function tick(): void {
  const now = performance.now();
  const work = processorMs();
  delays.push(Math.max(0, now - due));
  works.push(work - worked);
  worked = work;
  due = performance.now() + INTERVAL_MS;
  setTimeout(tick, INTERVAL_MS).unref();
}
setTimeout(tick, INTERVAL_MS).unref();

process.on("SIGUSR2", () => {
  const [delayP99Ms, delayMaxMs] = quantiles(delays);
  const [workP99Ms, workMaxMs] = quantiles(works);
  const stats: LoopStats = { samples: delays.length, delayP99Ms, delayMaxMs, workP99Ms, workMaxMs };
  delays = [];
  works = [];
  console.log(`loop ${JSON.stringify(stats)}`);
});

function quantiles(values: readonly number[]): [p99: number, max: number] {
  const sorted = values.toSorted((a, b) => a - b);
  return [sorted[Math.floor(sorted.length * 0.99)] ?? 0, sorted.at(-1) ?? 0];
}
