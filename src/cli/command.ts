/**
 * The contract of a command, and how it fails: one line on standard error for people, an exit status for scripts. A new
 * command is a file with one such value and a row in commands.ts; help and usage errors are derived from it.
 */

export interface Flag {
  /** The long name without the dashes. */
  readonly name: string;
  /** The one-letter form without the dash. */
  readonly short?: string;
  /** The placeholder of the value in the help. A flag without it has no value. */
  readonly value?: string;
  /** Whether the value may be left out. */
  readonly optional?: boolean;
  readonly repeated?: boolean;
  /** The possible values, for shell completion. */
  readonly choices?: readonly string[];
  readonly help: string;
}

export interface Arguments {
  has(flag: string): boolean;
  /** The value of the flag; empty when the flag was given without one. */
  one(flag: string): string | undefined;
  all(flag: string): readonly string[];
  readonly positionals: readonly string[];
}

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

export const EXIT_STATUS = { ok: 0, failed: 1, usage: 2 } as const;

/** The meaning of each exit status, for the help and docs/cli.md. */
export const EXIT_STATUS_MEANINGS: readonly (readonly [status: number, meaning: string])[] = [
  [EXIT_STATUS.ok, "Done; also a service, watch or get --watch that a signal ended in order"],
  [
    EXIT_STATUS.failed,
    "The service refused the read, did not answer, or has no such entity; a fault while running",
  ],
  [EXIT_STATUS.usage, "Nothing was done: wrong arguments, a faulty file, or a service that cannot start"],
];

export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly status: number;

  constructor(message: string, status: number = EXIT_STATUS.failed, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** The failure for wrong arguments, a wrong configuration, or a service that cannot start: exit status 2. */
export const usageFailure = (message: string): CommandFailure =>
  new CommandFailure(message, EXIT_STATUS.usage);
