/**
 * The chunks that streams send, shared by the streams that are at the same position: each chunk is rendered once, in
 * steps, and by whichever of them is first. The cache is bounded; a stream that needs a chunk that was evicted renders it
 * again.
 *
 * A chunk is rendered by a generator that reads on from a position. It is kept with the position at which it paused, so
 * that the next chunk does not search for its start.
 */
import { createBoundedCache } from "../../lib/bounded-cache.ts";
import { SharedSteps, type Steps } from "../../lib/steps.ts";

/** How far a stream has come. */
export interface ChunkPosition {
  /** Streams with the same key receive the same bytes next. */
  readonly key: string;
  /** The client has all changes up to this revision. */
  readonly revision: number;
  /** Between two chunks of a snapshot, or of a revision. */
  readonly isPartial: boolean;
  /** Whether there may be more, of a stream for which that does not depend on the revision alone. */
  readonly isBehind?: () => boolean;
  /** Counted for what the position keeps in memory, such as a state of the network. */
  readonly bytes: number;
  /** Reads on from here, with pauses, until nothing is left for now. */
  open(): Iterator<ChunkOrOverflow | undefined>;
}

export interface Chunk {
  /** Empty when nothing matched. */
  readonly bytes: Uint8Array;
  /** Where the stream is once it has sent them. */
  readonly next: ChunkPosition;
}

/** "overflow": changes after the position are no longer kept. */
export type ChunkOrOverflow = Chunk | "overflow";

/** Counted for a position that keeps a state of the network: old pages that nobody else needs. */
export const STATE_BYTES = 1024 * 1024;
const MAX_CACHE_BYTES = 16 * 1024 * 1024;
/** Counted for each chunk besides its bytes, and for one that is not rendered yet. */
const ENTRY_OVERHEAD_BYTES = 1024;

type Chunks = Iterator<ChunkOrOverflow | undefined>;

/** A chunk that is being rendered. Once it is, only the chunk is kept: the generator holds batches and states. */
class Rendering {
  readonly steps: SharedSteps<ChunkOrOverflow | undefined>;
  /** Where the chunk after this one is rendered from. */
  readonly chunks: Chunks;
  /** Counted for what the generator holds. */
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

  /** Chunks rendered so far: each of them once for all streams at its position. */
  get rendered(): number {
    return this.#rendered;
  }

  /** The chunk at a position, where it is rendered already. */
  ready({ key }: ChunkPosition): Chunk | undefined {
    const entry = this.#entries.get(key);
    return entry instanceof Rendering ? undefined : entry;
  }

  /** The chunk at a position. Undefined when there is nothing for now. */
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

  /** Forgets everything: for when no stream is left. */
  clear(): void {
    this.#entries.clear();
  }

  #keep(key: string, rendering: Rendering, chunk: Chunk): void {
    if (this.#entries.peek(key) !== rendering) return; // another stream kept it, or it was evicted
    this.#rendered++;
    this.#entries.set(key, chunk);
    const { next } = chunk;
    if (this.#entries.has(next.key)) return;
    // A generator holds what it was opened with until it ends, also where it pauses at a position that holds less.
    const bytes = Math.max(rendering.bytes, next.bytes);
    this.#entries.set(next.key, new Rendering(rendering.chunks, bytes));
  }

  #drop(key: string, rendering: Rendering): void {
    if (this.#entries.peek(key) === rendering) this.#entries.delete(key);
  }
}
