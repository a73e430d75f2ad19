/**
 * Turns SIGTERM and SIGINT into an AbortSignal. The first signal requests an orderly stop; a later one ends the process
 * immediately. A terminal and npm both deliver the same Ctrl-C, so a signal right after the first is treated as the same.
 */
const SAME_KEYSTROKE_MS = 500;
const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** Disposing restores the default handling of the signals. */
export interface StopSignals extends Disposable {
  readonly signal: AbortSignal;
}

export interface StopSignalOptions {
  readonly names?: readonly NodeJS.Signals[];
  readonly now?: () => number;
}

export function catchStopSignals(
  exitNow: () => void,
  { names = SIGNALS, now = () => performance.now() }: StopSignalOptions = {},
): StopSignals {
  const stop = new AbortController();
  let firstAt = 0;
  const onSignal = () => {
    if (!stop.signal.aborted) {
      firstAt = now();
      stop.abort();
    } else if (now() - firstAt > SAME_KEYSTROKE_MS) exitNow();
  };
  for (const name of names) process.on(name, onSignal);
  return {
    signal: stop.signal,
    [Symbol.dispose]() {
      for (const name of names) process.off(name, onSignal);
    },
  };
}
