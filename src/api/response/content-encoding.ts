/**
 * Content encodings. A small body is encoded synchronously. Any other is encoded off the event loop by the runtime's
 * asynchronous calls, of which a few run at a time and users take turns. A body that is not completely in memory is encoded
 * chunk by chunk while it is sent.
 */
import { promisify } from "node:util";
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  gzipSync,
} from "node:zlib";
import { AsyncBodySource, type BodySource } from "../../http1/body-source.ts";
import { FairSemaphore } from "../../lib/fair-semaphore.ts";
import { Cancelled } from "../../lib/scheduler.ts";
import { type Steps, waitFor } from "../../lib/steps.ts";
import type { ContentEncoding } from "../endpoints/negotiate.ts";
import { type BodyProducer, ProducedBody } from "./body-producer.ts";
import { joinBytes } from "./chunks.ts";

export const GZIP_LEVEL = 5;
const BROTLI_PARAMS = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const ZSTD_LEVEL = 3;
/**
 * The window for a body that is encoded while it is sent: 256 kB. With the larger default windows a compressor holds 12 MB
 * (Brotli) or 3.5 MB (Zstandard) as long as its client reads, takes longer, and does not compress such bodies better.
 */
const WINDOW_BITS = 18;
/** Measured memory of the compressor of one body that is encoded while it is sent. */
const COMPRESSOR_BYTES: Readonly<Record<Compressed, number>> = {
  gzip: 700_000,
  zstd: 1_200_000,
  br: 2_500_000,
};
/** Maximum size of a body that is encoded synchronously, which takes about 0.3 ms of the event loop. */
const MAX_SYNC_BYTES = 16 * 1024;
/** Number of compressions that run at once. More would only take processor time from the event loop. */
const MAX_COMPRESSIONS = 2;

/** Limits the compressions off the event loop, in which users take turns. */
export const compressions = new FairSemaphore(MAX_COMPRESSIONS);

type Compressed = Exclude<ContentEncoding, "identity">;

const gzipBytes = promisify(gzip);
const brotliBytes = promisify(brotliCompress);

/** Encodes a body. `owner` is the user in whose turn a larger body is compressed. */
export function* encode(bytes: Uint8Array, encoding: ContentEncoding, owner: string): Steps<Uint8Array> {
  if (encoding === "identity") return bytes;
  if (bytes.length <= MAX_SYNC_BYTES) return encodeSync(bytes, encoding);
  return yield* waitFor(compress(bytes, encoding, owner));
}

/** Compresses off the event loop. */
export const compress = (bytes: Uint8Array, encoding: Compressed, owner: string): Promise<Uint8Array> =>
  compressions.run(owner, () => encodeAsync(bytes, encoding));

function encodeSync(bytes: Uint8Array, encoding: Compressed): Uint8Array {
  switch (encoding) {
    case "gzip":
      return gzipSync(bytes, { level: GZIP_LEVEL });
    case "zstd":
      return Bun.zstdCompressSync(bytes, { level: ZSTD_LEVEL });
    case "br":
      return brotliCompressSync(bytes, BROTLI_PARAMS);
  }
}

async function encodeAsync(bytes: Uint8Array, encoding: Compressed): Promise<Uint8Array> {
  switch (encoding) {
    case "gzip":
      return gzipBytes(bytes, { level: GZIP_LEVEL });
    case "zstd":
      return Bun.zstdCompress(bytes, { level: ZSTD_LEVEL });
    case "br":
      return brotliBytes(bytes, BROTLI_PARAMS);
  }
}

function createCompressor(encoding: Compressed) {
  switch (encoding) {
    case "gzip":
      return createGzip({ level: GZIP_LEVEL });
    case "zstd":
      return createZstdCompress({
        params: {
          [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL,
          [constants.ZSTD_c_windowLog]: WINDOW_BITS,
          [constants.ZSTD_c_hashLog]: WINDOW_BITS - 2,
          [constants.ZSTD_c_chainLog]: WINDOW_BITS - 2,
        },
      });
    case "br":
      return createBrotliCompress({
        params: { ...BROTLI_PARAMS.params, [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS },
      });
  }
}

/** A body that is produced and encoded while it is sent, no faster than the client reads. */
export function createEncodedBody(producer: BodyProducer, encoding: ContentEncoding): BodySource {
  if (encoding === "identity") return new ProducedBody(producer);
  const compressor = createCompressor(encoding);
  producer.memory.add(COMPRESSOR_BYTES[encoding]);
  /** The bytes that the compressor has written since the last read: at most those of one chunk. */
  let written: Uint8Array[] = [];
  let failure: Error | undefined;
  compressor.on("data", (bytes: Uint8Array) => written.push(bytes));
  compressor.on("error", (error: Error) => {
    failure = error;
  });
  /** Rejects the promise that waits for the compressor, which calls no callback after it is destroyed. */
  let abandon = (_: Error) => {};
  const write = (chunk: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      abandon = reject;
      compressor.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
  const end = () =>
    new Promise<void>((resolve, reject) => {
      abandon = reject;
      compressor.once("end", resolve);
      compressor.once("error", reject);
      compressor.end();
    });
  let hasEnded = false;
  async function read(): Promise<{ value?: Uint8Array; done?: boolean }> {
    while (written.length === 0 && !hasEnded) {
      const parts = await producer.next();
      hasEnded = parts === undefined;
      await compressions.run(producer.owner, async () => {
        if (!producer.aborted) await (parts === undefined ? end() : write(joinBytes(parts)));
      });
      if (producer.aborted) throw new Cancelled("the client is gone");
      if (failure) throw failure;
    }
    if (written.length === 0) return { done: true };
    const value = joinBytes(written);
    written = [];
    return { value };
  }
  return new AsyncBodySource(read, () => {
    producer.close();
    compressor.destroy();
    abandon(new Cancelled("the client is gone"));
  });
}
