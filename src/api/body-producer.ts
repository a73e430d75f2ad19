/**
 * Produces the chunks of a large body on the scheduler, as the user who requested it, one each time the consumer wants
 * one. Every byte of a body that is not whole in memory passes here.
 */
import type { BodySource } from "../http1/body-source.ts";
import type { MemoryAccount } from "../lib/memory-budget.ts";
import type { Scheduler } from "../lib/scheduler.ts";
import type { Arriving, Steps } from "../lib/steps.ts";
import { joinBytes } from "./chunks.ts";

/** Where a body is produced: the user's share of the scheduler. */
export interface ProducerScope {
  readonly scheduler: Scheduler;
  readonly owner: string;
  /** Of the response. */
  readonly memory: MemoryAccount;
}

/** Smaller chunks are joined: the copy costs less than so many writes. */
export const CHUNK_BYTES = 128 * 1024;

/** The next chunk; undefined after the last one. */
type Produced = Uint8Array | undefined;

export class BodyProducer {
  /** The owner on the scheduler. */
  readonly owner: string;
  readonly memory: MemoryAccount;
  readonly #scheduler: Scheduler;
  readonly #chunks: Iterator<Uint8Array | undefined | Promise<unknown>>;
  /** Of the chunks that were counted already, because they were made before the first one was wanted. */
  #countedBytes: number;
  #closed = false;

  constructor({ scheduler, owner, memory }: ProducerScope, chunks: Arriving<Uint8Array>, countedBytes = 0) {
    this.owner = owner;
    this.memory = memory;
    this.#countedBytes = countedBytes;
    this.#scheduler = scheduler;
    this.#chunks = chunks[Symbol.iterator]();
  }

  /** For the scheduler: a body that is closed is not produced any further. */
  get aborted(): boolean {
    return this.#closed;
  }

  /** Only after the chunk before is there. */
  next(): Produced | Promise<Produced> {
    return this.#scheduler.run(this.owner, this.memory.paced(this.#nextChunk()), this);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#chunks.return?.();
  }

  *#nextChunk(): Steps<Produced> {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    while (bytes < CHUNK_BYTES) {
      const next = this.#chunks.next();
      if (next.done) break;
      if (!(next.value instanceof Uint8Array)) {
        yield next.value;
        continue;
      }
      parts.push(next.value);
      bytes += next.value.length;
    }
    const handedOver = Math.min(bytes, this.#countedBytes);
    this.#countedBytes -= handedOver;
    if (handedOver > 0) this.memory.add(-handedOver);
    return parts.length === 0 ? undefined : joinBytes(parts);
  }
}

/** A body that is sent as it is produced. At most one chunk is ready before the socket takes it. */
export class ProducedBody implements BodySource {
  readonly noTimeout = false;
  readonly #producer: BodyProducer;
  #ready: Uint8Array | "wait" | "end" = "wait";
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
    if (this.#ready === "wait" && !this.#isProducing) this.#produce();
    const ready = this.#ready;
    if (ready !== "end") this.#ready = "wait";
    return ready;
  }

  close(): void {
    this.#producer.close();
  }

  #produce(): void {
    const produced = this.#producer.next();
    if (!(produced instanceof Promise)) {
      this.#ready = produced ?? "end";
      return;
    }
    this.#isProducing = true;
    produced.then(
      (chunk) => this.#onProduced(chunk ?? "end"),
      (cause: unknown) => {
        this.#error = { cause };
        this.#onProduced("wait");
      },
    );
  }

  #onProduced(ready: Uint8Array | "wait" | "end"): void {
    this.#isProducing = false;
    this.#ready = ready;
    if (!this.#producer.aborted) this.#onReadable();
  }
}
