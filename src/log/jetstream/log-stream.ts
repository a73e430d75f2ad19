/**
 * The stream of a cluster's log in NATS JetStream: publishes messages at an expected place, and follows the stream from a
 * sequence on. Says of every failure what it means for the log; decides nothing.
 */
import {
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import { errorMessage } from "../../lib/error-message.ts";
import type { Engine } from "../../nats/engine.ts";
import type { EncodedMessage, StreamMessage } from "./messages.ts";

const STREAM_NOT_FOUND = 10059;
const WRONG_LAST_SEQUENCE: ReadonlySet<number> = new Set([10071, 10164]);
const FULL: ReadonlySet<number> = new Set([10023, 10047, 10077]);
const NO_REPLICAS: ReadonlySet<number> = new Set([10005, 10074]);
/** Longer than any attempt to publish a batch again. */
const DUPLICATE_WINDOW_NS = 120e9;
const PUBLISH_TIMEOUT_MS = 3_000;
/** A message may be larger; nodes must have room for headers and for other limits of the account. */
const MAX_PAYLOAD_SHARE = 0.9;

export const STREAM_CONDITIONS = [
  "unreachable",
  "unanswered",
  "full",
  "deleted",
  "replaced",
  "replicas",
] as const;
export type StreamCondition = (typeof STREAM_CONDITIONS)[number];

/** The stream cannot be used now. The message is for the operator. */
export class StreamError extends Error {
  override readonly name = "StreamError";
  readonly condition: StreamCondition;

  constructor(condition: StreamCondition, message: string, options?: ErrorOptions) {
    super(message, options);
    this.condition = condition;
  }
}

export type PublishOutcome =
  | { readonly stored: true; readonly sequence: number }
  /** The stream has other messages than expected. Nothing is stored, or the message was already. */
  | { readonly stored: false; readonly lastSequence: number };

export interface StreamInfo {
  /** Tells one stream from another of the same name that was deleted. */
  readonly created: string;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly messages: number;
  readonly bytes: number;
  readonly replicas: number;
  /** Absent without a cluster of servers. */
  readonly leader?: string;
}

export interface LogStreamOptions {
  readonly stream: string;
  readonly subject: string;
  readonly replicas: number;
  readonly maxBytes?: number;
}

export class LogStream {
  readonly engine: Engine;
  readonly #options: LogStreamOptions;

  constructor(engine: Engine, options: LogStreamOptions) {
    this.engine = engine;
    this.#options = options;
  }

  /** Of the payload of a message. */
  get maxPayload(): number {
    return Math.floor((this.engine.connection.info?.max_payload ?? 1_048_576) * MAX_PAYLOAD_SHARE);
  }

  /** Creates the stream where it does not exist. Rejects with `StreamError`. */
  async ensure(): Promise<StreamInfo> {
    try {
      return await this.info();
    } catch (error) {
      if (!(error instanceof StreamError) || error.condition !== "deleted") throw error;
    }
    const { stream, subject, replicas, maxBytes } = this.#options;
    try {
      await this.engine.manager.streams.add({
        name: stream,
        subjects: [subject],
        num_replicas: replicas,
        retention: RetentionPolicy.Limits,
        storage: StorageType.File,
        // Nothing is deleted but what a snapshot has (see `purge`): a full stream refuses.
        discard: DiscardPolicy.New,
        duplicate_window: DUPLICATE_WINDOW_NS,
        allow_direct: true,
        ...(maxBytes !== undefined && { max_bytes: maxBytes }),
      });
    } catch (error) {
      throw this.#asStreamError(error);
    }
    return this.info();
  }

  async info(): Promise<StreamInfo> {
    try {
      const { created, state, config, cluster } = await this.engine.manager.streams.info(
        this.#options.stream,
      );
      return {
        created,
        firstSequence: state.first_seq,
        lastSequence: state.last_seq,
        messages: state.messages,
        bytes: state.bytes,
        replicas: config.num_replicas,
        ...(cluster?.leader !== undefined && { leader: cluster.leader }),
      };
    } catch (error) {
      throw this.#asStreamError(error);
    }
  }

  /** Stores the message if `expected` is the sequence of the last one; anywhere, where it is undefined. */
  async publish({ id, headers, data }: EncodedMessage, expected?: number): Promise<PublishOutcome> {
    try {
      const { seq } = await this.engine.jetstream.publish(this.#options.subject, data, {
        msgID: id,
        headers,
        timeout: PUBLISH_TIMEOUT_MS,
        retries: 0,
        ...(expected !== undefined && { expect: { lastSequence: expected } }),
      });
      return { stored: true, sequence: seq };
    } catch (error) {
      if (error instanceof JetStreamApiError && WRONG_LAST_SEQUENCE.has(error.code)) {
        const last = /(\d+)\s*$/.exec(error.message)?.[1];
        return { stored: false, lastSequence: last === undefined ? Number.NaN : Number(last) };
      }
      throw this.#asStreamError(error);
    }
  }

  /** One message; undefined when the stream does not have it. */
  async message(sequence: number): Promise<StreamMessage | undefined> {
    try {
      const stored = await this.engine.manager.streams.getMessage(this.#options.stream, { seq: sequence });
      return stored ? { sequence: stored.seq, headers: stored.header, data: stored.data } : undefined;
    } catch (error) {
      throw this.#asStreamError(error);
    }
  }

  /** Every message from `sequence` on, in order, until `signal` aborts. Throws `StreamError` when it cannot go on. */
  async *follow(sequence: number, signal: AbortSignal): AsyncGenerator<StreamMessage> {
    const { stream } = this.#options;
    try {
      const consumer = await this.engine.jetstream.consumers.get(stream, {
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: sequence,
      });
      const messages = await consumer.consume({ max_messages: 256, idle_heartbeat: 2_000 });
      const stop = () => messages.stop();
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      try {
        for await (const { seq, headers, data } of messages) yield { sequence: seq, headers, data };
      } finally {
        signal.removeEventListener("abort", stop);
        messages.stop();
      }
    } catch (error) {
      if (!signal.aborted) throw this.#asStreamError(error);
    }
  }

  /** Deletes the messages before `sequence`. */
  async purge(sequence: number): Promise<void> {
    try {
      await this.engine.manager.streams.purge(this.#options.stream, { seq: sequence });
    } catch (error) {
      throw this.#asStreamError(error);
    }
  }

  #asStreamError(error: unknown): StreamError {
    if (error instanceof StreamError) return error;
    const { stream, replicas } = this.#options;
    const why = errorMessage(error);
    const options = { cause: error };
    if (error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND)
      return new StreamError("deleted", `the stream ${stream} does not exist`, options);
    if (error instanceof JetStreamApiError && NO_REPLICAS.has(error.code))
      return new StreamError(
        "replicas",
        `NATS has too few servers for ${replicas} replicas (${why}); start more, or set cluster.replicas to their number`,
        options,
      );
    if (error instanceof JetStreamApiError && FULL.has(error.code))
      return new StreamError("full", `the stream ${stream} is full: ${why}`, options);
    if (this.engine.connection.isClosed() || !this.#isConnected())
      return new StreamError("unreachable", `NATS is unreachable: ${why}`, options);
    return new StreamError("unanswered", `the stream ${stream} does not answer: ${why}`, options);
  }

  #isConnected(): boolean {
    return this.engine.connection.info !== undefined && !this.engine.connection.isClosed();
  }
}
