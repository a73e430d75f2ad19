/** A scheduler that runs one step in each turn of the event loop, and calls `atPause` between two steps. */
import { Scheduler } from "../../src/lib/scheduler.ts";

export function createSteppingScheduler(atPause: () => void): Scheduler {
  let now = 0;
  return new Scheduler({
    // Each step takes longer than a turn may.
    now: () => {
      now += 100;
      return now;
    },
    nextTurn: (callback) =>
      setImmediate(() => {
        atPause();
        callback();
      }),
  });
}
