/**
 * The contract of a command. A new command is a file with one such value and a row in commands.ts; help, usage errors
 * and exit statuses are derived from it.
 */
import type { Arguments, Flag } from "./args.ts";

export interface Command {
  readonly name: string;
  /** What follows the name in the usage line, without the flags. */
  readonly operands: string;
  /** One line for the list of commands. */
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** Lines below the flags in the help: examples, environment variables. */
  readonly notes?: string;
  /** Returns the exit status, or throws a CommandFailure. */
  run(args: Arguments, context: Context): Promise<number>;
}

/** Standard input. */
export interface Input {
  /** Whether somebody types on a terminal. */
  readonly isTerminal: boolean;
  stream(): AsyncIterable<Uint8Array>;
}

/** What a command uses of the process, so that a test can replace it. */
export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to standard output; resolves when the text is written. */
  out(text: string | Uint8Array): Promise<void>;
  /** Writes to standard error. */
  err(text: string): Promise<void>;
  readonly stdin: Input;
  /** Ends the process at once, without cleanup: for a second signal. */
  exit(status: number): void;
  /** Whether standard output is a terminal. */
  readonly terminal: boolean;
}
