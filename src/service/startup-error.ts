/**
 * An error that keeps the service from starting and that the operator can fix. The message is one line for the
 * operator; the code is for programs. Any other error during the start is a bug.
 */
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
