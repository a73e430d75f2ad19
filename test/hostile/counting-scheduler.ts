/**
 * A scheduler for tests of heavy work. Time passes only as it looks at its clock, so that slices are counted and nothing is
 * measured. It counts its turns, and what is parsed as JSON, or encoded, between two looks at the clock: that is one step.
 */
import { Scheduler } from "../../src/lib/scheduler.ts";

/** Each look at the clock takes a quarter of a millisecond: a slice has at most four steps, a turn sixteen. */
const STEP_MS = 0.25;

interface Counts {
  turns: number;
  parsed: number;
  mostParsed: number;
  bytes: number;
  mostBytes: number;
}

export class CountingScheduler extends Scheduler {
  static create(): CountingScheduler {
    const counts = { now: 0, turns: 0, parsed: 0, mostParsed: 0, bytes: 0, mostBytes: 0 };
    const now = () => {
      counts.mostParsed = Math.max(counts.mostParsed, counts.parsed);
      counts.mostBytes = Math.max(counts.mostBytes, counts.bytes);
      counts.parsed = 0;
      counts.bytes = 0;
      counts.now += STEP_MS;
      return counts.now;
    };
    const held: (() => void)[] = [];
    const nextTurn = (callback: () => void) => {
      counts.turns++;
      if (scheduler.isHeld) held.push(callback);
      else setImmediate(callback);
    };
    const scheduler = new CountingScheduler(counts, { now, nextTurn }, held);
    return scheduler;
  }

  /** While it is held, no turn begins. */
  isHeld = false;
  readonly #held: (() => void)[];

  readonly counts: Counts;

  private constructor(
    counts: CountingScheduler["counts"],
    options: ConstructorParameters<typeof Scheduler>[0],
    held: (() => void)[],
  ) {
    super(options);
    this.counts = counts;
    this.#held = held;
  }

  /** Counts what is parsed and encoded in this process. Returns the function that ends it. */
  watchJson(): () => void {
    const { parse, stringify } = JSON;
    const { counts } = this;
    JSON.parse = (...given: Parameters<typeof parse>) => {
      counts.parsed++;
      counts.bytes += given[0].length;
      return parse(...given);
    };
    JSON.stringify = (...given: [unknown]) => {
      const text = stringify(...given);
      counts.bytes += text?.length ?? 0;
      return text;
    };
    return () => {
      JSON.parse = parse;
      JSON.stringify = stringify;
    };
  }

  release(): void {
    this.isHeld = false;
    for (const callback of this.#held.splice(0)) callback();
  }

  running(user: string): number {
    for (const { owner, running } of this.usage()) if (owner === `user:${user}`) return running;
    return 0;
  }

  loopMs(user: string): number {
    for (const { owner, loopMs } of this.usage()) if (owner === `user:${user}`) return loopMs;
    return 0;
  }
}
