/**
 * The path of a request that may be forwarded, by whole decoded segments. What is matched is what is sent: the path for
 * the controller is encoded again from the decoded segments, so that no other reading of the client's bytes can lead it to
 * another resource. A path that two servers could understand differently is none.
 */
/** The alias under which programs of ONOS find what they know. */
export const FORWARDED_PREFIX = "onos";
const PATH_START = `/${FORWARDED_PREFIX}/v1/`;

export interface ForwardPath {
  /** The first segment. */
  readonly resource: string;
  /** All segments, percent-encoded, without a slash at the beginning. */
  readonly path: string;
}

/** `path` has no query. Undefined for every path outside ONOS's interface, and for one that cannot be forwarded. */
export function parseForwardPath(path: string): ForwardPath | undefined {
  if (!path.startsWith(PATH_START)) return undefined;
  const encoded = path.slice(PATH_START.length).split("/");
  const endsWithSlash = encoded.length > 1 && encoded.at(-1) === "";
  if (endsWithSlash) encoded.pop();
  const segments: string[] = [];
  for (const text of encoded) {
    const segment = decodeSegment(text);
    if (segment === undefined) return undefined;
    segments.push(segment);
  }
  const [resource = ""] = segments;
  return { resource, path: segments.map(encodeSegment).join("/") + (endsWithSlash ? "/" : "") };
}

/**
 * Servers differ in what they do with these: a slash or a backslash may separate segments, `;` begins parameters that some
 * remove (`..;`), and `%` is left only where something was encoded twice.
 */
const AMBIGUOUS = /[/\\;%\x00-\x1f\x7f]/;

function decodeSegment(text: string): string | undefined {
  let segment: string;
  try {
    segment = decodeURIComponent(text);
  } catch {
    return undefined;
  }
  const isDots = segment === "" || segment === "." || segment === "..";
  return isDots || AMBIGUOUS.test(segment) ? undefined : segment;
}

/** These stand in a path as they are (RFC 3986, 3.3). Ids of devices have colons, and are easier to read with them. */
const encodeSegment = (segment: string): string =>
  encodeURIComponent(segment).replace(/%(?:3A|40|2C|2B|3D|24|26)/g, decodeURIComponent);
