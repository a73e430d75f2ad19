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
  if (!prefixes.find(path)) return undefined;
  const versionStart = path.indexOf("/", 1) + 1;
  const versionEnd = path.indexOf("/", versionStart);
  if (versionEnd < 0 || !VERSIONS.includes(path.slice(versionStart, versionEnd))) return undefined;
  const resourcePath = path.slice(versionEnd + 1);
  // Most paths with more segments have an id, and a look-up of the whole path would read it once more.
  const collection = resourcePath.includes("/") ? undefined : COLLECTIONS.get(resourcePath);
  return collection ?? matchSegments(splitSegments(resourcePath));
}

/** The decoded segments. Trailing slashes are ignored. */
function splitSegments(resourcePath: string): string[] {
  const segments: string[] = [];
  for (let start = 0, end = 0; end < resourcePath.length; start = end + 1) {
    const slash = resourcePath.indexOf("/", start);
    end = slash < 0 ? resourcePath.length : slash;
    segments.push(decodeSegment(resourcePath.slice(start, end)));
  }
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
  const percent = segment.indexOf("%");
  if (percent < 0) return segment;
  // Most ids contain an encoded slash and nothing else that is encoded, and `decodeURIComponent` is slow.
  if (segment.startsWith("%2F", percent) && segment.indexOf("%", percent + 1) < 0)
    return `${segment.slice(0, percent)}/${segment.slice(percent + 3)}`;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new ProblemDetails("bad-path", `${quote(segment)} in the path is not percent-encoded UTF-8.`);
  }
}

/** The problem of a path that does not exist. */
export function unknownPath(path: string, prefixes: Prefixes, method: string): ProblemDetails {
  const [, prefix = "", version, resource, ...rest] = path.split("/");
  const dialect = prefixes.find(path);
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
