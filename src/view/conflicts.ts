/**
 * Contradictions between things: two links on one port, one address on two hosts, two sources that place a host
 * differently. Nothing is decided or dropped here; both claims stay and both carry the flag, in words for a person.
 */
import { ipKey } from "../model/address.ts";
import { portId } from "../model/ids.ts";
import { pair } from "./indexes.ts";
import type { Body } from "./merge.ts";
import { parseStored, type View } from "./view.ts";
import type { Told } from "./working.ts";

const MOST_NAMED = 3;

/** Links of other kinds (tunnels, many hosts behind an edge) may well share a port; two cables cannot. */
const isCable = (link: Body<"links">): boolean => link.type === "DIRECT" && link.state === "ACTIVE";

export function linkConflict(view: View, link: Body<"links">): string | undefined {
  if (!isCable(link)) return undefined;
  const found: string[] = [];
  for (const [end, other, word] of [
    ["src", "dst", "to"],
    ["dst", "src", "from"],
  ] as const) {
    const at = link[end];
    for (const id of view.indexes("links").named(end).get(pair(at.device, at.port))) {
      if (id === link.id) continue;
      const text = view.get("links", id);
      if (text === undefined) continue;
      const rival = parseStored("links", text);
      if (isCable(rival)) {
        const where = portId(rival[other].device, rival[other].port);
        found.push(`port ${portId(at.device, at.port)} has another link ${word} ${where}`);
      }
    }
  }
  return listed(found);
}

export function hostConflict(
  view: View,
  host: Body<"hosts">,
  told: readonly Told<"hosts">[],
): string | undefined {
  const found: string[] = [];
  for (const ip of host.ipAddresses) {
    for (const id of view.indexes("hosts").named("ip").get(ipKey(ip))) {
      // The same address in another VLAN is another network; the same MAC in another VLAN is the same machine.
      const [mac, vlan] = id.split("/");
      if (id !== host.id && mac !== host.mac && vlan === host.vlan)
        found.push(`${ip} is also claimed by ${id}`);
    }
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
  return listed(found);
}

function listed(found: readonly string[]): string | undefined {
  if (found.length === 0) return undefined;
  const more = found.length - MOST_NAMED;
  return found.slice(0, MOST_NAMED).join("; ") + (more > 0 ? `; and ${more} more` : "");
}
