/**
 * Cursors: where a reader is on the pages of one revision. Opaque to clients and signed with the log's own key, so a
 * made-up or altered one is refused, and one handed out before a restart is still good after it.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Problem } from "../api/problem.ts";

export interface Cursor {
  readonly revision: number;
  /** The last id of the page before; with a sort, how many matches came before. */
  readonly after: string | number;
}

const SIGNATURE_BYTES = 16;
const MAX_LENGTH = 2048;

/** `query` is what the cursor belongs to: its signature covers it, so it fits no other question. */
export function encodeCursor(cursor: Cursor, query: string, secret: Uint8Array): string {
  const payload = Buffer.from(JSON.stringify([cursor.revision, cursor.after]));
  return Buffer.concat([sign(payload, query, secret), payload]).toString("base64url");
}

export function decodeCursor(text: string, query: string, secret: Uint8Array): Cursor {
  const bytes = Buffer.from(text, "base64url");
  const payload = bytes.subarray(SIGNATURE_BYTES);
  const signature = sign(payload, query, secret);
  const given = bytes.subarray(0, SIGNATURE_BYTES);
  // Base64 has many spellings of the same bytes; only the one that was handed out is ours.
  const ours = text.length <= MAX_LENGTH && bytes.toString("base64url") === text;
  if (!ours || given.length !== SIGNATURE_BYTES || !timingSafeEqual(given, signature)) {
    throw new Problem(
      "bad-cursor",
      "The cursor is not one this service made for this query. Take it from `next` as it is, keep the other parameters the same, or leave it out to begin again.",
    );
  }
  const [revision, after]: [number, string | number] = JSON.parse(payload.toString());
  return { revision, after };
}

const sign = (payload: Uint8Array, query: string, secret: Uint8Array): Buffer =>
  createHmac("sha256", secret)
    .update(query)
    .update("\0")
    .update(payload)
    .digest()
    .subarray(0, SIGNATURE_BYTES);
