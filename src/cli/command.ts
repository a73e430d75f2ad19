/**
 * The contract of a command. A new command is a file with one such value and a row in commands.ts; help, usage errors
 * and exit statuses are derived from it.
 */
import type { Arguments, Flag } from "./args.ts";

export interface Command {
  readonly name: string;
  /** The operands in the usage line, after the name. */
  readonly operands: string;
  /** The line of the command in the list of commands. */
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** Lines below the flags in the help: examples, environment variables. */
  readonly notes?: string;
  /** Returns the exit status, or throws a CommandFailure. */
  run(args: Arguments, context: Context): Promise<number>;
}

/** Standard input. */
export interface Input {
  /** Whether standard input is a terminal. */
  readonly isTerminal: boolean;
  stream(): AsyncIterable<Uint8Array>;
}

/** The parts of the process that a command uses; tests replace them. */
export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to standard output; resolves when the text is written. */
  out(text: string | Uint8Array): Promise<void>;
  /** Writes to standard error. */
  err(text: string): Promise<void>;
  readonly stdin: Input;
  /** Ends the process immediately and without cleanup, after a second signal. */
  exit(status: number): void;
  /** Whether standard output is a terminal. */
  readonly terminal: boolean;
}
