/**
 * The chunks that streams send, shared by the streams that are at the same position. Each chunk is rendered once, in steps,
 * by the first stream that needs it. The cache is bounded; a stream that needs a chunk that was evicted renders it again.
 *
 * A chunk is rendered by a generator that reads on from a position. The generator is kept under the position at which it
 * paused, so that the next chunk does not have to search for its start.
 */
import { createBoundedCache } from "../../lib/bounded-cache.ts";
import { SharedSteps, type Steps } from "../../lib/steps.ts";

/** The position of a stream. */
export interface ChunkPosition {
  /** A text that is equal for streams that receive the same bytes next. */
  readonly key: string;
  /** The revision up to which the client has all changes. */
  readonly revision: number;
  /** Whether the position is between two chunks of a snapshot, or of a revision. */
  readonly isPartial: boolean;
  /** Whether there may be more to send. Set if that does not depend on the revision alone. */
  readonly isBehind?: () => boolean;
  /** Number of bytes counted for the memory that the position holds, such as a state of the network. */
  readonly bytes: number;
  /** Reads on from this position, with pauses, until nothing is left for now. */
  open(): Iterator<ChunkOrOverflow | undefined>;
}

export interface Chunk {
  /** The bytes to send; empty if nothing matched. */
  readonly bytes: Uint8Array;
  /** The position of the stream after it has sent the bytes. */
  readonly next: ChunkPosition;
}

/** A chunk, or "overflow" if changes after the position are no longer kept. */
export type ChunkOrOverflow = Chunk | "overflow";

/** Bytes counted for a position that holds a state of the network, which may keep old pages in memory. */
export const STATE_BYTES = 1024 * 1024;
const MAX_CACHE_BYTES = 16 * 1024 * 1024;
/** Bytes counted for each entry in addition to its content. */
const ENTRY_OVERHEAD_BYTES = 1024;

type Chunks = Iterator<ChunkOrOverflow | undefined>;

/** A chunk that is being rendered. Afterwards only the chunk is kept, because the generator holds batches and states. */
class Rendering {
  readonly steps: SharedSteps<ChunkOrOverflow | undefined>;
  /** The generator that also renders the next chunk. */
  readonly chunks: Chunks;
  /** Bytes counted for the memory that the generator holds. */
  readonly bytes: number;

  constructor(chunks: Chunks, bytes: number) {
    this.chunks = chunks;
    this.bytes = bytes;
    this.steps = new SharedSteps(nextChunk(chunks));
  }
}

function* nextChunk(chunks: Chunks): Steps<ChunkOrOverflow | undefined> {
  for (let next = chunks.next(); !next.done; next = chunks.next()) {
    if (next.value !== undefined) return next.value;
    yield;
  }
  return undefined;
}

export class SharedChunks {
  readonly #entries = createBoundedCache<string, Chunk | Rendering>({
    maxSize: MAX_CACHE_BYTES,
    sizeOf: (entry) =>
      ENTRY_OVERHEAD_BYTES +
      (entry instanceof Rendering ? entry.bytes : entry.bytes.length + entry.next.bytes),
  });
  #rendered = 0;

  /** Number of chunks rendered since the process started, each once for all streams at its position. */
  get rendered(): number {
    return this.#rendered;
  }

  /** The chunk at a position if it is rendered already. */
  ready({ key }: ChunkPosition): Chunk | undefined {
    const entry = this.#entries.get(key);
    return entry instanceof Rendering ? undefined : entry;
  }

  /** The chunk at a position; undefined if there is nothing to send for now. */
  *next(position: ChunkPosition): Steps<ChunkOrOverflow | undefined> {
    const { key } = position;
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = new Rendering(position.open(), position.bytes);
      this.#entries.set(key, entry);
    }
    if (!(entry instanceof Rendering)) return entry;
    try {
      const chunk = yield* entry.steps.result();
      if (typeof chunk === "object") this.#keep(key, entry, chunk);
      else this.#drop(key, entry);
      return chunk;
    } catch (error) {
      this.#drop(key, entry);
      throw error;
    }
  }

  /** Removes all chunks. Called when no stream is left. */
  clear(): void {
    this.#entries.clear();
  }

  #keep(key: string, rendering: Rendering, chunk: Chunk): void {
    if (this.#entries.peek(key) !== rendering) return; // Another stream has stored it, or it was evicted.
    this.#rendered++;
    this.#entries.set(key, chunk);
    const { next } = chunk;
    if (this.#entries.has(next.key)) return;
    // A generator holds the memory of its first position until it ends, also if it pauses at a position that holds less.
    const bytes = Math.max(rendering.bytes, next.bytes);
    this.#entries.set(next.key, new Rendering(rendering.chunks, bytes));
  }

  #drop(key: string, rendering: Rendering): void {
    if (this.#entries.peek(key) === rendering) this.#entries.delete(key);
  }
}
