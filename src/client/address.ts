/** Where the service is and who asks, as people write both. */

/** `<USERNAME>:<PASSWORD>`, or the two apart. */
export type Credentials = string | { readonly user: string; readonly password: string };

export interface Address {
  /** What `/readyz` is below. */
  readonly service: URL;
  /** What `/devices` is below: `/controller/v1`, or another prefix where the address names one. */
  readonly interface: URL;
  readonly authorization: string | undefined;
}

/** Credentials in the address count where none are given beside it; `fetch` itself would refuse them there. */
export function addressOf(given: string | URL, credentials: Credentials | undefined): Address {
  const url = new URL(given);
  if (!/^https?:$/.test(url.protocol)) throw new TypeError(`${url.protocol} is not http or https`);
  const inUrl =
    url.username === "" ? undefined : { user: decoded(url.username), password: decoded(url.password) };
  const path = url.pathname.replace(/\/+$/, "");
  const prefix = /\/[^/]+\/v1$/.exec(path)?.[0];
  const below = prefix === undefined ? path : path.slice(0, -prefix.length);
  const who = credentials ?? inUrl;
  return {
    service: new URL(url.origin + below),
    interface: new URL(`${url.origin}${below}${prefix ?? "/controller/v1"}`),
    authorization: who === undefined ? undefined : basic(who),
  };
}

/** RFC 7617, in UTF-8. */
function basic(credentials: Credentials): string {
  if (typeof credentials === "object" && credentials.user.includes(":")) {
    throw new TypeError("a user name cannot contain a colon");
  }
  const text = typeof credentials === "string" ? credentials : `${credentials.user}:${credentials.password}`;
  if (!text.includes(":")) throw new TypeError("credentials are written <USERNAME>:<PASSWORD>");
  return `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
