/**
 * Parses the headers in which proxies name the client: `Forwarded` (RFC 7239) and `X-Forwarded-For`. The result is the
 * chain of hops as each proxy saw them, nearest to the service last. A hop that is not an address (`unknown`, an
 * obfuscated identifier such as `_gateway`, nonsense) is undefined.
 */
import { parseAddress } from "../../lib/address-ranges.ts";

export type Hop = string | undefined;

const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
const VALUE = /(?:[!#$%&'*+\-.^_`|~0-9A-Za-z:[\]]+|"((?:[^"\\]|\\.)*)")/y;
const BLANKS = /[ \t]*/y;

/** Returns undefined if the header is malformed, because then no part of it can be relied on. */
export function parseForwarded(header: string): Hop[] | undefined {
  const hops: Hop[] = [];
  let at = 0;
  const read = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(header);
    if (found) at = pattern.lastIndex;
    return found;
  };
  while (at < header.length) {
    let hop: Hop;
    let hasPairs = false;
    // One element is pairs separated by semicolons, up to a comma. Lists may have empty elements (RFC 9110, 5.6.1).
    for (;;) {
      read(BLANKS);
      const name = read(TOKEN)?.[0].toLowerCase();
      if (name !== undefined) {
        if (header[at++] !== "=") return undefined;
        const value = read(VALUE);
        if (!value) return undefined;
        if (name === "for") hop = parseNode(value[1]?.replace(/\\(.)/g, "$1") ?? value[0]);
        hasPairs = true;
      }
      read(BLANKS);
      const separator = header[at++];
      if (separator === undefined || separator === ",") break;
      if (separator !== ";") return undefined;
    }
    if (hasPairs) hops.push(hop);
  }
  return hops;
}

export function parseForwardedFor(header: string): Hop[] {
  return header
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")
    .map(parseNode);
}

/** Parses `192.0.2.1`, `192.0.2.1:4711`, `[2001:db8::1]`, `[2001:db8::1]:4711`, and `2001:db8::1` as many proxies write it. */
function parseNode(text: string): Hop {
  const [, bracketed, bare] = /^(?:\[([^\]]*)\](?::\w{1,32})?|([^[\]]*))$/.exec(text) ?? [];
  const hasOneColon = bare !== undefined && bare.indexOf(":") === bare.lastIndexOf(":");
  const host = bracketed ?? (hasOneColon ? bare.replace(/:\w{1,32}$/, "") : bare);
  return host === undefined ? undefined : parseAddress(host)?.toString();
}

/** The value of a `Forwarded` header that names one client. */
export const forwardedHeader = (address: string): string =>
  `for="${address.includes(":") ? `[${address}]` : address}"`;
