/** Translates errors of JetStream into `StreamError`, by what they mean for the log of a cluster. */
import type { NatsClient } from "../../cluster/nats/nats-client.ts";
import { isStreamMissing, jetStreamCode, type NatsCluster } from "../../cluster/nats/nats-cluster.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { StreamError } from "./stream-error.ts";

const FULL: ReadonlySet<number> = new Set([10023, 10047, 10077]);
const NO_REPLICAS: ReadonlySet<number> = new Set([10005, 10074]);

/** `stream` is the name of the stream in NATS, for messages to the operator. */
export function asStreamError(
  error: unknown,
  { nats, replicas }: Pick<NatsCluster, "nats" | "replicas">,
  stream: string,
): StreamError {
  if (error instanceof StreamError) return error;
  const why = errorMessage(error);
  const options = { cause: error };
  const code = jetStreamCode(error);
  if (isStreamMissing(error))
    return new StreamError("deleted", `the stream ${stream} does not exist`, options);
  if (NO_REPLICAS.has(code))
    return new StreamError(
      "replicas",
      `NATS has too few servers for ${replicas} replicas (${why}); start more, or set cluster.replicas to their number`,
      options,
    );
  if (FULL.has(code)) return new StreamError("full", `the stream ${stream} is full: ${why}`, options);
  if (!nats.isConnected) return new StreamError("unreachable", `NATS is unreachable: ${why}`, options);
  return new StreamError("unanswered", `the stream ${stream} does not answer: ${why}`, options);
}

/** Throws `StreamError` while no server is connected, so that no caller waits for an answer that cannot come. */
export function checkConnected({ isConnected, refusal }: NatsClient): void {
  if (isConnected) return;
  const why = refusal === undefined ? "NATS is unreachable" : `NATS refuses this node: ${refusal}`;
  throw new StreamError("unreachable", why);
}
