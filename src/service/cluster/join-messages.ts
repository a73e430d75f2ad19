/**
 * Publishes the messages of a log that joins a cluster, at their places in its empty stream. A message that was not answered is
 * published again: its id lets NATS recognise it, for longer than all attempts take.
 */
import { randomUUID } from "node:crypto";
import { systemClock } from "../../lib/clock.ts";
import { withoutPauses } from "../../lib/steps.ts";
import type { LogStream } from "../../log/jetstream/log-stream.ts";
import { type EncodedMessage, encodeBatch, messageId } from "../../log/jetstream/messages.ts";
import type { Link } from "../../log/jetstream/position.ts";
import { StreamError } from "../../log/jetstream/stream-error.ts";
import type { RetryingLog } from "../../log/retrying-log.ts";

/** Messages on their way to the stream. */
const MAX_IN_FLIGHT = 64;
const MAX_ATTEMPTS = 10;
const RETRY_MS = 1_000;
/** In the messages of a join, in place of a node. */
export const JOIN = "join";

interface Placed {
  readonly message: EncodedMessage;
  /** The sequence of the message before it. */
  readonly expected: number;
}

/** Whether the stream has the message after `expected`: not when another one is there. Rejects with `StreamError`. */
export async function publishAt(stream: LogStream, { message, expected }: Placed): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { stored } = await stream.publish(message, expected);
      if (stored) return true;
      const there = await stream.message(expected + 1);
      return there !== undefined && messageId(there) === message.id;
    } catch (error) {
      const isUnanswered =
        error instanceof StreamError && ["unanswered", "unreachable"].includes(error.condition);
      if (!isUnanswered || attempt >= MAX_ATTEMPTS) throw error;
      await systemClock.sleep(RETRY_MS);
    }
  }
}

/** The batches of `local` after `base`. Returns the last message. */
export async function publishBatches(
  stream: LogStream,
  local: RetryingLog,
  oldest: number,
  base: Link,
): Promise<Link> {
  const writer = { log: local.id, key: local.signingKey, node: JOIN };
  let last = base;
  let batches: Placed[] = [];
  for (const batch of withoutPauses(local.read(oldest))) {
    const { signature } = last;
    for (const message of await encodeBatch(batch, writer, randomUUID(), signature, stream.maxPayload)) {
      batches.push({ message, expected: last.sequence });
      last = { sequence: last.sequence + 1, signature: message.signature };
    }
    if (batches.length < MAX_IN_FLIGHT) continue;
    await publishAll(stream, batches);
    batches = [];
  }
  await publishAll(stream, batches);
  return last;
}

async function publishAll(stream: LogStream, placed: readonly Placed[]): Promise<void> {
  const outcomes = await Promise.allSettled(
    placed.map(({ message, expected }) => stream.publish(message, expected)),
  );
  // One that did not arrive lets all after it be refused: these are published again one by one.
  const failed = outcomes.findIndex((outcome) => outcome.status === "rejected" || !outcome.value.stored);
  for (const each of failed < 0 ? [] : placed.slice(failed))
    if (!(await publishAt(stream, each)))
      throw new StreamError("unanswered", "another node writes to the stream; stop it first");
}
