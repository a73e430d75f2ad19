/**
 * SIGTERM and SIGINT as an AbortSignal. The first asks for an orderly end; a later one ends at once. A terminal and
 * npm both pass one Ctrl-C on, so what comes right behind the first is the first again.
 */
const SAME_KEYSTROKE_MS = 500;
const SIGNALS = ["SIGTERM", "SIGINT"] as const;

export interface StopSignals {
  readonly signal: AbortSignal;
  /** Gives the signals back their usual meaning. */
  release(): void;
}

export function catchStopSignals(
  endAtOnce: () => void,
  now: () => number = () => performance.now(),
): StopSignals {
  const stop = new AbortController();
  let firstAt = 0;
  const listener = () => {
    if (!stop.signal.aborted) {
      firstAt = now();
      stop.abort();
    } else if (now() - firstAt > SAME_KEYSTROKE_MS) endAtOnce();
  };
  for (const name of SIGNALS) process.on(name, listener);
  return {
    signal: stop.signal,
    release() {
      for (const name of SIGNALS) process.off(name, listener);
    },
  };
}
