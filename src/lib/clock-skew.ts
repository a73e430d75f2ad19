/**
 * A clock that reports when it was set back behind the last stored time. Stored times never decrease: until the clock has
 * passed that time again, everything is stored with it, and an operator should know why. One line for each set-back.
 */
import type { Clock } from "./clock.ts";
import type { Logger } from "./logger.ts";

/** Smaller differences are corrections of a time server. */
const MIN_REPORTED_MS = 1000;

export function reportClockSkew(clock: Clock, lastTime: () => number, logger: Logger): Clock {
  let isBehind = false;
  return {
    now() {
      const now = clock.now();
      const behindMs = lastTime() - now;
      if (behindMs <= 0) isBehind = false;
      else if (!isBehind && behindMs >= MIN_REPORTED_MS) {
        isBehind = true;
        logger.warn("the clock is behind the time of the last revision, which new revisions keep", {
          seconds: Math.round(behindMs / 1000),
        });
      }
      return now;
    },
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
}
