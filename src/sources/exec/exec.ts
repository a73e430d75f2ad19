/**
 * The `exec` source: runs a program at intervals. What it prints is a network document in the format of the `file` source.
 *
 * A program that fails, takes too long or prints too much, and a document with a fault, change nothing: the last valid
 * document stays claimed, and the fault is reported.
 */
import { parseNetwork } from "../file/network-file.ts";
import { runPoll } from "../poll-loop.ts";
import { checkOf, type Source, type SourceContext } from "../source.ts";
import {
  DEFAULT_INTERVAL_SECONDS,
  DEFAULT_MAX_OUTPUT_BYTES,
  DEFAULT_TIMEOUT_SECONDS,
  type ExecOptions,
} from "./options.ts";
import { readEnvironment } from "./read-environment.ts";
import { findProgramFault, programOf, runCommand } from "./run-command.ts";

export function createExecSource(
  { name, command, ...options }: ExecOptions & { name: string },
  { clock }: SourceContext,
): Source {
  const intervalMs = (options.intervalSeconds ?? DEFAULT_INTERVAL_SECONDS) * 1000;
  const timeoutMs = (options.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
  const { directory = ".", maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options;
  const counts = { runs_total: 0, failed_total: 0, refused_total: 0 };
  return {
    name,
    metrics: () => ({ ...counts }),
    async check() {
      const environment = await readEnvironment(options);
      return checkOf(
        environment.ok
          ? findProgramFault({ command, directory, environment: environment.variables })
          : environment.message,
      );
    },
    run: (sink, signal) =>
      runPoll({ sink, intervalMs, clock, signal }, async () => {
        counts.runs_total++;
        const environment = await readEnvironment(options);
        const result = environment.ok
          ? await runCommand({
              command,
              directory,
              environment: environment.variables,
              timeoutMs,
              maxOutputBytes,
              clock,
              signal,
            })
          : environment;
        if (!result.ok) {
          if (!signal.aborted) counts.failed_total++;
          return result;
        }
        const content = parseNetwork(`output of ${programOf({ command })}`, result.output);
        if (!content.ok) {
          counts.refused_total++;
          sink.markStale(content.message);
          return { ok: true };
        }
        await sink.replace(content.claims);
        return { ok: true };
      }),
  };
}
