/**
 * The stream of a cluster's log in NATS JetStream: publishes messages at an expected sequence, and follows the stream from a
 * sequence on. Translates every failure into a `StreamError`; the callers decide what to do about it.
 */
import {
  DeliverPolicy,
  DiscardPolicy,
  JetStreamError,
  type PeerInfo,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import type { MsgHdrs } from "@nats-io/transport-node";
import type { NatsClient } from "../../cluster/nats/nats-client.ts";
import { isOtherSequence, jetStreamCode, type NatsCluster } from "../../cluster/nats/nats-cluster.ts";
import { asStreamError, checkConnected } from "./as-stream-error.ts";
import type { EncodedMessage, MessageHeaders, StreamMessage } from "./messages.ts";
import { StreamError } from "./stream-error.ts";

/** Time in which NATS recognises a message id again. It is longer than the attempts to publish a batch take. */
const DUPLICATE_WINDOW_NS = 120e9;
const PUBLISH_TIMEOUT_MS = 3_000;
/** Time without contact after which a server counts as offline. The servers of a stream contact each other every second. */
const OFFLINE_AFTER_MS = 5_000;
const CONSUMER_NOT_FOUND = 10014;
const CONSUMER_DELETED = 409;
/** Status events of the client that mean that the sending server is gone. */
const MISSED: ReadonlySet<string> = new Set(["heartbeats_missed", "no_responders"]);
/** Bytes reserved for the headers of a message, which count towards the payload limit of NATS. */
const MAX_HEADER_BYTES = 1024;

export type PublishOutcome =
  | { readonly stored: true; readonly sequence: number }
  /** The last message of the stream is not the expected one. Nothing was stored now; an earlier attempt may have been. */
  | { readonly stored: false };

export interface StreamInfo {
  /** The time of creation, which distinguishes the stream from a deleted one of the same name. */
  readonly created: string;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly messages: number;
  readonly bytes: number;
  readonly replicas: number;
  /** Maximum size of the stream; absent where only the account has a limit. */
  readonly maxBytes?: number;
  /** The server that decides the order; absent while there is none. */
  readonly leader?: string;
  /** The other servers that store the stream. */
  readonly followers: readonly StreamFollower[];
}

export interface StreamFollower {
  readonly name: string;
  readonly isCurrent: boolean;
  readonly isOffline: boolean;
  /** Time since the leader last had contact with it; 0 where there was none since it became the leader. */
  readonly silentMs: number;
  /** Number of operations that it is behind the leader. */
  readonly lag: number;
}

/** Numbers of servers that store the stream. */
export interface ReplicaCounts {
  readonly configured: number;
  /** Number of servers that have the whole stream, with the leader; 0 while the stream does not answer. */
  readonly current: number;
}

export class LogStream {
  readonly nats: NatsClient;
  readonly #cluster: Pick<NatsCluster, "nats" | "names" | "replicas">;
  /** The name of the stream. */
  readonly #name: string;
  /** The limit of the last connected server. It is kept because the client does not know it while no server is connected. */
  #maxPayload: number | undefined;
  #replicas: ReplicaCounts;

  constructor(cluster: Pick<NatsCluster, "nats" | "names" | "replicas">) {
    this.nats = cluster.nats;
    this.#cluster = cluster;
    this.#name = cluster.names.stream;
    this.#replicas = { configured: cluster.replicas, current: 0 };
  }

  /** Numbers of servers that stored the stream at the last answer to `info`. */
  get replicas(): ReplicaCounts {
    return this.#replicas;
  }

  /** Maximum payload of a message, in bytes. Throws until `info` has been answered once. */
  get maxPayload(): number {
    this.#rememberMaxPayload();
    if (this.#maxPayload === undefined)
      throw new Error("the largest message is not known: no answer of the stream was read yet");
    return this.#maxPayload - MAX_HEADER_BYTES;
  }

  #rememberMaxPayload(): void {
    this.#maxPayload = this.nats.connection.info?.max_payload ?? this.#maxPayload;
  }

  /** Creates the stream where it does not exist. Rejects with `StreamError`. */
  async ensure(): Promise<{ readonly info: StreamInfo; readonly isNew: boolean }> {
    try {
      return { info: await this.info(), isNew: false };
    } catch (error) {
      if (!(error instanceof StreamError) || error.condition !== "deleted") throw error;
    }
    const { names, replicas } = this.#cluster;
    try {
      await this.nats.manager.streams.add({
        name: names.stream,
        subjects: [names.subject],
        num_replicas: replicas,
        retention: RetentionPolicy.Limits,
        storage: StorageType.File,
        // A full stream refuses new messages. Only `purge` deletes messages, and only those that a snapshot covers.
        discard: DiscardPolicy.New,
        duplicate_window: DUPLICATE_WINDOW_NS,
        allow_direct: true,
      });
    } catch (error) {
      throw this.#asStreamError(error);
    }
    return { info: await this.info(), isNew: true };
  }

  /** Whether the stream exists and has a message. Does not create the stream. Rejects with `StreamError`. */
  async hasMessages(): Promise<boolean> {
    try {
      return (await this.info()).lastSequence > 0;
    } catch (error) {
      if (error instanceof StreamError && error.condition === "deleted") return false;
      throw error;
    }
  }

  async info(): Promise<StreamInfo> {
    try {
      const info = await this.#info();
      // A single server without followers may not report a leader.
      const leaders = info.leader !== undefined || info.followers.length === 0 ? 1 : 0;
      const current = leaders + info.followers.filter(({ isCurrent }) => isCurrent).length;
      this.#replicas = { configured: info.replicas, current };
      return info;
    } catch (error) {
      this.#replicas = { ...this.#replicas, current: 0 };
      throw this.#asStreamError(error);
    }
  }

  async #info(): Promise<StreamInfo> {
    checkConnected(this.nats);
    this.#rememberMaxPayload();
    const { created, state, config, cluster } = await this.nats.manager.streams.info(this.#name);
    const connectedServer = this.nats.connection.info?.server_name;
    return {
      created,
      firstSequence: state.first_seq,
      lastSequence: state.last_seq,
      messages: state.messages,
      bytes: state.bytes,
      replicas: config.num_replicas,
      ...(config.max_bytes > 0 && { maxBytes: config.max_bytes }),
      ...(cluster?.leader !== undefined && { leader: cluster.leader }),
      followers: (cluster?.replicas ?? []).map((peer) => followerOf(peer, connectedServer)),
    };
  }

  /** Whether the stream has every message after this one: none was purged or deleted. Rejects with `StreamError`. */
  async hasAllAfter(sequence: number, info: StreamInfo): Promise<boolean> {
    const { firstSequence, lastSequence, messages } = info;
    if (sequence + 1 < firstSequence) return false;
    if (messages === lastSequence - firstSequence + 1) return true;
    try {
      const details = { deleted_details: true };
      const { state } = await this.nats.manager.streams.info(this.#name, details);
      return (state.deleted ?? []).every((deleted) => deleted <= sequence);
    } catch (error) {
      throw this.#asStreamError(error);
    }
  }

  /** Stores the message if `expected` is the sequence of the last one. If it is undefined, stores the message at any sequence. */
  async publish({ id, headers, data }: EncodedMessage, expected?: number): Promise<PublishOutcome> {
    checkConnected(this.nats);
    try {
      const { seq } = await this.nats.jetstream.publish(this.#cluster.names.subject, data, {
        msgID: id,
        headers,
        timeout: PUBLISH_TIMEOUT_MS,
        retries: 0,
        ...(expected !== undefined && { expect: { lastSequence: expected } }),
      });
      return { stored: true, sequence: seq };
    } catch (error) {
      if (isOtherSequence(error)) return { stored: false };
      throw this.#asStreamError(error);
    }
  }

  /** Reads one message; undefined when the stream does not have it. */
  async message(sequence: number): Promise<StreamMessage | undefined> {
    try {
      const stored = await this.nats.manager.streams.getMessage(this.#name, { seq: sequence });
      if (!stored) return undefined;
      return { sequence: stored.seq, headers: readHeaders(() => stored.header), data: stored.data };
    } catch (error) {
      throw this.#asStreamError(error);
    }
  }

  /** Reads the messages from `from` up to but not including `end`, one by one. Skips those that the stream does not have. */
  async *messages(from: number, end: number): AsyncGenerator<StreamMessage> {
    for (let sequence = from; sequence < end; sequence++) {
      const message = await this.message(sequence);
      if (message) yield message;
    }
  }

  /**
   * Yields every message from `sequence` on, in order, until `signal` aborts or the sending server is gone. The generator then
   * ends, because the consumer that the client itself would create anew gets only one message and then waits. Throws
   * `StreamError` when it cannot go on.
   */
  async *follow(sequence: number, signal: AbortSignal): AsyncGenerator<StreamMessage> {
    try {
      const consumer = await this.nats.jetstream.consumers.get(this.#name, {
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: sequence,
      });
      const messages = await consumer.consume({
        max_messages: 256,
        idle_heartbeat: 2_000,
        abort_on_missing_resource: true,
      });
      const stop = () => messages.stop();
      void (async () => {
        for await (const { type } of messages.status()) if (MISSED.has(type)) stop();
      })();
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      try {
        for await (const message of messages)
          yield {
            sequence: message.seq,
            headers: readHeaders(() => message.headers),
            data: message.data,
          };
      } finally {
        signal.removeEventListener("abort", stop);
        messages.stop();
      }
    } catch (error) {
      if (!signal.aborted && !isConsumerGone(error)) throw this.#asStreamError(error);
    }
  }

  /** Deletes the messages before `sequence`. */
  async purge(sequence: number): Promise<void> {
    try {
      await this.nats.manager.streams.purge(this.#name, { seq: sequence });
    } catch (error) {
      throw this.#asStreamError(error);
    }
  }

  #asStreamError(error: unknown): StreamError {
    return asStreamError(error, this.#cluster, this.#name);
  }
}

function followerOf(
  { name, current, offline, active, lag }: PeerInfo,
  connectedServer: string | undefined,
): StreamFollower {
  // While there is no leader, the answering server lists itself as well, with a meaningless time since the last contact.
  const silentMs = name === connectedServer ? 0 : active / 1e6;
  // NATS reports `offline` late or not at all: 2.9 reports it only for servers that were stopped in order.
  const isOffline = offline === true || silentMs > OFFLINE_AFTER_MS;
  return { name, isCurrent: current && !isOffline, isOffline, silentMs, lag: lag ?? 0 };
}

const isConsumerGone = (error: unknown): boolean =>
  jetStreamCode(error) === CONSUMER_NOT_FOUND ||
  (error instanceof JetStreamError && "code" in error && error.code === CONSUMER_DELETED);

/** Reads headers; undefined where the client throws at a name that only other clients write. Such a message is foreign. */
function readHeaders(read: () => MsgHdrs | undefined): MessageHeaders | undefined {
  try {
    const headers = read();
    return headers && new Map(Array.from(headers, ([name, [value = ""]]) => [name, value]));
  } catch {
    return undefined;
  }
}
