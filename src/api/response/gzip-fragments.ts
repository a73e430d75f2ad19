/**
 * Gzip of bodies that consist of shared chunks: the pages of the view. The compressed form of a page is kept with the
 * page, so that after a change only the changed pages are compressed again. The body is still a single gzip member: each
 * chunk is raw deflate data that ends with a full flush, and the CRC-32s are combined.
 */
import { promisify } from "node:util";
import { constants, crc32, deflateRaw } from "node:zlib";
import { crc32Combine } from "../../lib/crc32.ts";
import { type Arriving, type Steps, waitFor } from "../../lib/steps.ts";
import { compressions, GZIP_LEVEL } from "./content-encoding.ts";

const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty final block of deflate. */
const DEFLATE_FINAL_BLOCK = Buffer.from([3, 0]);
/** Number of chunks that are compressed at once for one body. */
const CHUNKS_AT_ONCE = 4;

const deflate = promisify(deflateRaw);

interface Fragment {
  readonly bytes: Uint8Array;
  readonly crc: number;
  readonly length: number;
}

/** The compressed form of each chunk. An entry lives as long as its chunk, so the size of the view bounds it. */
const fragments = new WeakMap<Uint8Array, Fragment | Promise<Fragment>>();

/** The compressed form of a chunk. Concurrent requests for the same chunk compress it once. */
function fragmentOf(chunk: Uint8Array, owner: string): Fragment | Promise<Fragment> {
  const known = fragments.get(chunk);
  if (known) return known;
  const compressed = compressions.run(owner, () => compress(chunk));
  fragments.set(chunk, compressed);
  compressed.then(
    (fragment) => fragments.set(chunk, fragment),
    () => fragments.delete(chunk),
  );
  return compressed;
}

async function compress(chunk: Uint8Array): Promise<Fragment> {
  const bytes = await deflate(chunk, { level: GZIP_LEVEL, finishFlush: constants.Z_FULL_FLUSH });
  return { bytes, crc: crc32(chunk), length: chunk.length };
}

/** Writes one gzip member, fragment by fragment. */
class GzipMember {
  #crc = 0;
  #length = 0;

  add({ bytes, crc, length }: Fragment): Uint8Array {
    this.#crc = crc32Combine(this.#crc, crc, length);
    this.#length += length;
    return bytes;
  }

  end(): Uint8Array {
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(this.#crc, 0);
    trailer.writeUInt32LE(this.#length % 2 ** 32, 4);
    return Buffer.concat([DEFLATE_FINAL_BLOCK, trailer]);
  }
}

/** The fragments of the next few chunks, each compressed or being compressed. */
function* nextFragments(
  chunks: Iterator<Uint8Array | Promise<unknown> | undefined>,
  owner: string,
): Steps<readonly (Fragment | Promise<Fragment>)[]> {
  const found: (Fragment | Promise<Fragment>)[] = [];
  while (found.length < CHUNKS_AT_ONCE) {
    const next = chunks.next();
    if (next.done) break;
    if (next.value instanceof Uint8Array) found.push(fragmentOf(next.value, owner));
    else yield next.value;
  }
  return found;
}

/** The gzip of a body. Each part of it that is not the header or the trailer is kept with its chunk. */
export function* gzipChunks(
  chunks: Arriving<Uint8Array>,
  owner: string,
): Generator<Uint8Array | Promise<unknown> | undefined, void, void> {
  const member = new GzipMember();
  const iterator = chunks[Symbol.iterator]();
  try {
    yield GZIP_HEADER;
    for (;;) {
      const fragments = yield* nextFragments(iterator, owner);
      if (fragments.length === 0) break;
      for (const known of fragments)
        yield member.add(known instanceof Promise ? yield* waitFor(known) : known);
      yield;
    }
    yield member.end();
  } finally {
    iterator.return?.();
  }
}
