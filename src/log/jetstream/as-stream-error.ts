/** Translates errors of JetStream into `StreamError`, by what they mean for the log of a cluster. */
import { JetStreamApiError } from "@nats-io/jetstream";
import type { NatsClient } from "../../cluster/nats/nats-client.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { StreamError } from "./stream-error.ts";

const STREAM_NOT_FOUND = 10059;
const FULL: ReadonlySet<number> = new Set([10023, 10047, 10077]);
const NO_REPLICAS: ReadonlySet<number> = new Set([10005, 10074]);

export interface StreamNaming {
  /** The name of the stream in NATS, for messages to the operator. */
  readonly stream: string;
  readonly replicas: number;
}

export function asStreamError(
  error: unknown,
  nats: NatsClient,
  { stream, replicas }: StreamNaming,
): StreamError {
  if (error instanceof StreamError) return error;
  const why = errorMessage(error);
  const options = { cause: error };
  const code = error instanceof JetStreamApiError ? error.code : 0;
  if (code === STREAM_NOT_FOUND)
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
