/**
 * Encodes ids of entities as URIs (`inet:uri`: ASCII and normalised), which RFC 8345 requires for its ids. The renderer of
 * `format=rfc8345` encodes; the RESTCONF source and `import` decode. Both directions are here, so that a document that is
 * read back has the same ids.
 *
 * An id that is such a URI is not changed; any other becomes `gazetteer:<kind>/<percent-encoded>`. An id that already
 * starts with `gazetteer:` is encoded too, so that different ids stay different.
 */

/** The id of the network of the document. The prefix `gazetteer:` has this meaning only in that network. */
export const RFC8345_NETWORK_ID = "gazetteer:network";

const KINDS = ["device", "link", "host", "attachment"] as const;
export type Rfc8345Kind = (typeof KINDS)[number];

/** URIs of RFC 3986 without authority and percent-encoding, because normalising those needs more than a check of characters. */
const PLAIN_URI =
  /^[a-z][a-z0-9+.-]*:(?!\/\/)[\w\-.~!$&'()*+,;=:@/]+(?:\?[\w\-.~!$&'()*+,;=:@/?]*)?(?:#[\w\-.~!$&'()*+,;=:@/?]*)?$/;

/** The kinds whose ids may already be URIs, such as `of:0000000000000001`. */
const URI_KINDS: readonly string[] = ["device", "link"];

const ENCODED_ID = /^gazetteer:([a-z]+)\/(.*)$/s;

/** The result contains no quote and no backslash, so it is valid inside a JSON string without escaping. */
export function encodeRfc8345Id(kind: Rfc8345Kind, id: string): string {
  if (URI_KINDS.includes(kind) && PLAIN_URI.test(id) && !id.startsWith("gazetteer:")) return id;
  return prefixed(kind, percentEncode(id));
}

/** Adds the prefix to an id that is percent-encoded already. The encoded id of a link is composed of its encoded ends. */
export const prefixed = (kind: Rfc8345Kind, encoded: string): string => `gazetteer:${kind}/${encoded}`;

export const percentEncode = (id: string): string =>
  encodeURIComponent(id.toWellFormed()).replaceAll("%3A", ":").replaceAll("%2F", "/");

/** Returns undefined for an id that `encodeRfc8345Id` does not make. A URI without the prefix is that of a device. */
export function decodeRfc8345Id(uri: string): { kind: Rfc8345Kind; id: string } | undefined {
  if (!uri.startsWith("gazetteer:")) return { kind: "device", id: uri };
  const [, name, encoded] = ENCODED_ID.exec(uri) ?? [];
  const kind = KINDS.find((known) => known === name);
  if (kind === undefined || encoded === undefined) return undefined;
  try {
    return { kind, id: decodeURIComponent(encoded) };
  } catch {
    return undefined; // The text is not percent-encoded UTF-8.
  }
}
