/** Converts errors whose messages are written for the operator, where they keep the service from starting. */
import { UsersError } from "../api/auth/users-file.ts";
import { NatsError } from "../cluster/nats/nats-error.ts";
import { CertificateError } from "../lib/certificate-files.ts";
import { StreamError } from "../log/jetstream/stream-error.ts";
import { LogError } from "../log/log.ts";
import { StartupError } from "./startup-error.ts";

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
