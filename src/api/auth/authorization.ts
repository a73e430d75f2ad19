/**
 * Parses the Authorization header: HTTP Basic (RFC 7617) with a user name and a password, or a Bearer token (RFC 6750) of
 * `gazetteer token add`, whose text has the name of its user. Both are parsed as leniently as real clients write them: any
 * case of the scheme; for Basic also padding left out and the URL-safe alphabet.
 *
 * The character encoding of Basic is not announced. Most clients send UTF-8, Python's requests sends Latin-1, and some byte
 * sequences are valid in both. So one header may decode to several candidates, and the caller tries each.
 */
import { parseToken } from "../../lib/access-token.ts";
import { type LoginScheme, passwordBytes } from "./password.ts";

/** What a header claims: the name of a user, and the secret that proves it. */
export interface LoginCandidate {
  readonly scheme: LoginScheme;
  readonly name: string;
  readonly secret: Uint8Array;
}

/** Maximum length of a header, which no real name and password reach. A longer one is rejected before it is decoded. */
export const MAX_AUTHORIZATION_LENGTH = 4096;

const BASIC = /^basic[ \t]+([A-Za-z0-9+/_-]+)={0,2}[ \t]*$/i;
const BEARER = /^bearer(?:[ \t]+(\S+))?[ \t]*$/i;
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Whether the header has the scheme of tokens, also if it has no valid token. */
export const isBearer = (header: string): boolean => BEARER.test(header);

/** Returns the candidates, most likely first, or none if the header is malformed. */
export function parseAuthorization(header: string): LoginCandidate[] {
  if (header.length > MAX_AUTHORIZATION_LENGTH) return [];
  const bearer = BEARER.exec(header);
  if (bearer) return parseBearer(bearer[1] ?? "");
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
    return fromLatin1.flatMap((latin1) => [latin1, { ...latin1, secret: rawPassword }]);
  }
  return [...splitCredentials(text), ...fromLatin1];
}

function parseBearer(text: string): LoginCandidate[] {
  const token = parseToken(text);
  return token ? [{ scheme: "bearer", name: token.name, secret: passwordBytes(token.secret) }] : [];
}

function splitCredentials(text: string): LoginCandidate[] {
  if (CONTROL_CHARACTER.test(text)) return [];
  const colon = text.indexOf(":");
  const name = text.slice(0, colon).normalize("NFC");
  return [{ scheme: "basic", name, secret: passwordBytes(text.slice(colon + 1)) }];
}
