/**
 * Counts the bytes in the queue of a socket that belong to a body that is produced while it is sent, and releases the memory
 * account of the body at its end.
 */
import type { BodySource } from "../../http1/body-source.ts";
import { MAX_CHUNK_BYTES } from "../../http1/response-writer.ts";
import type { MemoryAccount } from "../../lib/memory-budget.ts";

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
