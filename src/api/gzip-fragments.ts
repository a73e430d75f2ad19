/**
 * Gzip of bodies that consist of shared chunks: the pages of the view. The compressed form of a page is kept with the
 * page, so that after a change only the changed pages are compressed again. The body is still a single gzip member: each
 * chunk is raw deflate ended by a full flush, and the CRC-32s are combined.
 */
import { promisify } from "node:util";
import { constants, crc32, deflateRaw } from "node:zlib";
import { AsyncBodySource, type BodySource } from "../http1/body-source.ts";
import { crc32Combine } from "../lib/crc32.ts";
import type { BodyProducer } from "./body-producer.ts";
import { compressions, GZIP_LEVEL } from "./content-encoding.ts";

const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty final block. */
const DEFLATE_FINAL_BLOCK = Buffer.from([3, 0]);
/** Fragments are joined until they have this many bytes. */
const MIN_CHUNK_BYTES = 64 * 1024;
/** Chunks that are compressed at once for one body. */
const CHUNKS_AT_ONCE = 4;

const deflate = promisify(deflateRaw);

interface Fragment {
  readonly bytes: Uint8Array;
  readonly crc: number;
  readonly length: number;
}

/** Entries live as long as their chunk, so the view bounds the size. */
const fragments = new WeakMap<Uint8Array, Fragment | Promise<Fragment>>();

/** Two requests for the same chunk compress it once. */
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

/** Writes one gzip member, a fragment at a time. */
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

/** The whole body of a few chunks. */
export async function gzipWhole(chunks: readonly Uint8Array[], owner: string): Promise<Uint8Array> {
  const member = new GzipMember();
  const compressed = await Promise.all(chunks.map((chunk) => fragmentOf(chunk, owner)));
  return Buffer.concat([GZIP_HEADER, ...compressed.map((fragment) => member.add(fragment)), member.end()]);
}

/** A body that is compressed while it is sent, where its chunks are not compressed yet. */
export function createFragmentedBody(producer: BodyProducer): BodySource {
  const member = new GzipMember();
  let pieces: Uint8Array[] = [GZIP_HEADER];
  let hasEnded = false;
  async function readFragments(): Promise<Fragment[]> {
    const known: (Fragment | Promise<Fragment>)[] = [];
    while (!hasEnded && known.length < CHUNKS_AT_ONCE) {
      const chunk = await producer.next();
      if (chunk) known.push(fragmentOf(chunk, producer.owner));
      else hasEnded = true;
    }
    return Promise.all(known);
  }
  async function read(): Promise<{ value?: Uint8Array; done?: boolean }> {
    if (hasEnded) return { done: true };
    for (let bytes = 0; !hasEnded && bytes < MIN_CHUNK_BYTES; ) {
      for (const fragment of await readFragments()) {
        pieces.push(member.add(fragment));
        bytes += fragment.bytes.length;
      }
    }
    if (hasEnded) pieces.push(member.end());
    const value = Buffer.concat(pieces);
    pieces = [];
    return { value };
  }
  return new AsyncBodySource(read, () => producer.close());
}
