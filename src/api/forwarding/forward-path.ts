/**
 * Parses the path of a request that may be forwarded into decoded segments. The path for the controller is encoded again
 * from the segments that were matched, so that the controller cannot interpret the client's bytes as another resource. A
 * path that two servers could interpret differently is not forwarded.
 */
/** The alias that serves programs written for ONOS. */
export const FORWARDED_PREFIX = "onos";
const PATH_START = `/${FORWARDED_PREFIX}/`;
const VERSION = "v1";

export interface ForwardPath {
  /** The resource as in the key `forward` of a source: `flows` for `/onos/v1/flows`, or `/onos/sadis` for another web context. */
  readonly resource: string;
  /** The segments after the version, or after the context, percent-encoded, without a slash at the beginning. */
  readonly path: string;
  /** Whether ONOS changes its state when it receives this GET, so that it is never forwarded. */
  readonly writes: boolean;
}

/**
 * The paths after `/onos/` of the GETs of ONOS 2.7 and its applications that write; `*` is any segment. For `v1` these are
 * all whose code changes state: `mastership` rebalances the masters, `next` allocates an id. Those of the applications for
 * OpenStack, Kubernetes and KubeVirt are alike, and are matched in every context.
 */
const WRITING_READS: readonly (readonly string[])[] = [
  [VERSION, "flowobjectives", "next"],
  [VERSION, "mastership"],
  [VERSION, "mastership", "*", "relinquish"],
  [VERSION, "mastership", "*", "request"],
  ["*", "management", "sync", "*"],
  ["*", "management", "purge", "*"],
  ["*", "management", "config", "*", "*"],
  ["*", "configure", "init", "*"],
  ["*", "configure", "init", "node", "*"],
  ["*", "node", "init", "*"],
  ["*", "ipam", "*"],
];

/** Parses a path without query. Returns undefined for a path outside ONOS's interfaces, and for one that cannot be forwarded. */
export const parseForwardPath = (path: string): ForwardPath | undefined => parsePath(path, holdsSubjects);

/** Parses any path of ONOS, including those with slashes in connect points and keys of intents, which are not forwarded. */
export const parseOnosPath = (path: string): ForwardPath | undefined =>
  parsePath(path, (before) => before.length > 1);

/** `mayHaveSlashes` is called for each segment with the segments before it. */
function parsePath(
  path: string,
  mayHaveSlashes: (before: readonly string[]) => boolean,
): ForwardPath | undefined {
  if (!path.startsWith(PATH_START)) return undefined;
  const encoded = path.slice(PATH_START.length).split("/");
  const endsWithSlash = encoded.length > 2 && encoded.at(-1) === "";
  if (endsWithSlash) encoded.pop();
  const decoded: string[] = [];
  for (const text of encoded) {
    const segment = decodeSegment(text, mayHaveSlashes(decoded));
    if (segment === undefined) return undefined;
    decoded.push(segment);
  }
  const [context = "", ...segments] = decoded;
  const [first] = segments;
  if (first === undefined) return undefined;
  return {
    resource: context === VERSION ? first : `${PATH_START}${context}`,
    path: segments.map(encodeSegment).join("/") + (endsWithSlash ? "/" : ""),
    writes: WRITING_READS.some((pattern) => matches(pattern, decoded)),
  };
}

const matches = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.length === segments.length && pattern.every((part, i) => part === "*" || part === segments[i]);

/** Whether the next segment can be a subject of ONOS's network configuration, such as a port or host, whose ids have a slash. */
const holdsSubjects = ([context, first, second]: readonly string[]): boolean =>
  context === VERSION && first === "network" && second === "configuration";

/**
 * Characters that servers interpret differently: a slash or a backslash may separate segments, `;` begins parameters that
 * some servers remove (`..;`), and `%` remains only if something was encoded twice.
 */
const AMBIGUOUS = /[/\\;%\x00-\x1f\x7f]/;

/** Decodes a segment. With `hasSlashes` it may contain slashes, but no part that leads out of it if slashes separate segments. */
function decodeSegment(text: string, hasSlashes: boolean): string | undefined {
  let segment: string;
  try {
    segment = decodeURIComponent(text);
  } catch {
    return undefined;
  }
  const parts = hasSlashes ? segment.split("/") : [segment];
  const isDots = parts.some((part) => part === "" || part === "." || part === "..");
  return isDots || parts.some((part) => AMBIGUOUS.test(part)) ? undefined : segment;
}

/** Encodes a segment. The characters that a path may contain (RFC 3986, 3.3) stay readable, such as the colons of device ids. */
const encodeSegment = (segment: string): string =>
  encodeURIComponent(segment).replace(/%(?:3A|40|2C|2B|3D|24|26)/g, decodeURIComponent);
