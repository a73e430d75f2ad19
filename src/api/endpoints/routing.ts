/**
 * Finds the endpoint of a path. `controller` and `v1` are fixed. Configured aliases serve the same as `controller`; `onos`
 * has a dialect of its own. Ids need not be percent-encoded, so an id that contains a slash may span several segments.
 */
import { quote } from "../../lib/error-text.ts";
import type { Prefixes } from "../onos/onos-dialect.ts";
import { ProblemDetails, UnknownPathProblem, UnknownResourceProblem } from "../response/problem.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { NegotiatedEndpoint } from "./negotiate.ts";

/** The endpoint of a path, and the parameters in the path. */
export interface Route {
  readonly endpoint: NegotiatedEndpoint;
  readonly params: unknown;
}

const VERSIONS = ["v1"];

const literalSegments = (path: string): number =>
  path.split("/").filter((segment) => segment !== "" && !segment.includes("{")).length;

/** The endpoints by the first segment after the version. Those with more literal segments are first. */
const BY_RESOURCE: ReadonlyMap<string, readonly NegotiatedEndpoint[]> = Map.groupBy(
  ENDPOINTS.toSorted((a, b) => literalSegments(b.path) - literalSegments(a.path)).map(
    (endpoint) => new NegotiatedEndpoint(endpoint),
  ),
  ({ endpoint: { path } }) => path.split("/")[1] ?? "",
);

/** The routes that have one segment. Most requests use them, and they need no splitting and decoding. */
const COLLECTIONS: ReadonlyMap<string, Route> = new Map(
  ENDPOINTS.flatMap(({ path }): [string, Route][] => {
    const segment = path.slice(1);
    const route = segment.includes("/") ? undefined : matchSegments([segment]);
    return route ? [[segment, route]] : [];
  }),
);

/** Returns undefined for a path without an endpoint. Throws a `ProblemDetails` for a path that is not valid. */
export function findRoute(path: string, prefixes: Prefixes): Route | undefined {
  const prefixEnd = segmentEnd(path, 1);
  if (!prefixes.has(path.slice(1, prefixEnd))) return undefined;
  const versionEnd = segmentEnd(path, prefixEnd + 1);
  if (!VERSIONS.includes(path.slice(prefixEnd + 1, versionEnd))) return undefined;
  const resourcePath = path.slice(versionEnd + 1);
  return COLLECTIONS.get(resourcePath) ?? matchSegments(splitSegments(resourcePath));
}

function segmentEnd(path: string, start: number): number {
  const slash = path.indexOf("/", start);
  return slash < 0 ? path.length : slash;
}

/** The decoded segments. Trailing slashes are ignored. */
function splitSegments(resourcePath: string): string[] {
  const segments = resourcePath.split("/").map(decodeSegment);
  while (segments.length > 1 && segments.at(-1) === "") segments.pop();
  return segments;
}

function matchSegments(segments: readonly string[]): Route | undefined {
  for (const candidate of BY_RESOURCE.get(segments[0] ?? "") ?? []) {
    const params = candidate.endpoint.match(segments);
    if (params !== undefined) return { endpoint: candidate, params };
  }
  return undefined;
}

function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  // Most ids contain an encoded slash and nothing else that is encoded, and `decodeURIComponent` is slow.
  const slashed = segment.replaceAll("%2F", "/");
  if (!slashed.includes("%")) return slashed;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new ProblemDetails("bad-path", `${quote(segment)} in the path is not percent-encoded UTF-8.`);
  }
}

/** The problem of a path that does not exist. */
export function unknownPath(path: string, prefixes: Prefixes, method: string): ProblemDetails {
  const [, prefix = "", version, resource, ...rest] = path.split("/");
  const dialect = prefixes.get(prefix);
  if (!dialect)
    return new UnknownPathProblem(
      "not-found",
      `There is nothing at ${quote(path)}; the interface begins at /controller/v1.`,
    );
  const missing = dialect.missingResource(method, path);
  if (missing) return missing;
  const hint = dialect.unknownPathHint;
  if (version === undefined || !VERSIONS.includes(version)) {
    const known = VERSIONS.map((name) => `/${prefix}/${name}`).join(", ");
    return version === undefined || (version === "" && resource === undefined)
      ? new UnknownPathProblem(
          "version-unknown",
          `There is nothing at ${quote(path)}; the interface is at ${known}.${hint}`,
        )
      : new UnknownResourceProblem(
          "version-unknown",
          `There is no version ${quote(version)} here; there is ${known}.${hint}`,
        );
  }
  const known = Array.from(COLLECTIONS.keys(), (name) => `/${prefix}/v1/${name}`).join(", ");
  const isRoot = resource === undefined || (resource === "" && rest.length === 0);
  const ProblemType = isRoot ? UnknownPathProblem : UnknownResourceProblem;
  return new ProblemType("not-found", `There is nothing at ${quote(path)}; there are ${known}.${hint}`);
}
