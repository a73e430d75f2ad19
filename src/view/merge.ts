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
  sortIps,
} from "../model/claim.ts";
import type { Annotations, Device, Entities, Host, HostLocation, Link } from "../model/entity.ts";
import { hostId, type Kind, linkId, portId } from "../model/ids.ts";
import type { StoredTypes } from "./indexes.ts";

/** What only the view knows of a thing. */
export type Tracking = Pick<Device, "firstSeen" | "lastChanged" | "sources" | "revision">;

/** What the rest of the network says about a thing. */
export interface DerivedFlags {
  /** The other direction of the link is in the view. */
  readonly hasReverse: boolean;
  /** Why this thing contradicts another. */
  readonly conflict: string | undefined;
}

/** As much of a thing as decides about its flags. */
export interface FlagInput {
  devices: never;
  ports: never;
  links: Pick<Link, "id" | "src" | "dst" | "type" | "state">;
  hosts: Pick<Host, "id" | "ipAddresses">;
}

/** What a value depends on besides its claims. */
export interface MergeContext<K extends Kind> {
  readonly now: number;
  /** The thing as it was: a device remembers when its availability last changed. */
  readonly before: Entities[K] | undefined;
  readonly tracking: Tracking;
  readonly deviceExists: (id: string) => boolean;
  readonly flagsOf: (thing: FlagInput[K]) => DerivedFlags;
}

function mergeDevice(claims: readonly DeviceClaim[], around: MergeContext<"devices">): StoredTypes["devices"] {
  const first = firstClaimed(claims);
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
    annotations: sortKeys({
      managementAddress: "",
      channelId: "",
      protocol: "",
      ...mergeAnnotations(claims),
    }),
    ...around.tracking,
  };
}

function mergePort(claims: readonly PortClaim[], around: MergeContext<"ports">): StoredTypes["ports"] | undefined {
  if (!around.deviceExists(claims[0]?.element ?? "")) return undefined;
  const first = firstClaimed(claims);
  return {
    element: claims[0]?.element ?? "",
    port: String(claims[0]?.port ?? ""),
    isEnabled: first("isEnabled") ?? true,
    type: first("type") ?? "copper",
    portSpeed: first("portSpeed") ?? 0,
    annotations: mergeAnnotations(claims) ?? {},
    ...around.tracking,
  };
}

function mergeLink(claims: readonly LinkClaim[], around: MergeContext<"links">): StoredTypes["links"] | undefined {
  const src = toLinkEnd(claims[0]?.src);
  const dst = toLinkEnd(claims[0]?.dst);
  if (!around.deviceExists(src.device) || !around.deviceExists(dst.device)) return undefined;
  const first = firstClaimed(claims);
  const id = linkId(src, dst);
  const type = first("type") ?? "DIRECT";
  const state = first("state") ?? "ACTIVE";
  const { hasReverse, conflict } = around.flagsOf({ id, src, dst, type, state });
  const annotations = mergeAnnotations(claims, conflict);
  return {
    src,
    dst,
    type,
    state,
    ...(annotations && { annotations }),
    id,
    bidirectional: hasReverse,
    // One claimant that can vouch for the link is enough; unauthenticated sightings beside it do no harm.
    verified: claims.some((claim) => claim.verified ?? true),
    ...around.tracking,
  };
}

function mergeHost(claims: readonly HostClaim[], around: MergeContext<"hosts">): StoredTypes["hosts"] | undefined {
  const locations = mergeLocations(claims).filter((at) => around.deviceExists(at.elementId));
  const [location] = locations;
  if (!location) return undefined;
  const first = firstClaimed(claims);
  const mac = claims[0]?.mac ?? "";
  const vlan = String(claims[0]?.vlan ?? "None");
  const id = hostId(mac, vlan);
  const ipAddresses = claims.length === 1 ? (claims[0]?.ipAddresses ?? []) : mergeAddresses(claims);
  const { conflict } = around.flagsOf({ id, ipAddresses });
  const annotations = mergeAnnotations(claims, conflict);
  return {
    id,
    mac,
    vlan,
    innerVlan: String(first("innerVlan") ?? "None"),
    outerTpid: first("outerTpid") ?? "0x0000",
    configured: first("configured") ?? false,
    suspended: first("suspended") ?? false,
    ipAddresses,
    locations,
    location,
    ...(annotations && { annotations }),
    ...around.tracking,
  };
}

type Merge<K extends Kind> = (
  claims: readonly ClaimTypes[K][],
  around: MergeContext<K>,
) => StoredTypes[K] | undefined;
const MERGE: { [K in Kind]: Merge<K> } = {
  devices: mergeDevice,
  ports: mergePort,
  links: mergeLink,
  hosts: mergeHost,
};

/** The value that claims (in order of precedence, at least one) make; undefined when it must be held back. */
export function mergeClaims<K extends Kind>(
  kind: K,
  claims: readonly ClaimTypes[K][],
  around: MergeContext<K>,
): StoredTypes[K] | undefined {
  return MERGE[kind](claims, around);
}

function mergeLocations(claims: readonly HostClaim[]): HostLocation[] {
  const [only] = claims;
  // The claims themselves name each place once.
  if (claims.length === 1 && only) return only.locations.map(toHostLocation);
  const all = new Map<string, HostLocation>();
  for (const claim of claims) {
    for (const { elementId, port } of claim.locations) {
      const key = portId(elementId, String(port));
      if (!all.has(key)) all.set(key, toHostLocation({ elementId, port }));
    }
  }
  return [...all.values()];
}

const toHostLocation = ({ elementId, port }: HostClaim["locations"][number]): HostLocation => ({
  elementId,
  port: String(port),
});

const mergeAddresses = (claims: readonly HostClaim[]): string[] =>
  sortIps([...new Set(claims.flatMap((claim) => claim.ipAddresses ?? []))]);

const toLinkEnd = (at: LinkClaim["src"] | undefined) => ({
  port: String(at?.port ?? ""),
  device: at?.device ?? "",
});

/** The first claim that says something about a field. */
function firstClaimed<C extends object>(claims: readonly C[]): <F extends keyof C>(field: F) => C[F] | undefined {
  return (field) => {
    for (const claim of claims) if (claim[field] !== undefined) return claim[field];
    return undefined;
  };
}

function mergeAnnotations(
  claims: readonly { annotations?: Annotations }[],
  conflict?: string,
): Annotations | undefined {
  const some = claims.filter((claim) => claim.annotations && Object.keys(claim.annotations).length > 0);
  if (some.length === 0 && conflict === undefined) return undefined;
  if (some.length === 1 && conflict === undefined) return some[0]?.annotations;
  // Spread, not assignment: a key named __proto__ must stay a key.
  let merged: Annotations = {};
  for (const claim of [...some].reverse()) merged = { ...merged, ...claim.annotations };
  if (conflict !== undefined)
    merged.conflict = merged.conflict ? `${merged.conflict}; ${conflict}` : conflict;
  return sortKeys(merged);
}

const sortKeys = (given: Annotations): Annotations =>
  Object.fromEntries(
    Object.keys(given)
      .sort()
      .map((key) => [key, given[key] ?? ""]),
  );

const isoSeconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
