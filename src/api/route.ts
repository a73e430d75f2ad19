/**
 * From a path to what it names. `controller` and `v1` are fixed; configured aliases (`onos`) stand for `controller`.
 * Ids are taken raw and percent-encoded, so an id that contains a slash may come in several segments.
 */
import { quote } from "../lib/error-text.ts";
import { canonicalHostId } from "../model/address.ts";
import type { Kind } from "../model/ids.ts";
import { Problem } from "./problem.ts";

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

/** What is named by one word. */
const RESOURCES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ["devices", { read: "list", kind: "devices" }],
  ["links", { read: "list", kind: "links" }],
  ["hosts", { read: "list", kind: "hosts" }],
  ["topology", { read: "topology" }],
]);

/** Whether the path belongs to the interface at all, and what it names there. Undefined: it is somewhere else. */
export function parseRoute(path: string, prefixes: readonly string[]): Route | undefined {
  const prefixEnd = segmentEnd(path, 1);
  const prefix = path.slice(1, prefixEnd);
  if (!prefixes.includes(prefix)) return undefined;
  const versionEnd = segmentEnd(path, prefixEnd + 1);
  const version = path.slice(prefixEnd + 1, versionEnd);
  if (!VERSIONS.includes(version)) {
    const there = VERSIONS.map((one) => `/${prefix}/${one}`).join(", ");
    throw new Problem("version-unknown", `There is no version ${quote(version)} here; there is ${there}.`);
  }
  const below = path.slice(versionEnd + 1);
  const target = RESOURCES.get(below) ?? within(below);
  if (target) return target;
  const known = Array.from(RESOURCES.keys(), (one) => `/${prefix}/v1/${one}`).join(", ");
  throw new Problem("not-found", `There is nothing at ${quote(path)}; there are ${known}.`);
}

function segmentEnd(path: string, from: number): number {
  const slash = path.indexOf("/", from);
  return slash < 0 ? path.length : slash;
}

function within(text: string): Route | undefined {
  const below = text.split("/").map(decoded);
  while (below.length > 1 && below.at(-1) === "") below.pop();
  const resource = below.shift() ?? "";
  if (below.length === 0) return RESOURCES.get(resource);
  switch (resource) {
    case "devices":
      return withinDevices(below);
    case "hosts":
      return hostTarget(below.join("/"));
    case "topology":
      return withinTopology(below);
    default:
      return undefined;
  }
}

function withinDevices(below: readonly string[]): Route {
  if (below.length === 1 && below[0] === "ports") return PORTS;
  if (below.length > 1 && below.at(-1) === "ports")
    return { read: "devicePorts", id: below.slice(0, -1).join("/") };
  return { read: "item", kind: "devices", id: below.join("/") };
}

/** What is no host's id is looked up as it stands, and not found. */
const hostTarget = (id: string): Route => ({
  read: "item",
  kind: "hosts",
  id: canonicalHostId(id) ?? id,
});

function withinTopology(below: readonly string[]): Route | undefined {
  const [first, n = "", part = "", ...more] = below;
  if (first !== "clusters" || more.length > 0) return undefined;
  if (below.length === 1) return CLUSTERS;
  if (!/^\d{1,9}$/.test(n)) return undefined;
  if (part !== "" && part !== "devices" && part !== "links") return undefined;
  return { read: "cluster", n: Number(n), part };
}

function decoded(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Problem("bad-path", `${quote(segment)} in the path is not percent-encoded UTF-8.`);
  }
}
