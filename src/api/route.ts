/**
 * From a path to what it names. `controller` and `v1` are fixed; configured aliases (`onos`) stand for `controller`.
 * Ids are taken raw and percent-encoded, so an id that contains a slash may come in several segments.
 */
import { canonicalMac, canonicalVlan } from "../model/address.ts";
import { hostId, type Kind } from "../model/ids.ts";
import { Problem, quoted } from "./problem.ts";

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
    throw new Problem("version-unknown", `There is no version ${quoted(version)} here; there is ${there}.`);
  }
  const below = path.slice(versionEnd + 1);
  const target = RESOURCES.get(below) ?? within(below);
  if (target) return target;
  const known = Array.from(RESOURCES.keys(), (one) => `/${prefix}/v1/${one}`).join(", ");
  throw new Problem("not-found", `There is nothing at ${quoted(path)}; there are ${known}.`);
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

/** `MAC/VLAN` in any spelling of either; without a VLAN, None is meant. Undefined when it is no such id. */
export function canonicalHostId(text: string): string | undefined {
  const slash = text.lastIndexOf("/");
  const mac = canonicalMac(slash < 0 ? text : text.slice(0, slash));
  const vlan = canonicalVlan(slash < 0 ? null : text.slice(slash + 1));
  return mac && vlan ? hostId(mac, vlan) : undefined;
}

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
    throw new Problem("bad-path", `${quoted(segment)} in the path is not percent-encoded UTF-8.`);
  }
}
