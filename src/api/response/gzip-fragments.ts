/**
 * Gzip of bodies that consist of shared chunks: the pages of the view. The compressed form of a page is kept with the
 * page, so that after a change only the changed pages are compressed again. The body is still a single gzip member: each
 * chunk is raw deflate data that ends with a full flush, and the CRC-32s are combined.
 */
import { promisify } from "node:util";
import { constants, crc32, deflateRaw } from "node:zlib";
import type { BodySource } from "../../http1/body-source.ts";
import { crc32Combine } from "../../lib/crc32.ts";
import { type Arriving, type Steps, waitFor } from "../../lib/steps.ts";
import { AccountedBody } from "./accounted-body.ts";
import {
  type Produced,
  ProducedBody,
  type Producer,
  type ProducerScope,
  SHARED_RUN_BYTES,
} from "./body-producer.ts";
import { joinSmallParts } from "./chunks.ts";
import { compressions, GZIP_LEVEL } from "./content-encoding.ts";

const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty final block of deflate. */
const DEFLATE_FINAL_BLOCK = Buffer.from([3, 0]);
/** Number of bytes after which a run ends if it had to wait for a compression, so that the client gets bytes meanwhile. */
const MIN_RUN_BYTES = 64 * 1024;
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

interface TakenFragments {
  /** The bytes of the fragments in order. If there are no more fragments, the last element is the end of the member. */
  readonly pieces: readonly Bytes[];
  readonly hasEnded: boolean;
}

/** Takes fragments until they have more than `maxBytes`, or more than `minBytes` if it had to wait for one of them. */
function* takeFragments(
  chunks: Iterator<Bytes | Promise<unknown> | undefined>,
  member: GzipMember,
  owner: string,
  maxBytes: number,
  minBytes = maxBytes,
): Steps<TakenFragments> {
  const pieces: Bytes[] = [];
  let wanted = maxBytes;
  for (let bytes = 0; bytes <= wanted; ) {
    const fragments = yield* nextFragments(chunks, owner);
    if (fragments.length === 0) return { pieces: [...pieces, member.end()], hasEnded: true };
    for (const known of fragments) {
      if (known instanceof Promise) wanted = minBytes;
      const fragment = known instanceof Promise ? yield* waitFor(known) : known;
      pieces.push(member.add(fragment));
      bytes += fragment.bytes.length;
    }
    yield;
  }
  return { pieces, hasEnded: false };
}

/** Compresses a body. It is complete if it has at most `maxBytes`; otherwise the rest is compressed while it is sent. */
export function* gzipBody(
  chunks: Arriving<Bytes>,
  maxBytes: number,
  scope: ProducerScope,
): Steps<Bytes | BodySource> {
  const member = new GzipMember();
  const iterator = chunks[Symbol.iterator]();
  const { pieces, hasEnded } = yield* takeFragments(iterator, member, scope.owner, maxBytes);
  if (hasEnded) return Buffer.concat([GZIP_HEADER, ...pieces]);
  const producer = new FragmentProducer(scope, iterator, member, [GZIP_HEADER, ...pieces]);
  // A fragment is kept with its page, so only copies are counted.
  return new AccountedBody(new ProducedBody(producer), scope.memory, (chunk) => producer.isCopy(chunk));
}

class FragmentProducer implements Producer {
  readonly #scope: ProducerScope;
  readonly #chunks: Iterator<Bytes | Promise<unknown> | undefined>;
  readonly #member: GzipMember;
  readonly #copies = new WeakSet<Bytes>();
  /** The fragments that were taken before the first run. */
  #begun: readonly Bytes[] | undefined;
  #hasEnded = false;
  #closed = false;

  constructor(
    scope: ProducerScope,
    chunks: Iterator<Bytes | Promise<unknown> | undefined>,
    member: GzipMember,
    begun: readonly Bytes[],
  ) {
    this.#scope = scope;
    this.#chunks = chunks;
    this.#member = member;
    this.#begun = begun;
  }

  get aborted(): boolean {
    return this.#closed;
  }

  isCopy(chunk: Bytes): boolean {
    return this.#copies.has(chunk);
  }

  next(): Produced | Promise<Produced> {
    const { scheduler, owner, memory } = this.#scope;
    return scheduler.run(owner, memory.paced(this.#nextRun()), this);
  }

  *#nextRun(): Steps<Produced> {
    if (this.#hasEnded) return undefined;
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun) return joinSmallParts(begun, this.#copies);
    const { owner } = this.#scope;
    const taken = yield* takeFragments(this.#chunks, this.#member, owner, SHARED_RUN_BYTES, MIN_RUN_BYTES);
    this.#hasEnded = taken.hasEnded;
    return joinSmallParts(taken.pieces, this.#copies);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#chunks.return?.();
  }
}
