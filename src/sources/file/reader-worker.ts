/**
 * The worker thread that reads network files: parsing and validating a file cannot be done in slices, and may take
 * seconds. Each message to it is a path.
 */
import { KINDS } from "../../model/ids.ts";
import { readNetwork } from "./read-network.ts";
import type { ReaderMessage } from "./reader-protocol.ts";

declare const self: Worker;

/** The receiver parses one batch in one go. */
const CLAIMS_PER_BATCH = 100;
const encoder = new TextEncoder();

self.onmessage = async ({ data: path }: MessageEvent<string>) => {
  const content = await readNetwork(path);
  if (!content.ok) {
    send({ ok: false, message: content.message });
    return;
  }
  for (const kind of KINDS) {
    const claims = [...(content.claims[kind] ?? [])];
    for (let from = 0; from < claims.length; from += CLAIMS_PER_BATCH) {
      const json = encoder.encode(JSON.stringify(claims.slice(from, from + CLAIMS_PER_BATCH)));
      send({ kind, json }, [json.buffer]);
    }
  }
  send({ ok: true, count: content.count });
};

function send(message: ReaderMessage, transfer: ArrayBuffer[] = []): void {
  self.postMessage(message, transfer);
}
