/**
 * Addresses of links out of the map, as templates of the configuration: `ssh://{managementAddress}`. The configuration is
 * trusted, but the values come from the network and are not. So scheme, user, port and the form of the address are fixed
 * text of the template. A value in the host must be an address or a host name, and must be the whole host or stand before a
 * fixed domain. A value anywhere else is percent-encoded, so that it can neither end its part of the address nor leave its
 * path. Where a value is missing or does not fit, there is no address.
 */
import { canonicalIp } from "./address.ts";

export const LINK_SCHEMES = ["http", "https", "ssh", "telnet", "mailto"] as const;
/** Length of the text of a template, in characters. */
export const MAX_TEMPLATE_LENGTH = 2048;
/** A longer value is no name or id, and browsers truncate long addresses. */
const MAX_VALUE_LENGTH = 1024;

/** Fixed text, or the name of a value. `encode` returns undefined for a value that may not stand there. */
interface Part {
  readonly text: string;
  readonly encode?: (value: string) => string | undefined;
}

export interface LinkTemplate {
  readonly parts: readonly Part[];
}

export type LinkTemplateResult =
  | { readonly ok: true; readonly template: LinkTemplate }
  /** A message for the operator, such as the rest of "must be …". */
  | { readonly ok: false; readonly message: string };

const SCHEME = /^(https?:\/\/|ssh:\/\/|telnet:\/\/|mailto:)/i;
/** The characters of a template. An address has no others, and this excludes control characters and bidi marks. */
const PLAIN_TEXT = /^[\x21-\x7e]*$/;
const PLACEHOLDER = /\{([^{}]*)\}/;
const VALUE_NAME = /^[A-Za-z][A-Za-z0-9_.:-]{0,127}$/;
/** A host name does not begin with a dash, because programs that open `ssh:` addresses may parse it as an option. */
const HOST_NAME = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?$/;
/** Matches the path of an address that has a host. */
const PATH = /^[a-z]+:\/\/[^/?#]*([^?#]*)/i;
const DOT_SEGMENT = /(^|\/)(\.|%2e){1,2}(\/|$)/i;

export function parseLinkTemplate(text: string): LinkTemplateResult {
  const scheme = SCHEME.exec(text)?.[0];
  if (scheme === undefined)
    return fail(
      `must begin with ${LINK_SCHEMES.map((name) => (name === "mailto" ? "mailto:" : `${name}://`)).join(", ")}`,
    );
  if (!PLAIN_TEXT.test(text) || /["<>\\^`|]/.test(text))
    return fail("must be an address without spaces; write other characters percent-encoded");
  const rest = text.slice(scheme.length);
  if (/[{}]/.test(rest.replaceAll(new RegExp(PLACEHOLDER, "g"), "")))
    return fail("has a brace without its pair");
  const badName = namesIn(rest).find((name) => !VALUE_NAME.test(name));
  if (badName !== undefined)
    return fail(`{${badName}} is not the name of a value, such as {managementAddress}`);
  return scheme.toLowerCase() === "mailto:" ? parseMailto(scheme, rest) : parseWithHost(scheme, rest);
}

function parseMailto(scheme: string, rest: string): LinkTemplateResult {
  const end = indexOrEnd(rest, /\?/);
  if (namesIn(rest.slice(0, end)).length > 0)
    return fail("a value may only stand after ? here: the address must not come from the network");
  if (end === 0) return fail("must name an address after mailto:");
  return created([{ text: scheme }, ...partsOf(rest, encodeValue)]);
}

function parseWithHost(scheme: string, rest: string): LinkTemplateResult {
  const end = indexOrEnd(rest, /[/?#]/);
  const authority = rest.slice(0, end);
  const at = authority.lastIndexOf("@") + 1;
  const port = /:\d{1,5}$/.exec(authority)?.[0] ?? "";
  const [user, host] = [authority.slice(0, at), authority.slice(at, authority.length - port.length)];
  if (user.includes(":")) return fail("must not have a password: everybody who sees the map would see it");
  if (namesIn(user).length > 0) return fail("a value must not stand before @");
  if (host === "") return fail("must name a host");
  const names = namesIn(host);
  const isWhole = names.length === 1 && host === `{${names[0]}}`;
  const suffix = host.slice(host.lastIndexOf("}") + 1);
  if (names.length > 0 && !isWhole && !/^[A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+$/.test(suffix))
    return fail("a value in the host must be the whole host, or stand before a domain: {name}.example.net");
  if (DOT_SEGMENT.test(PATH.exec(scheme + rest)?.[1] ?? ""))
    return fail("must not have . or .. as a part of its path");
  return created([
    { text: scheme + user },
    ...partsOf(host, isWhole ? encodeHost : encodeHostName),
    { text: port },
    ...partsOf(rest.slice(end), encodeValue),
  ]);
}

/** Checks that the template gives a valid address when every value fits. */
function created(parts: readonly Part[]): LinkTemplateResult {
  const template = { parts };
  if (expandLinkTemplate(template, () => "192.0.2.1") === undefined) return fail("is not a valid address");
  return { ok: true, template };
}

/** Returns undefined where a value is missing or does not fit; then there is no link. */
export function expandLinkTemplate(
  { parts }: LinkTemplate,
  findValue: (name: string) => string | undefined,
): string | undefined {
  let address = "";
  for (const { text, encode } of parts) {
    const value = encode ? findValue(text) : undefined;
    if (encode && (!value || value.length > MAX_VALUE_LENGTH)) return undefined;
    const added = encode && value ? encode(value) : text;
    if (added === undefined) return undefined;
    address += added;
  }
  // A browser removes dot segments, so a value of two dots would lead to another path.
  if (DOT_SEGMENT.test(PATH.exec(address)?.[1] ?? "")) return undefined;
  return URL.parse(address) === null ? undefined : address;
}

const namesIn = (text: string): string[] =>
  Array.from(text.matchAll(new RegExp(PLACEHOLDER, "g")), ([, name = ""]) => name);

/** Splits the text at its placeholders: the pieces at odd indexes are the names of values. */
function partsOf(text: string, encode: (value: string) => string | undefined): Part[] {
  return text
    .split(PLACEHOLDER)
    .map((piece, i): Part => (i % 2 === 1 ? { text: piece, encode } : { text: piece }));
}

function encodeValue(value: string): string | undefined {
  // A lone surrogate has no UTF-8 encoding.
  if (!value.isWellFormed()) return undefined;
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

const encodeHostName = (value: string): string | undefined => (HOST_NAME.test(value) ? value : undefined);

function encodeHost(value: string): string | undefined {
  if (!value.includes(":")) return encodeHostName(value);
  const address = canonicalIp(value);
  return address === undefined ? undefined : `[${address}]`;
}

function indexOrEnd(text: string, pattern: RegExp): number {
  const index = text.search(pattern);
  return index < 0 ? text.length : index;
}

const fail = (message: string): LinkTemplateResult => ({ ok: false, message });
