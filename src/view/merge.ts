/**
 * Merges the claims of several sources about one entity into one value, field by field: the first claim in order of
 * precedence that has a field determines it, and defaults fill the rest. The functions are pure: everything else that a
 * value depends on is in the `MergeContext`. A merge records the origins of the fields if the context has a `Provenance`.
 * `recover.ts` is the inverse.
 */
import {
  type ClaimTypes,
  canonicalAliases,
  type DeviceClaim,
  type HostClaim,
  type LinkClaim,
  type PortClaim,
  sortIps,
  UNANSWERED_SINCE,
} from "../model/claim.ts";
import { isRealIdentity } from "../model/derived-ids.ts";
import type { Annotations, Device, Entities, Host, HostLocation, Link } from "../model/entity.ts";
import { WHY } from "../model/explanation.ts";
import { type ConnectPoint, deviceKey, hostId, type Kind, linkId, portId } from "../model/ids.ts";
import { aliasesIn } from "./former-ids.ts";
import type { StoredTypes } from "./indexes.ts";
import type { FirstFields, Provenance } from "./provenance.ts";

/** The fields that the view adds to every entity. */
export type Tracking = Pick<Device, "firstSeen" | "lastChanged" | "sources" | "revision">;

/** Fields that depend on other entities. */
export interface DerivedFlags {
  /** Whether the link in the other direction is in the view. */
  readonly hasReverse: boolean;
  /** A description of the conflict with other entities. */
  readonly conflict: string | undefined;
}

/** The fields of an entity that its flags depend on. */
export interface FlagInput {
  devices: Pick<Device, "id">;
  ports: never;
  links: Pick<Link, "id" | "src" | "dst" | "type" | "state">;
  hosts: Pick<Host, "id" | "ipAddresses">;
}

/** The values that a merged value depends on, besides its claims. */
export interface MergeContext<K extends Kind> {
  readonly now: number;
  /** The entity before this commit, possibly with another id. `lastUpdate` of a device is kept while its availability is. */
  readonly before: Entities[K] | undefined;
  readonly tracking: Tracking;
  /** The claim that gives the entity its id. */
  readonly leader: ClaimTypes[K];
  /** Ids with which the device was shown before. */
  readonly formerIds: readonly string[];
  /** Whether an alias is claimed as another device; then it means that device. */
  readonly isOtherDevice: (alias: string) => boolean;
  /** A port as the view shows it; undefined when the device is not in the view. */
  readonly shownPort: (device: string, port: string) => ConnectPoint | undefined;
  readonly flagsOf: (entity: FlagInput[K]) => DerivedFlags;
  /** Set if the origins of the fields are to be recorded. */
  readonly provenance?: Provenance;
}

function mergeDevice(
  allClaims: readonly DeviceClaim[],
  context: MergeContext<"devices">,
): StoredTypes["devices"] {
  const claims = effectiveClaims(allClaims, context.provenance);
  const first = firstClaimed<"devices">(claims, context.provenance);
  const available = first("available") ?? true;
  const unchanged = context.before?.available === available ? context.before.lastUpdate : undefined;
  const lastUpdate = first("lastUpdate") ?? unchanged ?? String(context.now);
  const { id } = context.leader;
  context.provenance?.choose("id", allClaims.indexOf(context.leader));
  const aliases = mergeAliases(id, claims, context);
  const { conflict } = context.flagsOf({ id });
  return {
    id,
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
      ...mergeAnnotations(claims, context.provenance, conflict),
    }),
    ...context.tracking,
    ...(aliases && { aliases }),
  };
}

const isUnanswered = ({ available, annotations }: DeviceClaim): boolean =>
  available === false && annotations?.[UNANSWERED_SINCE] !== undefined;

const isSeen = (claim: DeviceClaim): boolean => claim.available !== false;

/** The claims in the same order, without the statements that claims of other sources override. */
const effectiveClaims = (
  claims: readonly DeviceClaim[],
  provenance: Provenance | undefined,
): readonly DeviceClaim[] =>
  claims.length < 2
    ? claims
    : preferReal(preferAnswering(claims, provenance), provenance, "serial", "chassisId");

