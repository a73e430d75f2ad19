/**
 * The signals that end a command, or reload a service. SIGTERM and SIGINT become an AbortSignal: the first signal requests an
 * orderly stop; a later one ends the process immediately. A terminal and npm both deliver the same Ctrl-C, so a signal right
 * after the first is treated as the same.
 *
 * In a serving process, SIGHUP requests a reload. When standard input is a terminal, SIGHUP means that the terminal was
 * closed, and stops the process like SIGTERM.
 */
import { isatty } from "node:tty";

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

const STANDARD_INPUT = 0;

export interface ServiceSignals extends StopSignals {
  /**
   * Calls the listener for each requested reload, and immediately if one was requested before. Returns the function that
   * removes the listener. Without a listener, SIGHUP is only remembered.
   */
  onReload(listener: () => void): () => void;
}

export function catchServiceSignals(
  exitNow: () => void,
  isTerminal: boolean = isatty(STANDARD_INPUT),
): ServiceSignals {
  if (isTerminal) {
    const stop = catchStopSignals(exitNow, { names: ["SIGTERM", "SIGINT", "SIGHUP"] });
    return { ...stop, onReload: () => () => {} };
  }
  const stop = catchStopSignals(exitNow);
  let isRequested = false;
  let listener: (() => void) | undefined;
  const onHangUp = () => {
    isRequested = listener === undefined;
    listener?.();
  };
  process.on("SIGHUP", onHangUp);
  return {
    signal: stop.signal,
    onReload(onRequest) {
      listener = onRequest;
      if (isRequested) onHangUp();
      return () => {
        listener = undefined;
      };
    },
    [Symbol.dispose]() {
      process.off("SIGHUP", onHangUp);
      stop[Symbol.dispose]();
    },
  };
}
