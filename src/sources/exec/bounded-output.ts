/**
 * Reads the output of a program within bounds: all of standard output up to a maximum, and only the end of standard error.
 * An abort ends the reading, also while another process holds the stream open.
 */

export interface BoundedOutput {
  /** Resolves at the end of the stream, at the maximum and on abort. */
  readonly ended: Promise<void>;
  /** Resolves once the stream has more bytes than the maximum; never otherwise. */
  readonly exceeded: Promise<void>;
  isTooLarge(): boolean;
  bytes(): Uint8Array;
}

export function readStream(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
): BoundedOutput {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const exceeded = Promise.withResolvers<void>();
  const ended = forEachChunk(stream, signal, (chunk) => {
    length += chunk.length;
    if (length <= maxBytes) {
      chunks.push(chunk);
      return true;
    }
    chunks.length = 0;
    exceeded.resolve();
    return false;
  });
  return {
    ended,
    exceeded: exceeded.promise,
    isTooLarge: () => length > maxBytes,
    bytes: () => Bun.concatArrayBuffers(chunks, Number.POSITIVE_INFINITY, true),
  };
}

const TAIL_BYTES = 4096;
const MAX_LINE_CHARS = 200;

/** The end of a stream that may be long. */
export function tailOf(stream: ReadableStream<Uint8Array>, signal: AbortSignal) {
  let tail = new Uint8Array();
  const ended = forEachChunk(stream, signal, (chunk) => {
    tail = Buffer.concat([tail, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
    return true;
  });
  return { ended, lastLine: () => lastLineOf(new TextDecoder().decode(tail)) };
}

/** On one line for the operator: without control characters, and not long. */
function lastLineOf(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.replace(/\p{C}+/gu, " ").trim());
  const last = lines.findLast((line) => line !== "") ?? "";
  return last.length > MAX_LINE_CHARS ? `${last.slice(0, MAX_LINE_CHARS)}…` : last;
}

/** Until `onChunk` returns false. */
async function forEachChunk(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  onChunk: (chunk: Uint8Array) => boolean,
): Promise<void> {
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || !onChunk(value)) break;
    }
  } catch {
    // The stream was cut off, which is its end.
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