/** Removes placeholders, such as the serial number `None` of Open vSwitch, if another source has a real value. */
function preferReal(
  claims: readonly DeviceClaim[],
  provenance: Provenance | undefined,
  ...fields: readonly ("serial" | "chassisId")[]
): readonly DeviceClaim[] {
  return fields.reduce((rest, field) => {
    const isPlaceholder = ({ [field]: text }: DeviceClaim) => text !== undefined && !isRealIdentity(text);
    const isReal = ({ [field]: text }: DeviceClaim) => text !== undefined && isRealIdentity(text);
    if (!rest.some(isPlaceholder) || !rest.some(isReal)) return rest;
    provenance?.outweighed(field, WHY.real);
    return rest.map((claim) => {
      if (!isPlaceholder(claim)) return claim;
      const { [field]: _, ...others } = claim;
      return others;
    });
  }, claims);
}

/** Removes the statement that a device does not answer one source if another source, whatever its rank, sees the device. */
function preferAnswering(
  claims: readonly DeviceClaim[],
  provenance: Provenance | undefined,
): readonly DeviceClaim[] {
  if (claims.length < 2 || !claims.some(isUnanswered) || !claims.some(isSeen)) return claims;
  provenance?.outweighed("available", WHY.answering);
  provenance?.outweighed(`annotations.${UNANSWERED_SINCE}`, WHY.answering);
  return claims.map((claim) => {
    if (!isUnanswered(claim)) return claim;
    const { available: _, annotations, ...rest } = claim;
    const { [UNANSWERED_SINCE]: __, ...others } = annotations ?? {};
    return { ...rest, annotations: others };
  });
}

function mergePort(
  claims: readonly PortClaim[],
  context: MergeContext<"ports">,
): StoredTypes["ports"] | undefined {
  const shown = context.shownPort(context.leader.element, String(context.leader.port));
  if (!shown) return undefined;
  const first = firstClaimed<"ports">(claims, context.provenance);
  context.provenance?.choose("port", claims.indexOf(context.leader));
  const annotations = mergeAnnotations(claims, context.provenance);
  return {
    element: shown.device,
    port: shown.port,
    isEnabled: first("isEnabled") ?? true,
    type: first("type") ?? "copper",
    portSpeed: first("portSpeed") ?? 0,
    ...(annotations && { annotations }),
    ...context.tracking,
  };
}

function mergeLink(
  claims: readonly LinkClaim[],
  context: MergeContext<"links">,
): StoredTypes["links"] | undefined {
  const src = toLinkEnd(context.leader.src, context);
  const dst = toLinkEnd(context.leader.dst, context);
  if (!src || !dst) return undefined;
  const first = firstClaimed<"links">(claims, context.provenance);
  const id = linkId(src, dst);
  const type = first("type") ?? "DIRECT";
  const state = first("state") ?? "ACTIVE";
  const { hasReverse, conflict } = context.flagsOf({ id, src, dst, type, state });
  const annotations = mergeAnnotations(claims, context.provenance, conflict);
  // One verified claim is enough, even if there are unauthenticated claims too.
  const verifier = claims.findIndex((claim) => claim.verified ?? true);
  context.provenance?.choose("verified", verifier);
  return {
    src,
    dst,
    type,
    state,
    ...(annotations && { annotations }),
    id,
    bidirectional: hasReverse,
    verified: verifier >= 0,
    ...context.tracking,
  };
}

function mergeHost(
  claims: readonly HostClaim[],
  context: MergeContext<"hosts">,
): StoredTypes["hosts"] | undefined {
  const locations = toHostLocations(mergeLocations(claims), context);
  const [location] = locations;
  if (!location) return undefined;
  const first = firstClaimed<"hosts">(claims, context.provenance);
  const auxLocations = toHostLocations(first("auxLocations") ?? [], context);
  const mac = claims[0]?.mac ?? "";
  const vlan = String(claims[0]?.vlan ?? "None");
  const id = hostId(mac, vlan);
  const ipAddresses = claims.length === 1 ? (claims[0]?.ipAddresses ?? []) : mergeAddresses(claims);
  const { conflict } = context.flagsOf({ id, ipAddresses });
  const annotations = mergeAnnotations(claims, context.provenance, conflict);
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
    ...(auxLocations.length > 0 && { auxLocations }),
    location,
    ...(annotations && { annotations }),
    ...context.tracking,
  };
}

type Merge<K extends Kind> = (
  claims: readonly ClaimTypes[K][],
  context: MergeContext<K>,
) => StoredTypes[K] | undefined;
const MERGE: { [K in Kind]: Merge<K> } = {
  devices: mergeDevice,
  ports: mergePort,
  links: mergeLink,
  hosts: mergeHost,
};

/** `claims` are in order of precedence; there is at least one. Returns undefined when the entity must be held back. */
export function mergeClaims<K extends Kind>(
  kind: K,
  claims: readonly ClaimTypes[K][],
  context: MergeContext<K>,
): StoredTypes[K] | undefined {
  return MERGE[kind](claims, context);
}

