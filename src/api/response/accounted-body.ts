/** Counts what a body that is produced while it is sent has in the queue of its socket, and releases its account at its end. */
import type { BodySource } from "../../http1/body-source.ts";
import { MAX_CHUNK_BYTES } from "../../http1/response-writer.ts";
import type { MemoryAccount } from "../../lib/memory-budget.ts";

export class AccountedBody implements BodySource {
  readonly noTimeout: boolean;
  readonly #source: BodySource;
  readonly #memory: MemoryAccount;
  readonly #isOwn: (chunk: Uint8Array) => boolean;
  /** Bytes that the socket may not have accepted yet. */
  #queuedBytes = 0;
  /** Those of them that exist because of this body alone. */
  #ownBytes = 0;
  /** The writer reads on only when the socket has accepted everything before. */
  #isQueueComplete = false;

  /** `isOwn` is false for a chunk that is in memory without this body: it is not counted. */
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
