/**
 * From claims to what is shown: several sources' claims of one thing become one value, field by field, the first
 * source in the configured order that says something winning; defaults fill the rest. Pure functions: what a value
 * depends on besides its claims is handed in as its surroundings. `recover.ts` is the way back.
 */
import {
  type ClaimTypes,
  type DeviceClaim,
  type HostClaim,
  type LinkClaim,
  type PortClaim,
  sortedByIp,
} from "../model/claim.ts";
import type { Annotations, Device, Entities } from "../model/entity.ts";
import { hostId, type Kind, linkId, portId } from "../model/ids.ts";

type Tracking = "firstSeen" | "lastChanged" | "sources" | "revision";
/** A value without what only the view knows of it. */
export type Body<K extends Kind> = Omit<Entities[K], Tracking>;

/** What a value depends on besides its claims. */
export interface Surroundings {
  readonly now: number;
  /** The device as it was, for the time its availability last changed. */
  readonly before: Device | undefined;
  /** The other direction of the link is in the view. */
  readonly reverse: boolean;
  /** Why this thing contradicts another. */
  readonly conflict: string | undefined;
  readonly deviceExists: (id: string) => boolean;
}

function deviceBody(claims: readonly DeviceClaim[], around: Surroundings): Body<"devices"> {
  const first = pick(claims);
  const available = first("available") ?? true;
  const unchanged = around.before?.available === available ? around.before.lastUpdate : undefined;
  const lastUpdate = first("lastUpdate") ?? unchanged ?? String(around.now);
  return {
    id: claims[0]?.id ?? "",
    type: first("type") ?? "SWITCH",
    available,
    role: first("role") ?? "NONE",
    mfr: first("mfr") || "unknown",
    hw: first("hw") || "unknown",
    sw: first("sw") || "unknown",
    serial: first("serial") || "unknown",
    driver: first("driver") || "default",
    chassisId: first("chassisId") || "0",
    lastUpdate,
    humanReadableLastUpdate: `${available ? "connected" : "disconnected"} since ${isoSeconds(Number(lastUpdate))}`,
    annotations: sortedKeys({
      managementAddress: "",
      channelId: "",
      protocol: "",
      ...mergedAnnotations(claims, around.conflict),
    }),
  };
}

function portBody(claims: readonly PortClaim[], around: Surroundings): Body<"ports"> | undefined {
  if (!around.deviceExists(claims[0]?.element ?? "")) return undefined;
  const first = pick(claims);
  return {
    element: claims[0]?.element ?? "",
    port: String(claims[0]?.port ?? ""),
    isEnabled: first("isEnabled") ?? true,
    type: first("type") ?? "copper",
    portSpeed: first("portSpeed") ?? 0,
    annotations: mergedAnnotations(claims, around.conflict) ?? {},
  };
}

function linkBody(claims: readonly LinkClaim[], around: Surroundings): Body<"links"> | undefined {
  const src = end(claims[0]?.src);
  const dst = end(claims[0]?.dst);
  if (!around.deviceExists(src.device) || !around.deviceExists(dst.device)) return undefined;
  const first = pick(claims);
  const annotations = mergedAnnotations(claims, around.conflict);
  return {
    src,
    dst,
    type: first("type") ?? "DIRECT",
    state: first("state") ?? "ACTIVE",
    ...(annotations && { annotations }),
    id: linkId(src, dst),
    bidirectional: around.reverse,
    // One claimant that can vouch for the link is enough; unauthenticated sightings beside it do no harm.
    verified: claims.some((claim) => claim.verified ?? true),
  };
}

function hostBody(claims: readonly HostClaim[], around: Surroundings): Body<"hosts"> | undefined {
  const locations = mergedLocations(claims).filter((at) => around.deviceExists(at.elementId));
  const [location] = locations;
  if (!location) return undefined;
  const first = pick(claims);
  const mac = claims[0]?.mac ?? "";
  const vlan = String(claims[0]?.vlan ?? "None");
  const addresses = claims.length === 1 ? (claims[0]?.ipAddresses ?? []) : allAddresses(claims);
  const annotations = mergedAnnotations(claims, around.conflict);
  return {
    id: hostId(mac, vlan),
    mac,
    vlan,
    innerVlan: String(first("innerVlan") ?? "None"),
    outerTpid: first("outerTpid") ?? "0x0000",
    configured: first("configured") ?? false,
    suspended: first("suspended") ?? false,
    ipAddresses: addresses,
    locations,
    location,
    ...(annotations && { annotations }),
  };
}

type Merge<K extends Kind> = (claims: readonly ClaimTypes[K][], around: Surroundings) => Body<K> | undefined;
const MERGE: { [K in Kind]: Merge<K> } = {
  devices: deviceBody,
  ports: portBody,
  links: linkBody,
  hosts: hostBody,
};

/** The value that claims (in order of precedence, at least one) make; undefined when it must be held back. */
export function mergeClaims<K extends Kind>(
  kind: K,
  claims: readonly ClaimTypes[K][],
  around: Surroundings,
): Body<K> | undefined {
  return MERGE[kind](claims, around);
}

function mergedLocations(claims: readonly HostClaim[]): { elementId: string; port: string }[] {
  const all = new Map<string, { elementId: string; port: string }>();
  for (const claim of claims) {
    for (const { elementId, port } of claim.locations) {
      const key = portId(elementId, String(port));
      if (!all.has(key)) all.set(key, { elementId, port: String(port) });
    }
  }
  return [...all.values()];
}

const allAddresses = (claims: readonly HostClaim[]): string[] =>
  sortedByIp([...new Set(claims.flatMap((claim) => claim.ipAddresses ?? []))]);

const end = (at: LinkClaim["src"] | undefined) => ({
  port: String(at?.port ?? ""),
  device: at?.device ?? "",
});

/** The first claim that says something about a field. */
function pick<C extends object>(claims: readonly C[]): <F extends keyof C>(field: F) => C[F] | undefined {
  return (field) => {
    for (const claim of claims) if (claim[field] !== undefined) return claim[field];
    return undefined;
  };
}

function mergedAnnotations(
  claims: readonly { annotations?: Annotations }[],
  conflict: string | undefined,
): Annotations | undefined {
  const some = claims.filter((claim) => claim.annotations && Object.keys(claim.annotations).length > 0);
  if (some.length === 0 && conflict === undefined) return undefined;
  if (some.length === 1 && conflict === undefined) return some[0]?.annotations;
  // Spread, not assignment: a key named __proto__ must stay a key.
  let merged: Annotations = {};
  for (const claim of [...some].reverse()) merged = { ...merged, ...claim.annotations };
  if (conflict !== undefined)
    merged.conflict = merged.conflict ? `${merged.conflict}; ${conflict}` : conflict;
  return sortedKeys(merged);
}

const sortedKeys = (given: Annotations): Annotations =>
  Object.fromEntries(
    Object.keys(given)
      .sort()
      .map((key) => [key, given[key] ?? ""]),
  );

const isoSeconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