/** The locations of all claims without duplicates. */
function mergeLocations(claims: readonly HostClaim[]): HostClaim["locations"] {
  const [only] = claims;
  // A canonical claim lists each location once.
  if (claims.length === 1 && only) return only.locations;
  const locations = new Map<string, HostClaim["locations"][number]>();
  for (const claim of claims) {
    for (const at of claim.locations) {
      const key = portId(deviceKey(at.elementId), String(at.port));
      if (!locations.has(key)) locations.set(key, at);
    }
  }
  return [...locations.values()];
}

/** The locations at devices in the view, without duplicates: two locations may be the same port of a joined device. */
function toHostLocations(
  locations: HostClaim["locations"],
  { shownPort }: MergeContext<"hosts">,
): HostLocation[] {
  const shown: HostLocation[] = [];
  for (const at of locations) {
    const found = shownPort(at.elementId, String(at.port));
    if (!found) continue;
    const { device: elementId, port } = found;
    const isKnown = shown.length > 0 && shown.some((at) => at.elementId === elementId && at.port === port);
    if (!isKnown) shown.push({ elementId, port });
  }
  return shown;
}

const mergeAddresses = (claims: readonly HostClaim[]): string[] =>
  sortIps([...new Set(claims.flatMap((claim) => claim.ipAddresses ?? []))]);

/** The other ids of the device, and the aliases of all claims. The aliases of each claim are canonical. */
function mergeAliases(
  id: string,
  claims: readonly DeviceClaim[],
  { formerIds, isOtherDevice, provenance }: MergeContext<"devices">,
): string[] | undefined {
  const isSingle = claims.length < 2 && formerIds.length === 0;
  const isOfOneClaim = isSingle && !claims[0]?.aliases?.some(isOtherDevice);
  provenance?.choose("aliases", isOfOneClaim ? 0 : -1);
  if (isOfOneClaim) return claims[0]?.aliases;
  const aliases = [...aliasesIn(claims), ...formerIds];
  return canonicalAliases(
    id,
    aliases.filter((alias) => !isOtherDevice(alias)),
  );
}

/** Returns undefined when the device is not in the view. */
function toLinkEnd(
  { device, port }: LinkClaim["src"],
  { shownPort }: MergeContext<"links">,
): Link["src"] | undefined {
  const shown = shownPort(device, String(port));
  return shown && { port: shown.port, device: shown.device };
}

/** Returns a function that gives a field of the first claim that has it. */
function firstClaimed<K extends Kind>(
  claims: readonly ClaimTypes[K][],
  provenance: Provenance | undefined,
): <F extends FirstFields<K>>(field: F) => ClaimTypes[K][F] | undefined {
  return (field) => {
    for (const claim of claims) {
      if (claim[field] === undefined) continue;
      // An empty text counts as not claimed.
      provenance?.choose(field, claim[field] === "" ? -1 : claims.indexOf(claim));
      return claim[field];
    }
    return undefined;
  };
}

function mergeAnnotations(
  claims: readonly { annotations?: Annotations }[],
  provenance: Provenance | undefined,
  conflict?: string,
): Annotations | undefined {
  const annotated = claims.filter((claim) => claim.annotations && Object.keys(claim.annotations).length > 0);
  if (provenance) recordAnnotations(claims, provenance);
  if (annotated.length === 0 && conflict === undefined) return undefined;
  if (annotated.length === 1 && conflict === undefined) return annotated[0]?.annotations;
  // Spread syntax is used, because an assignment to the key __proto__ would set the prototype.
  let merged: Annotations = {};
  for (const claim of [...annotated].reverse()) merged = { ...merged, ...claim.annotations };
  if (conflict !== undefined)
    merged.conflict = merged.conflict ? `${merged.conflict}; ${conflict}` : conflict;
  return sortKeys(merged);
}

function recordAnnotations(claims: readonly { annotations?: Annotations }[], provenance: Provenance): void {
  const keys = new Set(claims.flatMap(({ annotations }) => Object.keys(annotations ?? {})));
  for (const key of keys) {
    const hasKey = ({ annotations }: { annotations?: Annotations }) =>
      annotations !== undefined && Object.hasOwn(annotations, key);
    provenance.choose(`annotations.${key}`, claims.findIndex(hasKey));
  }
}

const sortKeys = (annotations: Annotations): Annotations =>
  Object.fromEntries(
    Object.keys(annotations)
      .sort()
      .map((key) => [key, annotations[key] ?? ""]),
  );

const isoSeconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
