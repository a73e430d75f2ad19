/** How a command fails: one line on standard error for people, an exit status for scripts. */

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
