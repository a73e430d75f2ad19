/**
 * A key-value bucket whose entries vanish after the bucket's own TTL: per-key TTL does nothing on server 2.9. Made by the
 * first node that needs it, and made again when somebody deleted it. Values are JSON of one schema; others are ignored.
 */
import { JetStreamApiError } from "@nats-io/jetstream";
import { type KV, type KvEntry, Kvm } from "@nats-io/kv";
import type Type from "typebox";
import { Compile } from "typebox/compile";
import type { Clock } from "../lib/clock.ts";
import type { NatsClient } from "./nats/nats-client.ts";

/** Interval of checks that a watch has shown all that the bucket has. */
const CHECK_MS = 4_000;
export const STREAM_NOT_FOUND = 10059;
const WRONG_LAST_SEQUENCE: ReadonlySet<number> = new Set([10071, 10164]);

export interface BucketOptions {
  readonly nats: NatsClient;
  readonly name: string;
  readonly replicas: number;
  /** TTL of entries in a bucket that is made now. A bucket that exists keeps its own. */
  readonly ttlMs: number;
}

export interface OpenBucket {
  readonly kv: KV;
  readonly ttlMs: number;
}

export class TtlBucket {
  readonly #options: BucketOptions;
  #opened: Promise<OpenBucket> | undefined;
  #ttlMs: number;

  constructor(options: BucketOptions) {
    this.#options = options;
    this.#ttlMs = options.ttlMs;
  }

  /** TTL of the bucket as it was last opened; before that, of the one that would be made. */
  get ttlMs(): number {
    return this.#ttlMs;
  }

  /** Rejects when NATS cannot be used now. */
  async open(): Promise<OpenBucket> {
    this.#opened ??= this.#open();
    try {
      return await this.#opened;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** Call this after a failure: the bucket may have been deleted, so the next use opens it again. */
  forget(): void {
    this.#opened = undefined;
  }

  async #open(): Promise<OpenBucket> {
    const { nats, name, replicas, ttlMs } = this.#options;
    const kvm = new Kvm(nats.jetstream);
    // Direct reads are off: a server that is behind would answer with a former value.
    const kv = await kvm.create(name, { replicas, ttl: ttlMs, history: 1, allow_direct: false });
    const { ttl } = await kv.status();
    this.#ttlMs = ttl;
    return { kv, ttlMs: ttl };
  }
}

/** Whether the entry has another revision than the expected one. Any other error says nothing about it. */
export const isOtherRevision = (error: unknown): boolean =>
  error instanceof JetStreamApiError && WRONG_LAST_SEQUENCE.has(error.code);

/** Called with an entry that is no value of the bucket. */
export type OnMalformed = (entry: KvEntry) => void;

/** Undefined for an entry that was deleted, and for what is no value of the schema. */
export function entryReader<Schema extends Type.TSchema>(
  schema: Schema,
): (entry: KvEntry, onMalformed?: OnMalformed) => Type.Static<Schema> | undefined {
  const compiled = Compile(schema);
  return (entry, onMalformed) => {
    if (entry.operation !== "PUT") return undefined;
    const value = parse(entry);
    if (compiled.Check(value)) return value;
    onMalformed?.(entry);
    return undefined;
  };
}

/** Undefined for what is no JSON. */
function parse(entry: KvEntry): unknown {
  try {
    return entry.json();
  } catch {
    return undefined;
  }
}

/** What a bucket has now. */
export interface BucketContent {
  /** Entries in the order in which they were written. */
  readonly entries: readonly KvEntry[];
  /** The clock of NATS in epoch milliseconds, where it says it: 2.10 and later. */
  readonly time: number | undefined;
}

/**
 * Reads without making the bucket: where there is none, it has no entries. By single reads, each with a time-out: reading
 * them by a consumer was seen to hang once, for an unknown reason. Rejects when NATS cannot be used now.
 */
export async function readBucket({ jetstream, manager }: NatsClient, name: string): Promise<BucketContent> {
  const prefix = `$KV.${name}.`;
  try {
    const info = await manager.streams.info(`KV_${name}`, { subjects_filter: `${prefix}>` });
    const { state } = info;
    const keys = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(prefix.length));
    const kv = await new Kvm(jetstream).open(name, { allow_direct: false });
    const entries = await Promise.all(keys.map((key) => kv.get(key)));
    return {
      entries: entries.filter((entry) => entry !== null).sort((a, b) => a.revision - b.revision),
      // The types of the client lack it.
      time: "ts" in info && typeof info.ts === "string" ? Date.parse(info.ts) : undefined,
    };
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND)
      return { entries: [], time: undefined };
    throw error;
  }
}

export interface BucketWatchOptions {
  readonly clock: Clock;
  readonly pauseMs: number;
  readonly signal: AbortSignal;
  /** Called each time the bucket is watched from its beginning: it may be another one. */
  readonly onBegin?: () => void;
}

/** Every entry, and every change from then on, until `signal` aborts. Begins again after `pauseMs` when it is interrupted. */
export async function watchBucket(
  bucket: TtlBucket,
  onEntry: (entry: KvEntry, ttlMs: number) => void,
  { clock, pauseMs, signal, onBegin }: BucketWatchOptions,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { kv, ttlMs } = await bucket.open();
      const entries = await kv.watch();
      onBegin?.();
      const ended = new AbortController();
      const stop = () => entries.stop();
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      let seen = 0;
      const beginAgain = () => {
        bucket.forget();
        stop();
      };
      void checkWatch(kv, () => seen, beginAgain, clock, ended.signal);
      try {
        for await (const entry of entries) {
          seen = entry.revision;
          onEntry(entry, ttlMs);
        }
      } finally {
        ended.abort();
        signal.removeEventListener("abort", stop);
      }
    } catch {
      bucket.forget();
    }
    await clock.sleep(pauseMs, signal);
  }
}

/**
 * Ends a watch that lacks what the bucket had at the check before: what was sent on a connection that broke is lost, and the
 * client of NATS notices that only when another entry arrives. Also one of a bucket that was deleted: in the one that is made
 * in its place revisions begin again, and the client waits for a higher one.
 */
async function checkWatch(
  kv: KV,
  seen: () => number,
  beginAgain: () => void,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let last = 0;
  while (!signal.aborted) {
    await clock.sleep(CHECK_MS, signal);
    if (signal.aborted) return;
    if (last > seen()) return beginAgain();
    try {
      const { state } = (await kv.status()).streamInfo;
      if (state.last_seq < seen()) return beginAgain();
      // The last one of a bucket without entries is gone.
      last = state.messages > 0 ? state.last_seq : 0;
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND) return beginAgain();
      // Unanswered: the watch is checked again.
    }
  }
}
