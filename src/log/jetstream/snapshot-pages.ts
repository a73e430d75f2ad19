/**
 * The content of a snapshot in NATS: compressed pages, each preceded by the letter of its collection, its length and its
 * signature, and an end record. A page is signed for its snapshot and its place in it, so that a reader notices pages that no
 * node has written, and pages that are missing, repeated or of another snapshot.
 */

import { isSignatureOf, SIGNATURE_BYTES, signatureOf } from "../../cluster/nats/signed.ts";
import { yieldToLoop } from "../../lib/yield-to-loop.ts";
import { compress } from "../batch-codec.ts";
import type { CompressedPage } from "../embedded.ts";
import { type Snapshot, STORE_KINDS } from "../log.ts";

const LENGTH_AT = 1;
const SIGNATURE_AT = LENGTH_AT + 4;
const DATA_AT = SIGNATURE_AT + SIGNATURE_BYTES;
/** Maximum bytes of a page, far more than any page has. A larger length means that the content is damaged. */
const MAX_PAGE_BYTES = 64 * 1024 * 1024;
/** The letter of the end record. No kind of collection begins with it. */
const END = ".";
const NOTHING = new Uint8Array(0);

/** The error for content that no node has written. */
export class DamagedSnapshotError extends Error {
  override readonly name = "DamagedSnapshotError";
}

/** The signed parts of a page. */
const signedParts = (snapshot: string, place: number, letter: string, data: Uint8Array) => [
  snapshot,
  String(place),
  letter,
  data,
];

/** Encodes one page at a time, when the object store pulls more. `snapshot` identifies the snapshot in the signatures. */
export function encodePages(
  key: Uint8Array,
  snapshot: string,
  pages: Snapshot["pages"],
): ReadableStream<Uint8Array> {
  const records = recordsOf(key, snapshot, pages);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await yieldToLoop();
        const { value, done } = records.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

function* recordsOf(
  key: Uint8Array,
  snapshot: string,
  pages: Snapshot["pages"],
): Generator<Uint8Array, void, void> {
  let place = 0;
  const record = (letter: string, data: Uint8Array): Uint8Array => {
    const head = Buffer.alloc(SIGNATURE_AT);
    head.write(letter, 0, "latin1");
    head.writeUInt32BE(data.length, LENGTH_AT);
    return Buffer.concat([head, signatureOf(key, signedParts(snapshot, place++, letter, data)), data]);
  };
  for (const kind of STORE_KINDS)
    for (const page of pages[kind]) yield record(kind.charAt(0), compress(page.encode()));
  yield record(END, NOTHING);
}

/** Yields the pages, in the order of their collections. Throws `DamagedSnapshotError`. */
export async function* readPages(
  key: Uint8Array,
  snapshot: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<CompressedPage> {
  let rest: Buffer = Buffer.alloc(0);
  let place = 0;
  let hasEnded = false;
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    let at = 0;
    while (rest.length - at >= DATA_AT) {
      const length = rest.readUInt32BE(at + LENGTH_AT);
      if (hasEnded || length > MAX_PAGE_BYTES) throw damaged();
      const end = at + DATA_AT + length;
      if (end > rest.length) break;
      const letter = rest.toString("latin1", at, at + LENGTH_AT);
      const data = rest.subarray(at + DATA_AT, end);
      const signature = rest.subarray(at + SIGNATURE_AT, at + DATA_AT);
      if (!isSignatureOf(key, signedParts(snapshot, place++, letter, data), signature)) throw damaged();
      const kind = STORE_KINDS.find((candidate) => candidate.charAt(0) === letter);
      if (kind !== undefined) yield { kind, data };
      hasEnded = letter === END;
      at = end;
    }
    rest = rest.subarray(at);
  }
  if (!hasEnded || rest.length > 0) throw damaged();
}

const damaged = () => new DamagedSnapshotError("the snapshot is damaged, or not written by a node");
