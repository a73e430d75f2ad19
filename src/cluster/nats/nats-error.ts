/** Why NATS cannot be used. In a file of its own, because a single node loads nothing of NATS. */

/** NATS cannot be used. The message is for the operator. */
export class NatsError extends Error {
  override readonly name = "NatsError";
  /** `refused`: a server was reached and does not accept the credentials. */
  readonly code: "unreachable" | "refused";

  constructor(code: NatsError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
