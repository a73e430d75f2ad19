/**
 * The Authorization header of HTTP Basic (RFC 7617), read as leniently as real clients write it: any case of the
 * scheme, padding left out, the URL alphabet. Bytes are UTF-8; where they are not, or might not be (Python's requests
 * sends Latin-1), there is more than one reading, and each is tried.
 */
import { passwordBytes } from "./password.ts";

export interface Reading {
  readonly name: string;
  readonly password: Uint8Array;
}

/** More than any name and password; what is longer is refused before it is decoded. */
export const MAX_HEADER_CHARACTERS = 4096;

const BASIC = /^basic[ \t]+([A-Za-z0-9+/_-]+)={0,2}[ \t]*$/i;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The readings of a header, most likely first; empty when it is malformed. */
export function readBasic(header: string): Reading[] {
  if (header.length > MAX_HEADER_CHARACTERS) return [];
  const encoded = BASIC.exec(header)?.[1];
  if (encoded === undefined || encoded.length % 4 === 1) return [];
  const bytes = Buffer.from(encoded, "base64");
  const colon = bytes.indexOf(0x3a);
  if (colon < 0) return [];
  const latin1 = reading(bytes.toString("latin1"));
  if (bytes.every((byte) => byte < 0x80)) return latin1;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    // The last one is for a password that was hashed in the bytes of a Latin-1 terminal.
    return latin1.flatMap((as) => [as, { name: as.name, password: bytes.subarray(colon + 1) }]);
  }
  return [...reading(text), ...latin1];
}

function reading(text: string): Reading[] {
  if (CONTROL.test(text)) return [];
  const colon = text.indexOf(":");
  return [{ name: text.slice(0, colon).normalize("NFC"), password: passwordBytes(text.slice(colon + 1)) }];
}
