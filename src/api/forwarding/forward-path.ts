/**
 * The path of a request that may be forwarded, by whole decoded segments. What is matched is what is sent: the path for
 * the controller is encoded again from the decoded segments, so that no other reading of the client's bytes can lead it to
 * another resource. A path that two servers could understand differently is none.
 */
/** The alias under which programs of ONOS find what they know. */
export const FORWARDED_PREFIX = "onos";
const PATH_START = `/${FORWARDED_PREFIX}/`;
const VERSION = "v1";

export interface ForwardPath {
  /** As `forward` of a source spells it: `flows` is `/onos/v1/flows`, `/onos/sadis` another context of ONOS's server. */
  readonly resource: string;
  /** Every segment after the version, or after the context, percent-encoded, without a slash at the beginning. */
  readonly path: string;
  /** ONOS changes its state when it gets this, although it is a GET: it is never forwarded. */
  readonly writes: boolean;
}

/**
 * The GETs of ONOS 2.7 and its applications that write, after `/onos/`; `*` is any segment. Of `v1` these are all whose code
 * calls something that changes state: `mastership` itself spreads the masters anew, `next` takes an id. Those of the
 * applications for OpenStack, Kubernetes and KubeVirt are alike, and are matched in every context.
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

/** `path` has no query. Undefined for every path outside ONOS's interfaces, and for one that cannot be forwarded. */
export const parseForwardPath = (path: string): ForwardPath | undefined => parsePath(path, holdsSubjects);

/** The same for all that ONOS has: connect points and keys of intents have slashes too, although they are not forwarded. */
export const parseOnosPath = (path: string): ForwardPath | undefined =>
  parsePath(path, (before) => before.length > 1);

/** `mayHaveSlashes` is called for each segment, with those before it. */
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

/** Ports and hosts, whose ids have a slash, are subjects of ONOS's network configuration. */
const holdsSubjects = ([context, first, second]: readonly string[]): boolean =>
  context === VERSION && first === "network" && second === "configuration";

/**
 * Servers differ in what they do with these: a slash or a backslash may separate segments, `;` begins parameters that some
 * remove (`..;`), and `%` is left only where something was encoded twice.
 */
const AMBIGUOUS = /[/\\;%\x00-\x1f\x7f]/;

/** With `hasSlashes` the segment may contain slashes, but nothing that leads out of it where they separate segments. */
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

/** These stand in a path as they are (RFC 3986, 3.3). Ids of devices have colons, and are easier to read with them. */
const encodeSegment = (segment: string): string =>
  encodeURIComponent(segment).replace(/%(?:3A|40|2C|2B|3D|24|26)/g, decodeURIComponent);
