/**
 * A key-value bucket whose entries expire after the TTL of the bucket, because server 2.9 ignores a TTL per key. The first node
 * that needs the bucket makes it, and makes it again if it was deleted. Values are JSON of one schema; others are ignored.
 */
import { type KV, type KvEntry, Kvm } from "@nats-io/kv";
import type Type from "typebox";
import { Compile } from "typebox/compile";
import type { Clock } from "../lib/clock.ts";
import {
  type BucketPlace,
  type ForeignMessages,
  isStreamMissing,
  type NatsCluster,
} from "./nats/nats-cluster.ts";

/** Interval of the checks that a watch has delivered all entries of the bucket. */
const CHECK_MS = 4_000;

/** The parts of a cluster that its buckets need. */
export type BucketsOfCluster = Pick<NatsCluster, "nats" | "names" | "replicas">;

export interface OpenBucket {
  readonly kv: KV;
  readonly ttlMs: number;
}

export class TtlBucket {
  readonly #cluster: BucketsOfCluster;
  readonly #place: BucketPlace;
  readonly #newTtlMs: number;
  #opened: Promise<OpenBucket> | undefined;
  #ttlMs: number;

  /** `newTtlMs` is the TTL of entries in a newly made bucket. An existing bucket keeps its own. */
  constructor(cluster: BucketsOfCluster, place: BucketPlace, newTtlMs: number) {
    this.#cluster = cluster;
    this.#place = place;
    this.#newTtlMs = newTtlMs;
    this.#ttlMs = newTtlMs;
  }

  /** TTL of the bucket when it was last opened; before that, the TTL that a new bucket would get. */
  get ttlMs(): number {
    return this.#ttlMs;
  }

  /** Opens the bucket, and makes it if it does not exist. Rejects when NATS cannot be used now. */
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
    const { nats, names, replicas } = this.#cluster;
    const kvm = new Kvm(nats.jetstream);
    // Direct reads are off, because a server that is behind would answer with an old value.
    const settings = { replicas, ttl: this.#newTtlMs, history: 1, allow_direct: false };
    const kv = await kvm.create(names[this.#place], settings);
    const { ttl } = await kv.status();
    this.#ttlMs = ttl;
    return { kv, ttlMs: ttl };
  }
}

/**
 * Creates a function that reads an entry: undefined for a deleted entry, and for one that does not match the schema, which is
 * counted in `foreign`.
 */
export function entryReader<Schema extends Type.TSchema>(
  place: BucketPlace,
  schema: Schema,
): (entry: KvEntry, foreign?: ForeignMessages) => Type.Static<Schema> | undefined {
  const compiled = Compile(schema);
  return (entry, foreign) => {
    if (entry.operation !== "PUT") return undefined;
    const value = parse(entry);
    if (compiled.Check(value)) return value;
    foreign?.countEntry(place, entry);
    return undefined;
  };
}

/** Parses the JSON of an entry; undefined where it is malformed. */
function parse(entry: KvEntry): unknown {
  try {
    return entry.json();
  } catch {
    return undefined;
  }
}

/** The current content of a bucket. */
export interface BucketContent {
  /** Entries in the order in which they were written. */
  readonly entries: readonly KvEntry[];
  /** The time of NATS in epoch milliseconds; undefined on servers before 2.10, which do not report it. */
  readonly time: number | undefined;
}

/**
 * Reads all entries without making the bucket; a missing bucket has no entries. Reads each entry by itself, with a timeout,
 * because reading by a consumer was once seen to hang for an unknown reason. Rejects when NATS cannot be used now.
 */
export async function readBucket(
  { nats: { jetstream, manager }, names }: Pick<NatsCluster, "nats" | "names">,
  place: BucketPlace,
): Promise<BucketContent> {
  const name = names[place];
  const prefix = `$KV.${name}.`;
  try {
    const info = await manager.streams.info(`KV_${name}`, { subjects_filter: `${prefix}>` });
    const { state } = info;
    const keys = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(prefix.length));
    const kv = await new Kvm(jetstream).open(name, { allow_direct: false });
    const entries = await Promise.all(keys.map((key) => kv.get(key)));
    return {
      entries: entries.filter((entry) => entry !== null).sort((a, b) => a.revision - b.revision),
      // The types of the client lack `ts`.
      time: "ts" in info && typeof info.ts === "string" ? Date.parse(info.ts) : undefined,
    };
  } catch (error) {
    if (isStreamMissing(error)) return { entries: [], time: undefined };
    throw error;
  }
}

export interface BucketWatchOptions {
  readonly clock: Clock;
  readonly pauseMs: number;
  readonly signal: AbortSignal;
  /** Callback for each time the watch starts from the beginning. The bucket may be another one than before. */
  readonly onBegin?: () => void;
}

/** Delivers every entry and every later change, until `signal` aborts. Begins again `pauseMs` after an interruption. */
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
 * Restarts a watch that has not delivered an entry which the bucket had at the check before. Entries sent on a broken connection
 * are lost, and the client of NATS notices that only when another entry arrives. Also restarts the watch of a deleted bucket:
 * in the bucket made in its place revisions begin again, and the client would wait for a higher one.
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
      // In an empty bucket the entry with the last sequence no longer exists.
      last = state.messages > 0 ? state.last_seq : 0;
    } catch (error) {
      if (isStreamMissing(error)) return beginAgain();
      // A check without an answer is repeated.
    }
  }
}
