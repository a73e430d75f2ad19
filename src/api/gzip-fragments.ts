/**
 * Gzip of bodies that consist of shared chunks: the pages of the view. The compressed form of a page is kept with the
 * page, so that after a change only the changed pages are compressed again. The body is still a single gzip member: each
 * chunk is raw deflate ended by a full flush, and the CRC-32s are combined.
 */
import { promisify } from "node:util";
import { constants, crc32, deflateRaw } from "node:zlib";
import { AsyncBodySource, type BodySource } from "../http1/body-source.ts";
import { crc32Combine } from "../lib/crc32.ts";
import { type Arriving, type Steps, waitFor } from "../lib/steps.ts";
import type { ProducerScope } from "./body-producer.ts";
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

type Bytes = Uint8Array;

/** The fragments of the next few chunks, each compressed or being compressed. */
function* nextFragments(
  chunks: Iterator<Bytes | Promise<unknown> | undefined>,
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

/** Whole where it has at most `maxBytes`; otherwise the rest is compressed while it is sent. */
export function* gzipBody(
  chunks: Arriving<Bytes>,
  maxBytes: number,
  scope: ProducerScope,
): Steps<Bytes | BodySource> {
  const member = new GzipMember();
  const pieces: Bytes[] = [GZIP_HEADER];
  const iterator = chunks[Symbol.iterator]();
  for (let bytes = 0; bytes <= maxBytes; ) {
    const fragments = yield* nextFragments(iterator, scope.owner);
    if (fragments.length === 0) return Buffer.concat([...pieces, member.end()]);
    for (const known of fragments) {
      const fragment = known instanceof Promise ? yield* waitFor(known) : known;
      pieces.push(member.add(fragment));
      bytes += fragment.bytes.length;
    }
    yield;
  }
  return createFragmentedBody(scope, iterator, member, pieces);
}

function createFragmentedBody(
  { scheduler, owner }: ProducerScope,
  chunks: Iterator<Bytes | Promise<unknown> | undefined>,
  member: GzipMember,
  begun: readonly Bytes[],
): BodySource {
  let pieces = [...begun];
  let hasEnded = false;
  let isClosed = false;
  const signal = {
    get aborted() {
      return isClosed;
    },
  };
  async function read(): Promise<{ value?: Bytes; done?: boolean }> {
    if (hasEnded) return { done: true };
    for (let bytes = 0; !hasEnded && bytes < MIN_CHUNK_BYTES; ) {
      const fragments = await scheduler.run(owner, nextFragments(chunks, owner), signal);
      hasEnded = fragments.length === 0;
      for (const known of fragments) {
        const fragment = known instanceof Promise ? await known : known;
        pieces.push(member.add(fragment));
        bytes += fragment.bytes.length;
      }
    }
    if (hasEnded) pieces.push(member.end());
    const value = Buffer.concat(pieces);
    pieces = [];
    return { value };
  }
  return new AsyncBodySource(read, () => {
    isClosed = true;
    chunks.return?.();
  });
}
