/**
 * Reads the whole network once: both models of topologies, and OpenDaylight's inventory where there are OpenFlow
 * switches. A part that fails is a failure of the whole, because half a network looks like an outage.
 */
import { type MappedClaims, mapTopology } from "./map-topology.ts";
import { INVENTORY_PATH, parseInventory } from "./parse-inventory.ts";
import { IETF_NETWORK, NETWORK_TOPOLOGY, parseNetworks } from "./parse-networks.ts";
import type { Failure, RestconfClient } from "./restconf-client.ts";
import type { TopologyRecords } from "./topology-records.ts";
import type { OnFault } from "./yang-json.ts";

const DIALECTS = [IETF_NETWORK, NETWORK_TOPOLOGY];

export type NetworkResult = { readonly ok: true; readonly claims: MappedClaims } | Failure;

export class NetworkReader {
  readonly #client: RestconfClient;
  /** A server that starts does not have all modules yet, and its network is not empty for that. */
  readonly #knownModules = new Set<string>();

  constructor(client: RestconfClient) {
    this.#client = client;
  }

  async read(onFault: OnFault, signal: AbortSignal): Promise<NetworkResult> {
    const records: TopologyRecords = { nodes: [], hosts: [], links: [] };
    for (const dialect of DIALECTS) {
      const result = await this.#client.readData(dialect.root, signal);
      if (!result.ok) return result;
      if (result.has !== "no-module") this.#knownModules.add(dialect.root);
      else if (this.#knownModules.has(dialect.root)) {
        return { ok: false, message: `${this.#client.address}: the server no longer has ${dialect.root}` };
      }
      if (result.has === "data") parseNetworks(result.document, dialect, records, onFault);
    }
    if (this.#knownModules.size === 0) {
      const modules = DIALECTS.map(({ root }) => root).join(" nor ");
      return { ok: false, message: `${this.#client.address}: the server has neither ${modules}` };
    }
    const hasSwitches = records.nodes.some(({ alias }) => alias !== undefined);
    const inventory = hasSwitches ? await this.#client.readData(INVENTORY_PATH, signal) : undefined;
    if (inventory && !inventory.ok) return inventory;
    const nodes = inventory?.has === "data" ? parseInventory(inventory.document, onFault) : [];
    return { ok: true, claims: mapTopology(records, nodes, onFault) };
  }
}
