/**
 * Bodies from pieces, in any content coding. A piece is bytes that outlive the body (a page of the view): its
 * compressed form is remembered with it, so that after a change only the pages that changed are compressed again.
 * gzip stays a single member: each piece is raw deflate ended by a full flush, and the CRC-32s are combined.
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
import type { Coding } from "./negotiate.ts";

const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty last block. */
const DEFLATE_END = Buffer.from([3, 0]);
const GZIP_LEVEL = 5;
const BROTLI_QUALITY = 5;
const ZSTD_LEVEL = 3;

interface Deflated {
  readonly bytes: Buffer;
  readonly crc: number;
  readonly length: number;
}
const remembered = new WeakMap<Uint8Array, Deflated>();

function deflated(piece: Uint8Array): Deflated {
  let done = remembered.get(piece);
  if (!done) {
    const bytes = deflateRawSync(piece, { level: GZIP_LEVEL, finishFlush: constants.Z_FULL_FLUSH });
    done = { bytes, crc: crc32(piece), length: piece.length };
    remembered.set(piece, done);
  }
  return done;
}

/** One gzip member of lasting pieces, a fragment at a time. */
export function* gzipFragments(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield GZIP_HEADER;
  let crc = 0;
  let length = 0;
  for (const piece of pieces) {
    const part = deflated(piece);
    yield part.bytes;
    crc = crc32Combine(crc, part.crc, part.length);
    length += part.length;
  }
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  yield DEFLATE_END;
  yield trailer;
}

export function encode(bytes: Uint8Array, coding: Coding): Uint8Array {
  switch (coding) {
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

/** Pieces in a coding, made no faster than they are sent. */
export function encodedFeed(pieces: Iterable<Uint8Array>, coding: Coding): BodySource {
  if (coding === "identity") return new IterableBodySource(pieces);
  const source = Readable.from(pieces, { objectMode: false });
  const compressor =
    coding === "gzip"
      ? createGzip({ level: GZIP_LEVEL })
      : coding === "zstd"
        ? createZstdCompress()
        : createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
  // What goes wrong on either side ends both, and is told to whoever reads.
  pipeline(source, compressor, () => {});
  const chunks = compressor[Symbol.asyncIterator]();
  return new AsyncBodySource(
    () => chunks.next(),
    () => compressor.destroy(),
  );
}
