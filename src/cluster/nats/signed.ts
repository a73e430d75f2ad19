/**
 * Signatures of everything that the nodes of a cluster, and the command line, send each other over NATS: HMAC-SHA256 with a
 * key that only they have. The length of each part is signed too, so that no other division into parts has the same signature.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

export const SIGNATURE_BYTES = 32;

export function signatureOf(key: Uint8Array, parts: readonly (string | Uint8Array)[]): Buffer {
  const hmac = createHmac("sha256", key);
  // Texts in a row are one update, because an update costs more than hashing a short text.
  let text = "";
  for (const part of parts) {
    if (typeof part === "string") text += `${Buffer.byteLength(part)}:${part}`;
    else {
      hmac.update(`${text}${part.length}:`).update(part);
      text = "";
    }
  }
  if (text !== "") hmac.update(text);
  return hmac.digest();
}

export const isSignatureOf = (
  key: Uint8Array,
  parts: readonly (string | Uint8Array)[],
  given: Uint8Array,
): boolean => given.length === SIGNATURE_BYTES && timingSafeEqual(given, signatureOf(key, parts));

/** Signs a value for one `place`, such as a subject. The text is not valid in another place. */
export function signText(key: Uint8Array, place: string, value: unknown): string {
  const text = JSON.stringify(value);
  return `${signatureOf(key, [place, text]).toString("base64url")} ${text}`;
}

/** Returns the value; undefined for a text that was not signed with this key for this place. */
export function readSignedText(key: Uint8Array, place: string, signed: string): unknown {
  const end = signed.indexOf(" ");
  const text = signed.slice(end + 1);
  if (!isSignatureOf(key, [place, text], Buffer.from(signed.slice(0, Math.max(0, end)), "base64url")))
    return undefined;
  return JSON.parse(text);
}
