/**
 * What one agent says, from the objects it returned. Pure, and in one piece: the largest tables are bounded by the walk
 * and here. It never throws; what cannot be used is left out or reported as a fault of its record.
 */
import type { AgentData } from "./agent-data.ts";
import type { AgentReport } from "./agent-report.ts";
import { InterfaceFinder } from "./find-interface.ts";
import { mapInterfaces } from "./interfaces.ts";
import { mapAddressTable } from "./map-addresses.ts";
import { mapCdp } from "./map-cdp.ts";
import { mapForwarding } from "./map-forwarding.ts";
import { mapLldp } from "./map-neighbours.ts";
import { mapDevice, mapIdentity } from "./map-system.ts";
import { mergeNeighbours } from "./merge-neighbours.ts";

const MAX_FAULTS = 1000;

export function mapAgent(data: AgentData): AgentReport {
  const interfaces = mapInterfaces(data);
  const finder = new InterfaceFinder(interfaces);
  const identity = mapIdentity(data, interfaces);
  const lldp = mapLldp(data, finder);
  const cdp = mapCdp(data, finder);
  return {
    target: data.target,
    address: data.address,
    identity,
    device: mapDevice(data, identity),
    interfaces,
    neighbours: mergeNeighbours(lldp.neighbours, cdp.neighbours),
    unidentifiedUplinks: lldp.unidentifiedUplinks,
    forwarding: mapForwarding(data, interfaces),
    addressTable: mapAddressTable(data),
    faults: [...lldp.faults, ...cdp.faults].slice(0, MAX_FAULTS),
  };
}
