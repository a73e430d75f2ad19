/**
 * Parses the Authorization header of HTTP Basic (RFC 7617) as leniently as real clients write it: any case of the
 * scheme, padding left out, the URL-safe alphabet.
 *
 * The character encoding is not announced. Most clients send UTF-8, Python's requests sends Latin-1, and some byte
 * sequences are valid in both. So one header may decode to several candidates, and the caller tries each.
 */
import { passwordBytes } from "./password.ts";

export interface BasicCredentials {
  readonly name: string;
  readonly password: Uint8Array;
}

/** Maximum length of a header, which no real name and password reach. A longer one is rejected before it is decoded. */
export const MAX_AUTHORIZATION_LENGTH = 4096;

const BASIC = /^basic[ \t]+([A-Za-z0-9+/_-]+)={0,2}[ \t]*$/i;
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns the candidates, most likely first, or none if the header is malformed. */
export function parseBasicAuthorization(header: string): BasicCredentials[] {
  if (header.length > MAX_AUTHORIZATION_LENGTH) return [];
  const base64 = BASIC.exec(header)?.[1];
  if (base64 === undefined || base64.length % 4 === 1) return [];
  const bytes = Buffer.from(base64, "base64");
  const colon = bytes.indexOf(0x3a);
  if (colon < 0) return [];
  const fromLatin1 = splitCredentials(bytes.toString("latin1"));
  if (bytes.every((byte) => byte < 0x80)) return fromLatin1;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    // The raw bytes are a candidate too, because the stored hash may have been made on a Latin-1 terminal.
    const rawPassword = bytes.subarray(colon + 1);
    return fromLatin1.flatMap((latin1) => [latin1, { name: latin1.name, password: rawPassword }]);
  }
  return [...splitCredentials(text), ...fromLatin1];
}

function splitCredentials(text: string): BasicCredentials[] {
  if (CONTROL_CHARACTER.test(text)) return [];
  const colon = text.indexOf(":");
  return [{ name: text.slice(0, colon).normalize("NFC"), password: passwordBytes(text.slice(colon + 1)) }];
}
