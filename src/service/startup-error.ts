/**
 * An error that keeps the service from starting and that the operator can fix. The message is one line for the
 * operator; the code is for programs. Any other error during the start is a bug.
 */
import { UsersError } from "../api/auth/users-file.ts";
import { NatsError } from "../cluster/nats/nats-error.ts";
import { CertificateError } from "../lib/certificate-files.ts";
import { StreamError } from "../log/jetstream/stream-error.ts";
import { LogError } from "../log/log.ts";

export type StartupErrorCode =
  | "sources" // an entry of `sources` is not valid
  | "users" // the users file or GAZETTEER_CREDENTIALS cannot be used
  | "tls" // the certificate or its key cannot be used
  | "log" // the change log cannot be opened
  | "address" // the address or port cannot be listened on
  | "readers" // reader processes cannot be started on this machine
  | "no-writer"; // a reader process that was not started by a service

export class StartupError extends Error {
  override readonly name = "StartupError";
  readonly code: StartupErrorCode;

  constructor(code: StartupErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Converts errors whose messages are written for the operator to `StartupError`. Rethrows all others. */
export async function asStartupError<T>(open: () => T | Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof UsersError) throw new StartupError("users", error.message, { cause: error });
    if (error instanceof CertificateError) throw new StartupError("tls", error.message, { cause: error });
    if (error instanceof NatsError || error instanceof LogError || error instanceof StreamError)
      throw new StartupError("log", error.message, { cause: error });
    throw error;
  }
}
