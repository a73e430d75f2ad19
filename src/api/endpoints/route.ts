/**
 * Parses the path of a request. `controller` and `v1` are fixed; configured aliases mean the same as
 * `controller`, `onos` in a dialect of its own. Ids may be percent-encoded or not, so an id that contains a slash may span several segments.
 */
import { quote } from "../../lib/error-text.ts";
import { canonicalHostId, canonicalMac, canonicalPort, canonicalVlan } from "../../model/address.ts";
import { type Kind, portId } from "../../model/ids.ts";
import type { Prefixes } from "../onos/prefixes.ts";
import { Problem, UnknownPathProblem, UnknownResourceProblem } from "../response/problem.ts";

export type Route =
  | { readonly read: "list"; readonly kind: Kind }
  | { readonly read: "item"; readonly kind: Kind; readonly id: string }
  | { readonly read: "devicePorts"; readonly id: string }
  | { readonly read: "topology" }
  | { readonly read: "clusters" }
  | { readonly read: "problems" }
  | { readonly read: "cluster"; readonly n: number; readonly part: "" | "devices" | "links" }
  | {
      readonly read: "connectPoint";
      readonly fact: "broadcast" | "infrastructure";
      readonly device: string;
      readonly port: string;
    }
  | { readonly read: "staleLinkAge" }
  | { readonly read: "search" }
  | { readonly read: "paths"; readonly src: string; readonly dst: string; readonly disjoint: boolean };

const VERSIONS = ["v1"];

const PORTS: Route = { read: "list", kind: "ports" };
const CLUSTERS: Route = { read: "clusters" };
const PROBLEMS: Route = { read: "problems" };
const SEARCH: Route = { read: "search" };
const STALE_LINK_AGE: Route = { read: "staleLinkAge" };

/** The routes of one segment. They are most of all requests, and need no splitting and decoding. */
const COLLECTIONS: ReadonlyMap<string, Route> = new Map<string, Route>([
  ["devices", { read: "list", kind: "devices" }],
  ["links", { read: "list", kind: "links" }],
  ["hosts", { read: "list", kind: "hosts" }],
  ["topology", { read: "topology" }],
]);

/** Returns undefined for a path outside the interface; throws a `Problem` for an unknown path inside it. */
export function parseRoute(path: string, prefixes: Prefixes, method: string): Route | undefined {
  const prefixEnd = segmentEnd(path, 1);
  const prefix = path.slice(1, prefixEnd);
  const dialect = prefixes.get(prefix);
  if (!dialect) return undefined;
  const hint = dialect.unknownPathHint;
  const versionEnd = segmentEnd(path, prefixEnd + 1);
  const version = path.slice(prefixEnd + 1, versionEnd);
  if (!VERSIONS.includes(version)) {
    const missing = dialect.missingResource(method, path);
    if (missing) throw missing;
    const known = VERSIONS.map((name) => `/${prefix}/${name}`).join(", ");
    if (version === "" && versionEnd >= path.length)
      throw new UnknownPathProblem(
        "version-unknown",
        `There is nothing at ${quote(path)}; the interface is at ${known}.${hint}`,
      );
    throw new UnknownResourceProblem(
      "version-unknown",
      `There is no version ${quote(version)} here; there is ${known}.${hint}`,
    );
  }
  const resourcePath = path.slice(versionEnd + 1);
  const isOneSegment = !resourcePath.includes("/");
  const route = (isOneSegment && COLLECTIONS.get(resourcePath)) || parseResourcePath(resourcePath);
  if (route) return route;
  if (dialect.isStatusPath(path)) return undefined;
  const missing = dialect.missingResource(method, path);
  if (missing) throw missing;
  const known = Array.from(COLLECTIONS.keys(), (name) => `/${prefix}/v1/${name}`).join(", ");
  const ProblemType = resourcePath === "" ? UnknownPathProblem : UnknownResourceProblem;
  throw new ProblemType("not-found", `There is nothing at ${quote(path)}; there are ${known}.${hint}`);
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
    case "links":
      return rest.length === 1 && rest[0]?.toLowerCase() === "usestalelinkage"
        ? STALE_LINK_AGE
        : { read: "item", kind: "links", id: rest.join("/") };
    case "topology":
      return parseTopologyPath(rest);
    case "paths":
      return parsePathsPath(rest);
    default:
      return undefined;
  }
}

function parseDevicePath(segments: readonly string[]): Route {
  if (segments.length === 1 && segments[0] === "ports") return PORTS;
  if (segments.length > 1 && segments.at(-1) === "ports")
    return { read: "devicePorts", id: segments.slice(0, -1).join("/") };
  const port = segments.length > 2 && segments.at(-2) === "ports" && canonicalPort(segments.at(-1) ?? "");
  if (port) return { read: "item", kind: "ports", id: portId(segments.slice(0, -2).join("/"), port) };
  return { read: "item", kind: "devices", id: segments.join("/") };
}

/** An id that is no valid host id stays as it is, and is not found later. */
const hostRoute = (id: string): Route => ({ read: "item", kind: "hosts", id: canonicalHostId(id) ?? id });

function parseTopologyPath(segments: readonly string[]): Route | undefined {
  const [first, n = "", part = "", ...rest] = segments;
  if (first === "search" && segments.length === 1) return SEARCH;
  if (first === "broadcast" || first === "infrastructure")
    return parseConnectPoint(first, segments.slice(1).join("/"));
  if (first === "problems" && segments.length === 1) return PROBLEMS;
  if (first !== "clusters" || rest.length > 0) return undefined;
  if (segments.length === 1) return CLUSTERS;
  if (!/^\d{1,9}$/.test(n)) return undefined;
  if (part !== "" && part !== "devices" && part !== "links") return undefined;
  return { read: "cluster", n: Number(n), part };
}

/** `{device}:{port}`: the id of a device may contain colons too, the port cannot. */
function parseConnectPoint(fact: "broadcast" | "infrastructure", text: string): Route | undefined {
  const colon = text.lastIndexOf(":");
  if (colon <= 0) return undefined;
  const port = canonicalPort(text.slice(colon + 1));
  if (port !== undefined) return { read: "connectPoint", fact, device: text.slice(0, colon), port };
  throw new Problem(
    "bad-path",
    `${quote(text.slice(colon + 1))} in the path is not a port: a decimal number, local or controller.`,
  );
}

/** `{src}/{dst}` or `{src}/{dst}/disjoint`. A host id that is not percent-encoded is two segments. */
function parsePathsPath(segments: readonly string[]): Route | undefined {
  const ids: string[] = [];
  for (const segment of segments) {
    const last = ids.at(-1);
    const isVlan =
      last !== undefined && canonicalMac(last) !== undefined && canonicalVlan(segment) !== undefined;
    if (isVlan) ids[ids.length - 1] = `${last}/${segment}`;
    else ids.push(segment);
  }
  const [src = "", dst = "", suffix, ...rest] = ids;
  if (src === "" || dst === "" || rest.length > 0) return undefined;
  if (suffix !== undefined && suffix !== "disjoint") return undefined;
  return { read: "paths", src, dst, disjoint: suffix === "disjoint" };
}

function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Problem("bad-path", `${quote(segment)} in the path is not percent-encoded UTF-8.`);
  }
}
