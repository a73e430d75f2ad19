/** How a command fails: one line on standard error for people, an exit status for scripts. */

export const EXIT_STATUS = { ok: 0, failed: 1, usage: 2 } as const;

export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly status: number;

  constructor(message: string, status: number = EXIT_STATUS.failed, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Wrong arguments, a wrong configuration, or a service that cannot start: exit status 2. */
export const usageFailure = (message: string): CommandFailure =>
  new CommandFailure(message, EXIT_STATUS.usage);
