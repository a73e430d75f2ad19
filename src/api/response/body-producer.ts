/**
 * Produces a large body on the scheduler for the user who requested it, one run of parts each time the consumer reads on.
 * Every body that is not completely in memory is produced here.
 */

import type { BodySource } from "../../http1/body-source.ts";
import { MAX_CHUNK_BYTES } from "../../http1/response-writer.ts";
import type { MemoryAccount } from "../../lib/memory-budget.ts";
import type { Scheduler } from "../../lib/scheduler.ts";
import type { Arriving, Steps } from "../../lib/steps.ts";
import { joinSmallParts } from "./chunks.ts";

/** The scheduler, the user and the memory account that a body is produced with. */
export interface ProducerScope {
  readonly scheduler: Scheduler;
  readonly owner: string;
  /** The memory account of the response. */
  readonly memory: MemoryAccount;
}

/** Number of bytes that a run renders, and that are reserved for a body that is produced while it is sent. */
export const CHUNK_BYTES = 128 * 1024;
/** Number of bytes in a run of parts that are in memory already. */
export const SHARED_RUN_BYTES = 1024 * 1024;
/** Number of bytes after which a run ends if it had to wait for a part, so that the client gets bytes meanwhile. */
const MIN_RUN_BYTES = 64 * 1024;

/** The next parts of a body, at least one; undefined at its end. */
type Produced = readonly Uint8Array[] | undefined;

export class BodyProducer {
  /** The owner on the scheduler. */
  readonly owner: string;
  readonly memory: MemoryAccount;
  readonly #scheduler: Scheduler;
  readonly #chunks: Iterator<Uint8Array | undefined | Promise<unknown>>;
  readonly #runBytes: number;
  /** The parts of this body that are copies and not elements of `chunks`. */
  readonly #copies = new WeakSet<Uint8Array>();
  /** Number of bytes of the first chunks that are already counted in the memory account, because they were made before. */
  #countedBytes: number;
  #closed = false;

  constructor(
    { scheduler, owner, memory }: ProducerScope,
    chunks: Arriving<Uint8Array>,
    countedBytes = 0,
    runBytes = CHUNK_BYTES,
  ) {
    this.owner = owner;
    this.memory = memory;
    this.#countedBytes = countedBytes;
    this.#runBytes = runBytes;
    this.#scheduler = scheduler;
    this.#chunks = chunks[Symbol.iterator]();
  }

  /** Whether the body is closed, so that it is not produced any further. */
  get aborted(): boolean {
    return this.#closed;
  }

  isCopy(chunk: Uint8Array): boolean {
    return this.#copies.has(chunk);
  }

  /** Produces the next run. Must be called only after the previous run is complete. */
  next(): Produced | Promise<Produced> {
    return this.#scheduler.run(this.owner, this.memory.paced(this.#nextRun()), this);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#chunks.return?.();
  }

  *#nextRun(): Steps<Produced> {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    let wanted = this.#runBytes;
    while (bytes < wanted) {
      const next = this.#chunks.next();
      if (next.done) break;
      if (!(next.value instanceof Uint8Array)) {
        if (next.value) wanted = MIN_RUN_BYTES;
        yield next.value;
        continue;
      }
      parts.push(next.value);
      bytes += next.value.length;
    }
    const handedOver = Math.min(bytes, this.#countedBytes);
    this.#countedBytes -= handedOver;
    if (handedOver > 0) this.memory.add(-handedOver);
    return parts.length === 0 ? undefined : joinSmallParts(parts, this.#copies);
  }
}

const NO_PARTS: readonly Uint8Array[] = [];

/** A body that is sent as it is produced. At most one run is ready before the socket accepts it. */
export class ProducedBody implements BodySource {
  readonly noTimeout = false;
  readonly #producer: BodyProducer;
  #parts = NO_PARTS;
  /** The index of the next part. */
  #at = 0;
  #hasEnded = false;
  #isProducing = false;
  #error: { readonly cause: unknown } | undefined;
  #onReadable = () => {};

  constructor(producer: BodyProducer) {
    this.#producer = producer;
  }

  open(onReadable: () => void): void {
    this.#onReadable = onReadable;
  }

  next(): Uint8Array | "wait" | "end" {
    if (this.#error) throw this.#error.cause;
    if (this.#at === this.#parts.length && !this.#hasEnded && !this.#isProducing) this.#produce();
    const part = this.#parts[this.#at];
    if (!part) return this.#hasEnded ? "end" : "wait";
    this.#at++;
    return part;
  }

  close(): void {
    this.#producer.close();
  }

  #produce(): void {
    this.#parts = NO_PARTS;
    this.#at = 0;
    const produced = this.#producer.next();
    if (!(produced instanceof Promise)) {
      this.#take(produced);
      return;
    }
    this.#isProducing = true;
    produced.then(
      (parts) => this.#onProduced(parts),
      (cause: unknown) => {
        this.#error = { cause };
        this.#onProduced(NO_PARTS);
      },
    );
  }

  #onProduced(parts: Produced): void {
    this.#isProducing = false;
    this.#take(parts);
    if (!this.#producer.aborted) this.#onReadable();
  }

  #take(parts: Produced): void {
    this.#parts = parts ?? NO_PARTS;
    this.#hasEnded = parts === undefined;
  }
}

export class AccountedBody implements BodySource {
  readonly noTimeout: boolean;
  readonly #source: BodySource;
  readonly #memory: MemoryAccount;
  readonly #isOwn: (chunk: Uint8Array) => boolean;
  /** Number of bytes that the socket may not have accepted yet. */
  #queuedBytes = 0;
  /** Number of those queued bytes that are in memory because of this body alone. */
  #ownBytes = 0;
  /** Whether the writer calls `next` again only when the socket has accepted all queued bytes. */
  #isQueueComplete = false;

  /** `isOwn` returns false for a chunk that would be in memory without this body too. Such a chunk is not counted. */
  constructor(source: BodySource, memory: MemoryAccount, isOwn: (chunk: Uint8Array) => boolean = () => true) {
    this.#source = source;
    this.#memory = memory;
    this.#isOwn = isOwn;
    this.noTimeout = source.noTimeout;
  }

  open(onReadable: () => void): void {
    this.#source.open(onReadable);
  }

  next(): Uint8Array | "wait" | "end" {
    if (this.#isQueueComplete) this.#onQueueSent();
    const chunk = this.#source.next();
    if (typeof chunk !== "string") this.#count(chunk);
    this.#isQueueComplete = typeof chunk === "string" || this.#queuedBytes >= MAX_CHUNK_BYTES;
    return chunk;
  }

  #count(chunk: Uint8Array): void {
    this.#queuedBytes += chunk.length;
    if (!this.#isOwn(chunk)) return;
    this.#ownBytes += chunk.length;
    this.#memory.add(chunk.length);
  }

  #onQueueSent(): void {
    if (this.#ownBytes > 0) this.#memory.add(-this.#ownBytes);
    this.#ownBytes = 0;
    this.#queuedBytes = 0;
  }

  close(): void {
    this.#source.close();
    this.#memory.release();
  }
}
