/** Counts what a body that is produced while it is sent has in the queue of its socket, and releases its account at its end. */
import type { BodySource } from "../http1/body-source.ts";
import { MAX_CHUNK_BYTES } from "../http1/response-writer.ts";
import type { MemoryAccount } from "../lib/memory-budget.ts";

export class AccountedBody implements BodySource {
  readonly noTimeout: boolean;
  readonly #source: BodySource;
  readonly #memory: MemoryAccount;
  /** Bytes that the socket may not have accepted yet. */
  #queuedBytes = 0;
  /** The writer reads on only when the socket has accepted everything before. */
  #isQueueComplete = false;

  constructor(source: BodySource, memory: MemoryAccount) {
    this.#source = source;
    this.#memory = memory;
    this.noTimeout = source.noTimeout;
  }

  open(onReadable: () => void): void {
    this.#source.open(onReadable);
  }

  next(): Uint8Array | "wait" | "end" {
    if (this.#isQueueComplete && this.#queuedBytes > 0) {
      this.#memory.add(-this.#queuedBytes);
      this.#queuedBytes = 0;
    }
    const chunk = this.#source.next();
    if (typeof chunk !== "string") {
      this.#queuedBytes += chunk.length;
      this.#memory.add(chunk.length);
    }
    this.#isQueueComplete = typeof chunk === "string" || this.#queuedBytes >= MAX_CHUNK_BYTES;
    return chunk;
  }

  close(): void {
    this.#source.close();
    this.#memory.release();
  }
}
