/**
 * Describes conflicts: two links on one port, one address on two hosts, two sources that report a host at different
 * locations. Nothing is dropped: both entities stay, and both get a description for people as `annotations.conflict`.
 *
 * A description names at most `MAX_NAMED` other entities. This also bounds the work: above that number one more does not
 * change the description of the others. A network that forges a thousand hosts with one address therefore cannot make
 * each further host rewrite all of them.
 */
import { ipKey } from "../model/address.ts";
import type { Link } from "../model/entity.ts";
import { type ConnectPoint, idKey, portId } from "../model/ids.ts";
import { occupiedPortKey, occupiesPorts } from "./indexes.ts";
import type { FlagInput } from "./merge.ts";
import type { SourcedClaim } from "./touched-entity.ts";

/** Lookups in the network with the changes of the commit so far. */
export interface ConflictLookups {
  linksAt(occupiedPortKey: string): Iterable<string>;
  hostsWith(ipKey: string): Iterable<string>;
  link(id: string): Pick<Link, "src" | "dst"> | undefined;
  /** A port by its shown id; with the key of the device if the device does not exist. */
  shownPort(device: string, port: string): ConnectPoint;
}

const MAX_NAMED = 3;
/** Each end of a link, the opposite end, and the word for the direction of another link at that end. */
const ENDS = [
  ["src", "dst", "to"],
  ["dst", "src", "from"],
] as const;

export function linkConflict(lookups: ConflictLookups, link: FlagInput["links"]): string | undefined {
  if (!occupiesPorts(link)) return undefined;
  const messages: string[] = [];
  for (const [end, opposite, preposition] of ENDS) {
    const at = portId(link[end].device, link[end].port);
    const others = otherLinksAtPort(lookups, link, end, MAX_NAMED + 1);
    if (others.length > MAX_NAMED) messages.push(`port ${at} has more than ${MAX_NAMED} other links`);
    else {
      for (const id of others) {
        const far = lookups.link(id)?.[opposite];
        if (far) messages.push(`port ${at} has another link ${preposition} ${portId(far.device, far.port)}`);
      }
    }
  }
  return joinMessages(messages);
}

export function hostConflict(
  lookups: ConflictLookups,
  host: FlagInput["hosts"],
  claims: readonly SourcedClaim<"hosts">[],
): string | undefined {
  const messages: string[] = [];
  for (const ip of host.ipAddresses) {
    const others = otherHostsWithIp(lookups, host.id, ip, MAX_NAMED + 1);
    if (others.length > MAX_NAMED) messages.push(`${ip} is also claimed by more than ${MAX_NAMED} others`);
    else for (const id of others) messages.push(`${ip} is also claimed by ${id}`);
  }
  if (claims.length > 1) {
    const ports = claims.map(
      ({ claim }) =>
        new Set(
          claim.locations.map((at) => {
            const { device, port } = lookups.shownPort(at.elementId, String(at.port));
            return portId(device, port);
          }),
        ),
    );
    const [first, ...others] = ports;
    if (first && others.some((other) => other.isDisjointFrom(first))) {
      const seen = claims.map(({ source }, i) => `at ${[...(ports[i] ?? [])].join(" and ")} by ${source}`);
      messages.push(`seen ${seen.join(", ")}`);
    }
  }
  return joinMessages(messages);
}

/** The links whose conflict may change when this link is added or removed. */
export function linksAffectedBy(lookups: ConflictLookups, link: FlagInput["links"]): string[] {
  return ENDS.flatMap(([end]) => affected(otherLinksAtPort(lookups, link, end, MAX_NAMED + 2)));
}

/** The hosts whose conflict may change when this host gets or loses the address. */
export const hostsAffectedBy = (lookups: ConflictLookups, id: string, ip: string): string[] =>
  affected(otherHostsWithIp(lookups, id, ip, MAX_NAMED + 2));

function otherLinksAtPort(
  lookups: ConflictLookups,
  link: FlagInput["links"],
  end: "src" | "dst",
  max: number,
): string[] {
  const atPort = lookups.linksAt(occupiedPortKey(end, link[end]));
  const key = idKey("links", link.id);
  return firstMatching(atPort, max, (id) => idKey("links", id) !== key);
}

/** Finds only hosts of the same VLAN, because the same address in another VLAN belongs to another network. */
function otherHostsWithIp(lookups: ConflictLookups, host: string, ip: string, max: number): string[] {
  const withIp = lookups.hostsWith(ipKey(ip));
  return firstMatching(withIp, max, (id) => id !== host && id.endsWith(host.slice(host.indexOf("/"))));
}

/** Returns at most `max` ids that match, sorted. */
function firstMatching(ids: Iterable<string>, max: number, matches: (id: string) => boolean): string[] {
  const found: string[] = [];
  for (const id of ids) {
    if (found.length === max) break;
    if (matches(id)) found.push(id);
  }
  return found.length > 1 ? found.sort() : found;
}

/** The others are affected only up to the limit: above it, each of them names no entity, so its description does not change. */
const affected = (others: string[]): string[] => (others.length > MAX_NAMED + 1 ? [] : others);

export function joinMessages(messages: readonly string[]): string | undefined {
  if (messages.length === 0) return undefined;
  const more = messages.length - MAX_NAMED;
  return messages.slice(0, MAX_NAMED).join("; ") + (more > 0 ? `; and ${more} more` : "");
}
