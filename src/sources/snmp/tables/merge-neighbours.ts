/** A device that sends both LLDP and CDP on one cable is one neighbour: LLDP identifies it, CDP adds what LLDP lacks. */
import type { Neighbour } from "./agent-report.ts";
import { isSameName } from "./device-name.ts";

export function mergeNeighbours(lldp: readonly Neighbour[], cdp: readonly Neighbour[]): Neighbour[] {
  const byPort = Map.groupBy(lldp, portOf);
  const cdpByPort = Map.groupBy(cdp, portOf);
  const merged = new Map<Neighbour, Neighbour>();
  const others: Neighbour[] = [];
  for (const each of cdp) {
    const port = portOf(each);
    const onPort = port === undefined ? [] : (byPort.get(port) ?? []);
    const free = onPort.filter((candidate) => !merged.has(candidate));
    const isOnlyPair = onPort.length === 1 && cdpByPort.get(port)?.length === 1;
    const same = isOnlyPair ? free[0] : free.find((candidate) => isSame(candidate, each));
    if (same) merged.set(same, combine(same, each));
    else others.push(each);
  }
  return [...lldp.map((each) => merged.get(each) ?? each), ...others];
}

const portOf = (neighbour: Neighbour): number | undefined => neighbour.localPort?.index;

const isSame = (lldp: Neighbour, cdp: Neighbour): boolean =>
  (cdp.chassis !== "" && cdp.chassis === lldp.chassis) || isSameName(lldp.name, cdp.name);

function combine(lldp: Neighbour, cdp: Neighbour): Neighbour {
  const serial = lldp.serial ?? cdp.serial;
  return {
    ...lldp,
    protocols: ["LLDP", "CDP"],
    aliases: [...new Set([...lldp.aliases, cdp.id, ...cdp.aliases])].filter((id) => id !== lldp.id),
    portDesc: lldp.portDesc || cdp.portId,
    name: lldp.name || cdp.name,
    ...(serial !== undefined && { serial }),
    description: lldp.description || cdp.description,
    platform: cdp.platform,
    capabilities: [...new Set([...lldp.capabilities, ...cdp.capabilities])],
    addresses: [...new Set([...lldp.addresses, ...cdp.addresses])],
    macs: [...new Set([...lldp.macs, ...cdp.macs])],
  };
}
