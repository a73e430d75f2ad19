/**
 * The signals of a serving process: SIGTERM and SIGINT stop it, SIGHUP requests a reload. When standard input is a
 * terminal, SIGHUP means that the terminal was closed, and stops the process like SIGTERM.
 */
import { isatty } from "node:tty";
import { catchStopSignals, type StopSignals } from "./stop-signals.ts";

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
