/**
 * The contract of a command. A new one is a file with such a value and a row in commands.ts; help, usage errors and
 * exit statuses come by themselves.
 */
import type { Arguments, Flag } from "./args.ts";

export interface Command {
  readonly name: string;
  /** What follows the name in the usage line, without the flags. */
  readonly operands: string;
  /** One line for the list of commands. */
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** Lines below the flags in the help: examples, what the environment does. */
  readonly notes?: string;
  /** Gives the exit status, or throws a CommandFailure. */
  run(args: Arguments, context: Context): Promise<number>;
}

/** What a command has of the world outside, so that a test can be that world. */
export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard output; resolves when it has been taken. */
  out(text: string | Uint8Array): Promise<void>;
  /** Standard error. */
  err(text: string): Promise<void>;
  /** Ends the process at once, with nothing tidied up: for a person who asks a second time. */
  exit(status: number): void;
  /** Whether a person is looking at the output. */
  readonly terminal: boolean;
}
