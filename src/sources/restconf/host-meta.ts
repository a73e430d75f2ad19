/**
 * The root of a RESTCONF server, from `/.well-known/host-meta` (RFC 8040 section 3.1): a link with `rel="restconf"` in
 * XRD, as XML or as JSON (RFC 6415). The document is small and has no nesting that matters, so its tags are searched
 * for instead of adding an XML parser.
 */
export const HOST_META_PATH = "/.well-known/host-meta";

const COMMENTS = /<!--[\s\S]*?-->/g;
const LINK_TAGS = /<(?:[\w.-]+:)?Link\s([^<>]*)>/g;
const ATTRIBUTES = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
};

/** The `href` of the link, or undefined when there is none. */
export function parseHostMeta(text: string): string | undefined {
  const links = text.trimStart().startsWith("{") ? jsonLinks(text) : xmlLinks(text);
  return links.find(({ rel, href }) => rel === "restconf" && typeof href === "string")?.href;
}

interface Link {
  readonly rel?: string;
  readonly href?: string;
}

function xmlLinks(text: string): Link[] {
  return [...text.replaceAll(COMMENTS, "").matchAll(LINK_TAGS)].map(([, attributes = ""]) =>
    Object.fromEntries(
      [...attributes.matchAll(ATTRIBUTES)].map(([, name, double, single]) => [
        name,
        (double ?? single ?? "").replaceAll(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity),
      ]),
    ),
  );
}

function jsonLinks(text: string): Link[] {
  try {
    const document: { links?: unknown } | null = JSON.parse(text);
    const links: unknown = document?.links;
    return Array.isArray(links) ? links.filter((link) => typeof link === "object" && link !== null) : [];
  } catch {
    return [];
  }
}
