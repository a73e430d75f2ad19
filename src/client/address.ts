/** Parses the address of the service and the credentials from the forms that callers write them in. */
import { parseToken } from "../lib/access-token.ts";

/** `<USERNAME>:<PASSWORD>`, or the two as separate fields, or a token of `gazetteer token add`. */
export type Credentials = string | { readonly user: string; readonly password: string };

export interface ServiceAddress {
  /** `/readyz` is below this URL. */
  readonly serviceUrl: URL;
  /** `/devices` is below this URL. Its prefix is `/controller/v1` unless the address names another. */
  readonly apiUrl: URL;
  readonly authorization: string | undefined;
}

/**
 * `credentials` take precedence over credentials in the URL. The URLs in the result contain none, because `fetch`
 * rejects a URL with credentials.
 */
export function parseAddress(address: string | URL, credentials: Credentials | undefined): ServiceAddress {
  const url = new URL(address);
  if (!/^https?:$/.test(url.protocol)) throw new TypeError(`${url.protocol} is not http or https`);
  const urlCredentials =
    url.username === ""
      ? undefined
      : { user: decodePercent(url.username), password: decodePercent(url.password) };
  const path = url.pathname.replace(/\/+$/, "");
  const prefix = /\/[^/]+\/v1$/.exec(path)?.[0];
  const servicePath = prefix === undefined ? path : path.slice(0, -prefix.length);
  const used = credentials ?? urlCredentials;
  return {
    serviceUrl: new URL(url.origin + servicePath),
    apiUrl: new URL(`${url.origin}${servicePath}${prefix ?? "/controller/v1"}`),
    authorization: used === undefined ? undefined : authorizationOf(used),
  };
}

/** The `Authorization` header: Bearer for a token, else HTTP Basic (RFC 7617) with the credentials encoded in UTF-8. */
export function authorizationOf(credentials: Credentials): string {
  if (typeof credentials === "object" && credentials.user.includes(":")) {
    throw new TypeError("a user name cannot contain a colon");
  }
  const text = typeof credentials === "string" ? credentials : `${credentials.user}:${credentials.password}`;
  if (parseToken(text)) return `Bearer ${text}`;
  if (!text.includes(":"))
    throw new TypeError("credentials are written <USERNAME>:<PASSWORD>, or are a token");
  return `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}`;
}

/** Returns the text unchanged if it is not valid percent-encoding. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
