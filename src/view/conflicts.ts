/**
 * Contradictions between things: two cables on one port, one address on two hosts, two sources that place a host
 * differently. Nothing is decided or dropped here; both claims stay and both carry the flag, in words for a person.
 *
 * A flag names at most a few rivals. That is kind to the reader, and it bounds the work: where more than a few meet,
 * one more or less changes nobody's flag, so a network that forges a thousand hosts with one address cannot make
 * every further one rewrite all others.
 */
import { ipKey } from "../model/address.ts";
import { portId } from "../model/ids.ts";
import { occupiedPortKey, occupiesPorts } from "./indexes.ts";
import type { FlagInput } from "./merge.ts";
import { parseStored, type View } from "./view.ts";
import type { SourcedClaim } from "./working-set.ts";

const MAX_NAMED = 3;
const ENDS = [
  ["src", "dst", "to"],
  ["dst", "src", "from"],
] as const;

export function linkConflict(view: View, link: FlagInput["links"]): string | undefined {
  if (!occupiesPorts(link)) return undefined;
  const found: string[] = [];
  for (const [end, other, word] of ENDS) {
    const at = portId(link[end].device, link[end].port);
    const rivals = otherLinksAtPort(view, link, end, MAX_NAMED + 1);
    if (rivals.length > MAX_NAMED) found.push(`port ${at} has more than ${MAX_NAMED} other links`);
    else {
      for (const id of rivals) {
        const rival = parseStored("links", view.get("links", id) ?? "");
        found.push(`port ${at} has another link ${word} ${portId(rival[other].device, rival[other].port)}`);
      }
    }
  }
  return joinMessages(found);
}

export function hostConflict(
  view: View,
  host: FlagInput["hosts"],
  told: readonly SourcedClaim<"hosts">[],
): string | undefined {
  const found: string[] = [];
  for (const ip of host.ipAddresses) {
    const rivals = otherHostsWithIp(view, host.id, ip, MAX_NAMED + 1);
    if (rivals.length > MAX_NAMED) found.push(`${ip} is also claimed by more than ${MAX_NAMED} others`);
    else for (const id of rivals) found.push(`${ip} is also claimed by ${id}`);
  }
  if (told.length > 1) {
    const places = told.map(
      (one) => new Set(one.claim.locations.map((at) => portId(at.elementId, String(at.port)))),
    );
    const [first, ...others] = places;
    if (first && others.some((place) => place.isDisjointFrom(first))) {
      const where = told.map((one, i) => `at ${[...(places[i] ?? [])].join(" and ")} by ${one.source}`);
      found.push(`seen ${where.join(", ")}`);
    }
  }
  return joinMessages(found);
}

/** The links whose flags may be others once this cable has come or gone. */
export function linksAffectedBy(view: View, link: FlagInput["links"]): string[] {
  return ENDS.flatMap(([end]) => affected(otherLinksAtPort(view, link, end, MAX_NAMED + 2)));
}

/** The hosts whose flags may be others once this one has taken or left the address. */
export const hostsAffectedBy = (view: View, id: string, ip: string): string[] =>
  affected(otherHostsWithIp(view, id, ip, MAX_NAMED + 2));

function otherLinksAtPort(view: View, link: FlagInput["links"], end: "src" | "dst", most: number): string[] {
  const there = view.indexes("links").named("cable").get(occupiedPortKey(end, link[end]));
  return firstMatching(there, most, (id) => id !== link.id);
}

/** The same address in another VLAN is another network; the same MAC in another VLAN is the same machine. */
function otherHostsWithIp(view: View, host: string, ip: string, most: number): string[] {
  const there = view.indexes("hosts").named("ip").get(ipKey(ip));
  const vlan = host.slice(host.indexOf("/"));
  return firstMatching(there, most, (id) => id !== host && id.endsWith(vlan));
}

function firstMatching(ids: Iterable<string>, most: number, isRival: (id: string) => boolean): string[] {
  const rivals: string[] = [];
  for (const id of ids) {
    if (rivals.length === most) break;
    if (isRival(id)) rivals.push(id);
  }
  return rivals.sort();
}

/** With `n` rivals here, each of them has `n - 1` besides: above the limit their words stay as they are. */
const affected = (rivals: string[]): string[] => (rivals.length > MAX_NAMED + 1 ? [] : rivals);

function joinMessages(found: readonly string[]): string | undefined {
  if (found.length === 0) return undefined;
  const more = found.length - MAX_NAMED;
  return found.slice(0, MAX_NAMED).join("; ") + (more > 0 ? `; and ${more} more` : "");
}
