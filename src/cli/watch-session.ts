/**
 * The parts that commands running until Ctrl-C share. SIGINT and SIGTERM end them with exit status 0. Standard output has
 * only the changes; the state of the connection goes to standard error.
 */
import type { ConnectionState } from "../client/types.ts";
import { withHint } from "./client-command.ts";
import { type Context, EXIT_STATUS } from "./command.ts";
import { catchStopSignals } from "./signals.ts";
import { escapeControlCharacters } from "./table.ts";

/** Runs `run` until it ends. `run` must end, with or without an error, when the signal is aborted. */
export async function runUntilStopped(
  context: Context,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  using stop = catchStopSignals(() => context.exit(EXIT_STATUS.ok));
  try {
    await run(stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
}

/** Reports when the connection is lost and when it is restored. The first connection is not reported. */
export function createConnectionReporter(
  context: Context,
  command: string,
): (state: ConnectionState) => void {
  const report = (text: string) => void context.err(`gazetteer ${command}: ${text}\n`);
  let isLost = false;
  return (state) => {
    if (state.state === "reconnecting" && state.afterMs > 0) {
      isLost = true;
      const reason = escapeControlCharacters(state.reason);
      report(withHint(reason, `trying again in ${(state.afterMs / 1000).toFixed(1)} s`));
    } else if (state.state === "connected" && isLost) {
      isLost = false;
      report("connected again");
    }
  };
}
