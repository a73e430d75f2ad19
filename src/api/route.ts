/**
 * Parses the path of a request. `controller` and `v1` are fixed; configured aliases (`onos`) mean the same as
 * `controller`. Ids may be percent-encoded or not, so an id that contains a slash may span several segments.
 */
import { quote } from "../lib/error-text.ts";
import { canonicalHostId } from "../model/address.ts";
import type { Kind } from "../model/ids.ts";
import { Problem, UnknownPathProblem } from "./problem.ts";

export type Route =
  | { readonly read: "list"; readonly kind: Kind }
  | { readonly read: "item"; readonly kind: "devices" | "hosts"; readonly id: string }
  | { readonly read: "devicePorts"; readonly id: string }
  | { readonly read: "topology" }
  | { readonly read: "clusters" }
  | { readonly read: "cluster"; readonly n: number; readonly part: "" | "devices" | "links" };

const VERSIONS = ["v1"];

const PORTS: Route = { read: "list", kind: "ports" };
const CLUSTERS: Route = { read: "clusters" };

/** The routes of one segment. They are most of all requests, and need no splitting and decoding. */
const COLLECTIONS: ReadonlyMap<string, Route> = new Map<string, Route>([
  ["devices", { read: "list", kind: "devices" }],
  ["links", { read: "list", kind: "links" }],
  ["hosts", { read: "list", kind: "hosts" }],
  ["topology", { read: "topology" }],
]);

/** Returns undefined for a path outside the interface; throws a `Problem` for an unknown path inside it. */
export function parseRoute(path: string, prefixes: readonly string[]): Route | undefined {
  const prefixEnd = segmentEnd(path, 1);
  const prefix = path.slice(1, prefixEnd);
  if (!prefixes.includes(prefix)) return undefined;
  const versionEnd = segmentEnd(path, prefixEnd + 1);
  const version = path.slice(prefixEnd + 1, versionEnd);
  if (!VERSIONS.includes(version)) {
    const known = VERSIONS.map((name) => `/${prefix}/${name}`).join(", ");
    if (version === "" && versionEnd >= path.length)
      throw new UnknownPathProblem(
        "version-unknown",
        `There is nothing at ${quote(path)}; the interface is at ${known}.`,
      );
    throw new Problem("version-unknown", `There is no version ${quote(version)} here; there is ${known}.`);
  }
  const resourcePath = path.slice(versionEnd + 1);
  const route = COLLECTIONS.get(resourcePath) ?? parseResourcePath(resourcePath);
  if (route) return route;
  const known = Array.from(COLLECTIONS.keys(), (name) => `/${prefix}/v1/${name}`).join(", ");
  const ProblemType = resourcePath === "" ? UnknownPathProblem : Problem;
  throw new ProblemType("not-found", `There is nothing at ${quote(path)}; there are ${known}.`);
}

function segmentEnd(path: string, start: number): number {
  const slash = path.indexOf("/", start);
  return slash < 0 ? path.length : slash;
}

/** `resourcePath` is the part after the version. Trailing slashes are ignored. */
function parseResourcePath(resourcePath: string): Route | undefined {
  const segments = resourcePath.split("/").map(decodeSegment);
  while (segments.length > 1 && segments.at(-1) === "") segments.pop();
  const [resource = "", ...rest] = segments;
  if (rest.length === 0) return COLLECTIONS.get(resource);
  switch (resource) {
    case "devices":
      return parseDevicePath(rest);
    case "hosts":
      return hostRoute(rest.join("/"));
    case "topology":
      return parseTopologyPath(rest);
    default:
      return undefined;
  }
}

function parseDevicePath(segments: readonly string[]): Route {
  if (segments.length === 1 && segments[0] === "ports") return PORTS;
  if (segments.length > 1 && segments.at(-1) === "ports")
    return { read: "devicePorts", id: segments.slice(0, -1).join("/") };
  return { read: "item", kind: "devices", id: segments.join("/") };
}

/** An id that is no valid host id stays as it is, and is not found later. */
const hostRoute = (id: string): Route => ({ read: "item", kind: "hosts", id: canonicalHostId(id) ?? id });

function parseTopologyPath(segments: readonly string[]): Route | undefined {
  const [first, n = "", part = "", ...rest] = segments;
  if (first !== "clusters" || rest.length > 0) return undefined;
  if (segments.length === 1) return CLUSTERS;
  if (!/^\d{1,9}$/.test(n)) return undefined;
  if (part !== "" && part !== "devices" && part !== "links") return undefined;
  return { read: "cluster", n: Number(n), part };
}

function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Problem("bad-path", `${quote(segment)} in the path is not percent-encoded UTF-8.`);
  }
}
