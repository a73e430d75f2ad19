/**
 * Content encodings of bodies that consist of chunks. The gzip form of a chunk that outlives the body (a page of the
 * view) is cached with the chunk, so that after a change only the changed pages are compressed again. The gzip body is
 * still a single member: each chunk is raw deflate ended by a full flush, and the CRC-32s are combined.
 */
import { pipeline, Readable } from "node:stream";
import {
  brotliCompressSync,
  constants,
  crc32,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  deflateRawSync,
  gzipSync,
} from "node:zlib";
import { AsyncBodySource, type BodySource, IterableBodySource } from "../http1/body-source.ts";
import { crc32Combine } from "../lib/crc32.ts";
import type { ContentEncoding } from "./negotiate.ts";

const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty final block. */
const DEFLATE_FINAL_BLOCK = Buffer.from([3, 0]);
const GZIP_LEVEL = 5;
const BROTLI_QUALITY = 5;
const ZSTD_LEVEL = 3;

interface DeflatedChunk {
  readonly bytes: Buffer;
  readonly crc: number;
  readonly length: number;
}
/** Entries live as long as their chunk, so the view bounds the size. */
const deflatedChunks = new WeakMap<Uint8Array, DeflatedChunk>();

function deflateChunk(chunk: Uint8Array): DeflatedChunk {
  let deflated = deflatedChunks.get(chunk);
  if (!deflated) {
    const bytes = deflateRawSync(chunk, { level: GZIP_LEVEL, finishFlush: constants.Z_FULL_FLUSH });
    deflated = { bytes, crc: crc32(chunk), length: chunk.length };
    deflatedChunks.set(chunk, deflated);
  }
  return deflated;
}

/** One gzip member of persistent chunks, a fragment at a time. */
export function* gzipFragments(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield GZIP_HEADER;
  let crc = 0;
  let length = 0;
  for (const chunk of chunks) {
    const deflated = deflateChunk(chunk);
    yield deflated.bytes;
    crc = crc32Combine(crc, deflated.crc, deflated.length);
    length += deflated.length;
  }
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  yield DEFLATE_FINAL_BLOCK;
  yield trailer;
}

export function encode(bytes: Uint8Array, encoding: ContentEncoding): Uint8Array {
  switch (encoding) {
    case "gzip":
      return gzipSync(bytes, { level: GZIP_LEVEL });
    case "zstd":
      return Bun.zstdCompressSync(bytes, { level: ZSTD_LEVEL });
    case "br":
      return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
    case "identity":
      return bytes;
  }
}

/** A body that is encoded while it is sent, no faster than the client reads. */
export function createEncodedBody(chunks: Iterable<Uint8Array>, encoding: ContentEncoding): BodySource {
  if (encoding === "identity") return new IterableBodySource(chunks);
  const source = Readable.from(chunks, { objectMode: false });
  const compressor =
    encoding === "gzip"
      ? createGzip({ level: GZIP_LEVEL })
      : encoding === "zstd"
        ? createZstdCompress()
        : createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
  // An error on either side destroys both; the reader gets it from `encoded.next()`.
  pipeline(source, compressor, () => {});
  const encoded = compressor[Symbol.asyncIterator]();
  return new AsyncBodySource(
    () => encoded.next(),
    () => compressor.destroy(),
  );
}
