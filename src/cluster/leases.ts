/**
 * Leases: each names the node that runs a source. A lease is a key in a bucket. A node creates it where there is none, renews
 * it by its revision, and deletes it at an orderly stop; otherwise NATS removes it after the TTL of the bucket.
 *
 * - The lease outlasts a fail-over of NATS (8–12 s without a leader). A node that could not renew it in time gives it
 *   up by its own clock, before NATS removes it.
 * - A node that waits for a lease watches the bucket, and tries to create the lease once it is deleted or was not renewed for
 *   a TTL. Only the write by revision decides who gets it; the watch is a hint.
 * - A restarted node takes the leases of its own previous run, and of no other run, because two nodes may have one name.
 * - A node whose clock is wrong, or that cannot write its log for longer than a TTL, gives its leases up and waits like others.
 * - A lease alone is no protection, because a paused node does not know that it has lost one. The log refuses its writes,
 *   because the new holder has appended a takeover there.
 */
import Type from "typebox";
import { aborted, orAborted } from "../lib/aborted.ts";
import type { Clock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import type { Logger } from "../lib/logger.ts";
import { entryReader, type OpenBucket, readBucket, TtlBucket, watchBucket } from "./bucket.ts";
import type { ClockCheck } from "./clock-check.ts";
import { isOtherSequence, type NatsCluster } from "./nats/nats-cluster.ts";

/** TTL of leases in a newly made bucket. All intervals below are derived from the TTL of the existing bucket. */
export const TTL_MS = 16_000;
/** Wait per source that a node already runs before it takes a free lease, so that nodes with fewer sources take it first. */
const PRECEDENCE_MS = 100;
const MAX_PRECEDENCE_MS = 1_000;
export const renewAfterMs = (ttlMs: number): number => ttlMs / 8;
export const retryAfterMs = (ttlMs: number): number => ttlMs / 32;
/** Safety margin, because the clocks of this machine and of the server may run at slightly different speeds. */
export const marginMs = (ttlMs: number): number => ttlMs / 32;
export const attemptTimeoutMs = (ttlMs: number): number => Math.max(250, ttlMs / 16);

const LeaseValue = Type.Object({
  source: Type.String(),
  /** Name of the run of the node. */
  node: Type.String(),
  nodeName: Type.String(),
});
export type LeaseValue = Readonly<Type.Static<typeof LeaseValue>>;
const readLease = entryReader("leases", LeaseValue);

/** The key of a source. It is encoded, because a source may have any name and a key may not. */
const keyOf = (source: string): string => Buffer.from(source).toString("base64url");

export interface LeasesOptions {
  readonly cluster: NatsCluster;
  readonly node: string;
  /** The previous run of this node, which has ended, so that its leases are taken without waiting. */
  readonly previousNode?: string | undefined;
  readonly nodeName: string;
  readonly writes: WatchedWrites;
  readonly clockCheck?: Pick<ClockCheck, "onChange">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Reads all leases, ordered by source, to show them to operators. Rejects when NATS cannot be used now. */
export async function readLeases(cluster: NatsCluster): Promise<LeaseValue[]> {
  const { entries } = await readBucket(cluster, "leases");
  return entries.flatMap((entry) => readLease(entry) ?? []).sort((a, b) => (a.source < b.source ? -1 : 1));
}

/** A lease that this node holds. */
export interface Lease {
  /** Aborts when the lease is lost or given up. */
  readonly ended: AbortSignal;
  /** Whether the lease is valid by the clock. This is correct also just after the process was paused. */
  isValid(): boolean;
  /** Deletes the lease, so that another node can take it at once. */
  release(): Promise<void>;
}

interface Seen {
  readonly lease: LeaseValue;
  /** The monotonic time from which the lease may be free. After `goneAt` it has expired, unless it is seen again. */
  readonly tryAt: number;
  readonly goneAt: number;
}

export class Leases {
  readonly #options: LeasesOptions;
  readonly #bucket: TtlBucket;
  readonly #outages: WriteOutages;
  readonly #seen = new Map<string, Seen>();
  readonly #waiting = new Set<() => void>();

  constructor(options: LeasesOptions) {
    const { cluster, writes, clockCheck, clock, logger } = options;
    this.#options = options;
    this.#outages = new WriteOutages({ writes, clockCheck, ttlMs: () => this.ttlMs, clock, logger });
    this.#bucket = new TtlBucket(cluster, "leases", TTL_MS);
  }

  /** TTL of leases in the bucket, as far as known. */
  get ttlMs(): number {
    return this.#bucket.ttlMs;
  }

  /** The node that holds the lease of a source, as it was last seen. */
  holderOf(source: string): LeaseValue | undefined {
    const seen = this.#seen.get(keyOf(source));
    return seen && seen.goneAt > this.#options.clock.monotonic() ? seen.lease : undefined;
  }

  /** The sources whose leases this node holds, as they were last seen. */
  get held(): string[] {
    return [...this.#seen.values()]
      .map(({ lease }) => lease.source)
      .filter((source) => this.holderOf(source)?.node === this.#options.node)
      .sort();
  }

  /** Watches the bucket until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, cluster } = this.#options;
    const onEntry: Parameters<typeof watchBucket>[1] = (entry, ttlMs) => {
      const lease = readLease(entry, cluster.foreign);
      if (!lease) {
        this.#seen.delete(entry.key);
        this.#wake();
        return;
      }
      // The age of an entry is unknown when it is seen for the first time.
      const isRenewal = this.#seen.has(entry.key);
      const now = clock.monotonic();
      const tryAt = now + (isRenewal ? ttlMs : retryAfterMs(ttlMs));
      this.#seen.set(entry.key, { lease, tryAt, goneAt: now + ttlMs });
    };
    await watchBucket(this.#bucket, onEntry, { clock, pauseMs: retryAfterMs(TTL_MS), signal });
  }

  /**
   * Waits until this node holds the lease. `onWait` is called when another node holds it, NATS does not answer, or this node
   * cannot write. Resolves to undefined when `signal` aborts.
   */
  async acquire(source: string, signal: AbortSignal, onWait: () => void): Promise<Lease | undefined> {
    const { clock, logger } = this.#options;
    let hasFailed = false;
    while (!signal.aborted) {
      if (this.#outages.begun.aborted) {
        onWait();
        await this.#outages.untilOver(signal);
        continue;
      }
      try {
        const lease = await this.#tryToAcquire(source);
        if (lease) return lease;
        hasFailed = false;
        onWait();
        await this.#untilMaybeFree(source, signal);
        const waitMs = Math.min(this.held.length * PRECEDENCE_MS, MAX_PRECEDENCE_MS);
        if (waitMs > 0) await clock.sleep(waitMs, signal);
      } catch (error) {
        this.#bucket.forget();
        onWait();
        if (!hasFailed)
          logger.warn("waiting for the lease of a source", { source, why: errorMessage(error) });
        hasFailed = true;
        await clock.sleep(retryAfterMs(this.ttlMs), signal);
      }
    }
    return undefined;
  }

  async #tryToAcquire(source: string): Promise<Lease | undefined> {
    const { clock, node, previousNode, nodeName } = this.#options;
    const outage = this.#outages.begun;
    const bucket = await this.#bucket.open();
    const key = keyOf(source);
    const value = JSON.stringify({ source, node, nodeName } satisfies LeaseValue);
    let sentAt = clock.monotonic();
    let revision: number;
    try {
      revision = await bucket.kv.create(key, value);
    } catch (error) {
      if (!isOtherSequence(error)) throw error;
      const entry = await bucket.kv.get(key);
      const lease = entry && readLease(entry);
      if (entry?.operation === "PUT" && !lease) throw new Error("in its place is something else");
      const isOwn = lease && (lease.node === node || lease.node === previousNode);
      if (lease && !isOwn) {
        const now = clock.monotonic();
        const tryAt = Math.max(this.#seen.get(key)?.tryAt ?? 0, now + retryAfterMs(bucket.ttlMs));
        this.#seen.set(key, { lease, tryAt, goneAt: now + bucket.ttlMs });
      }
      if (!isOwn) return undefined;
      // The entry was written by the previous run, or by an earlier attempt whose answer was lost.
      sentAt = clock.monotonic();
      revision = await bucket.kv.update(key, value, entry?.revision ?? 0);
    }
    return new HeldLease({ bucket, key, value, node, clock, revision, sentAt, outage });
  }

  async #untilMaybeFree(source: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const key = keyOf(source);
    for (;;) {
      const seen = this.#seen.get(key);
      if (signal.aborted || !seen || seen.tryAt <= clock.monotonic()) return;
      await this.#change(Math.min(seen.tryAt - clock.monotonic(), renewAfterMs(this.ttlMs)), signal);
    }
  }

  /** Resolves when a lease is deleted, after `ms` at the latest. */
  async #change(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const wake = () => woken.abort();
    this.#waiting.add(wake);
    signal.addEventListener("abort", wake, { once: true });
    await this.#options.clock.sleep(signal.aborted ? 0 : ms, woken.signal);
    signal.removeEventListener("abort", wake);
    this.#waiting.delete(wake);
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}

interface HeldOptions {
  readonly bucket: OpenBucket;
  readonly key: string;
  readonly value: string;
  readonly node: string;
  readonly clock: Clock;
  readonly revision: number;
  /** The monotonic time at which the write that acquired the lease was sent. For NATS the TTL begins later. */
  readonly sentAt: number;
  /** Signal that this node cannot write, so that it must give the lease up. */
  readonly outage: AbortSignal;
}

class HeldLease implements Lease {
  readonly #options: HeldOptions;
  readonly #end = new AbortController();
  readonly #renewing: Promise<void>;
  #revision: number;
  #validUntil: number;

  constructor(options: HeldOptions) {
    this.#options = options;
    this.#revision = options.revision;
    this.#validUntil = this.#validFrom(options.sentAt);
    this.#renewing = this.#renew();
    void this.#expire();
    const { outage } = options;
    outage.addEventListener("abort", () => void this.release(), { once: true, signal: this.ended });
    if (outage.aborted) void this.release();
  }

  get ended(): AbortSignal {
    return this.#end.signal;
  }

  isValid(): boolean {
    return !this.ended.aborted && this.#options.clock.monotonic() < this.#validUntil;
  }

  async release(): Promise<void> {
    const { bucket, key } = this.#options;
    const wasValid = this.isValid();
    this.#end.abort();
    await this.#renewing;
    // If the delete fails, the lease expires by its TTL.
    if (wasValid) await bucket.kv.delete(key, { previousSeq: this.#revision }).catch(() => {});
  }

  #validFrom(sentAt: number): number {
    const { ttlMs } = this.#options.bucket;
    return sentAt + ttlMs - marginMs(ttlMs);
  }

  async #expire(): Promise<void> {
    const { clock } = this.#options;
    while (this.isValid()) await clock.sleep(this.#validUntil - clock.monotonic(), this.ended);
    this.#end.abort();
  }

  async #renew(): Promise<void> {
    const { clock, bucket } = this.#options;
    let pauseMs = renewAfterMs(bucket.ttlMs);
    for (;;) {
      await clock.sleep(pauseMs, this.ended);
      if (!this.isValid()) return;
      const outcome = await this.#tryToRenew();
      if (outcome === "lost") this.#end.abort();
      pauseMs = outcome === "renewed" ? renewAfterMs(bucket.ttlMs) : retryAfterMs(bucket.ttlMs);
    }
  }

  async #tryToRenew(): Promise<"renewed" | "failed" | "lost"> {
    const { clock, bucket, key, value, node } = this.#options;
    const sentAt = clock.monotonic();
    try {
      this.#revision = await bucket.kv.update(key, value, this.#revision, attemptTimeoutMs(bucket.ttlMs));
      this.#validUntil = this.#validFrom(sentAt);
      return "renewed";
    } catch (error) {
      if (!isOtherSequence(error)) return "failed";
    }
    try {
      const entry = await bucket.kv.get(key);
      if (!entry && this.isValid()) return await this.#makeAgain();
      if (!entry || readLease(entry)?.node !== node) return "lost";
      // An earlier renewal was stored and its answer lost. Its time is unknown, so the lease is renewed again.
      this.#revision = entry.revision;
      return "failed";
    } catch {
      return "failed";
    }
  }

  /** Creates the lease again where the entry is missing too early: server 2.9 may not find its entries after a fail-over. */
  async #makeAgain(): Promise<"renewed"> {
    const { clock, bucket, key, value } = this.#options;
    const sentAt = clock.monotonic();
    this.#revision = await bucket.kv.create(key, value);
    this.#validUntil = this.#validFrom(sentAt);
    return "renewed";
  }
}

/** The log of this node, whose failing writes cause an outage. */
export interface WatchedWrites {
  /** Adds a listener that is called with true when writes begin to fail, and with false when they succeed again. */
  onWriteFailing(listener: (isFailing: boolean) => void): void;
}

type Cause = "writes" | "clock";

export interface WriteOutagesOptions {
  readonly writes: WatchedWrites;
  readonly clockCheck?: Pick<ClockCheck, "onChange"> | undefined;
  /** TTL of a lease. */
  readonly ttlMs: () => number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Outages during which this node cannot store changes, for example because its disk is full. Only a failure that lasts longer
 * than the TTL of a lease is an outage, so that a short one does not move sources. It ends with the next successful write. A
 * wrong clock is an outage at once, because this node must not write then.
 */
export class WriteOutages {
  readonly #options: WriteOutagesOptions;
  readonly #causes = new Set<Cause>();
  #begun = new AbortController();
  #ended = new AbortController();
  /** The current failure of writes. It is aborted when writes succeed again. */
  #failing = new AbortController();

  constructor(options: WriteOutagesOptions) {
    this.#options = options;
    options.writes.onWriteFailing((isFailing) => {
      this.#failing.abort();
      if (isFailing) void this.#onFailing();
      else this.#end("writes");
    });
    options.clockCheck?.onChange((state) => {
      if (state === "wrong") this.#begin("clock");
      else this.#end("clock");
    });
  }

  /** Aborts when an outage begins; the outage after that has another signal. */
  get begun(): AbortSignal {
    return this.#begun.signal;
  }

  /** Resolves when this node can write again, and when `signal` aborts. */
  async untilOver(signal: AbortSignal): Promise<void> {
    while (this.begun.aborted && !signal.aborted) await orAborted(aborted(this.#ended.signal), signal);
  }

  async #onFailing(): Promise<void> {
    const { ttlMs, clock, logger } = this.#options;
    this.#failing = new AbortController();
    const { signal } = this.#failing;
    await clock.sleep(ttlMs(), signal);
    if (signal.aborted) return;
    logger.warn("this node cannot write its log: it leaves its sources to other nodes until it can");
    this.#begin("writes");
  }

  #begin(cause: Cause): void {
    if (this.#causes.size === 0) this.#ended = new AbortController();
    this.#causes.add(cause);
    this.#begun.abort();
  }

  #end(cause: Cause): void {
    if (!this.#causes.delete(cause) || this.#causes.size > 0) return;
    this.#begun = new AbortController();
    this.#ended.abort();
  }
}
