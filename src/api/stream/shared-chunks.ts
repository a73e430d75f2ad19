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
export interface Position {
  /** Streams with the same key receive the same bytes next. */
  readonly key: string;
  /** The client has all changes up to this revision. */
  readonly revision: number;
  /** Between two chunks of a snapshot, or of a revision. */
  readonly isPartial: boolean;
  /** Counted for what the position keeps in memory, such as a state of the network. */
  readonly bytes: number;
  /** Reads on from here, with pauses, until nothing is left for now. */
  open(): Iterator<ChunkOrOverflow | undefined>;
}

export interface Chunk {
  /** Empty when nothing matched. */
  readonly bytes: Uint8Array;
  /** Where the stream is once it has sent them. */
  readonly next: Position;
}

/** "overflow": changes after the position are no longer kept. */
export type ChunkOrOverflow = Chunk | "overflow";

/** Counted for a position that keeps a state of the network: old pages that nobody else needs. */
export const STATE_BYTES = 1024 * 1024;
const MAX_CACHE_BYTES = 16 * 1024 * 1024;
/** Counted for each chunk besides its bytes, and for one that is not rendered yet. */
const ENTRY_OVERHEAD_BYTES = 1024;

type Chunks = Iterator<ChunkOrOverflow | undefined>;

/** A chunk that is rendered, or being rendered. */
class Entry {
  readonly rendering: SharedSteps<ChunkOrOverflow | undefined>;
  /** Where the chunk after this one is rendered from. */
  readonly chunks: Chunks;
  /** Once it is rendered. */
  chunk: Chunk | undefined;

  constructor(chunks: Chunks) {
    this.chunks = chunks;
    this.rendering = new SharedSteps(nextChunk(chunks));
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
  readonly #entries = createBoundedCache<string, Entry>({
    maxSize: MAX_CACHE_BYTES,
    sizeOf: ({ chunk }) => ENTRY_OVERHEAD_BYTES + (chunk ? chunk.bytes.length + chunk.next.bytes : 0),
  });
  #rendered = 0;

  /** Chunks rendered so far: each of them once for all streams at its position. */
  get rendered(): number {
    return this.#rendered;
  }

  /** The chunk at a position, where it is rendered already. */
  ready({ key }: Position): Chunk | undefined {
    return this.#entries.get(key)?.chunk;
  }

  /** The chunk at a position. Undefined when there is nothing for now. */
  *next(position: Position): Steps<ChunkOrOverflow | undefined> {
    const { key } = position;
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = new Entry(position.open());
      this.#entries.set(key, entry);
    }
    try {
      const chunk = yield* entry.rendering.result();
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

  #keep(key: string, entry: Entry, chunk: Chunk): void {
    if (entry.chunk) return;
    entry.chunk = chunk;
    this.#rendered++;
    // Set again, because its size is known now.
    this.#entries.set(key, entry);
    const { next } = chunk;
    if (!this.#entries.has(next.key)) this.#entries.set(next.key, new Entry(entry.chunks));
  }

  #drop(key: string, entry: Entry): void {
    if (this.#entries.peek(key) === entry) this.#entries.delete(key);
  }
}
