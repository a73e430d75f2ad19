/** The error of the NATS client. It has a file of its own, so that a single node loads no code of NATS. */

/** The error while NATS cannot be used. The message is for the operator. */
export class NatsError extends Error {
  override readonly name = "NatsError";
  /** `refused`: a server was reached and does not accept the credentials. */
  readonly code: "unreachable" | "refused";

  constructor(code: NatsError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
