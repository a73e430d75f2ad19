/** How a command ends when it cannot do what was asked: one clear line for the person, and an exit status for scripts. */

export const STATUS = { ok: 0, failed: 1, usage: 2 } as const;

export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly status: number;

  constructor(message: string, status: number = STATUS.failed, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** The person asked for something there is not: exit status 2. */
export const usageFailure = (message: string, cause?: unknown): CommandFailure =>
  new CommandFailure(message, STATUS.usage, cause === undefined ? undefined : { cause });

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
