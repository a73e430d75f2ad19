/**
 * The signals of a process that serves: SIGTERM and SIGINT stop it, SIGHUP requests a reload. When standard input is a
 * terminal, SIGHUP says that the terminal is gone, and stops it like SIGTERM.
 */
import { isatty } from "node:tty";
import { catchStopSignals, type StopSignals } from "./stop-signals.ts";

const STANDARD_INPUT = 0;

export interface ServiceSignals extends StopSignals {
  /**
   * Calls the listener for each requested reload, and at once when one was requested before. Returns the function that
   * removes the listener. Without a listener SIGHUP has no effect.
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
