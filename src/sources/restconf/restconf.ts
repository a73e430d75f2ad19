/**
 * The `restconf` source: lists the topologies of a RESTCONF server at each interval, and soon after OpenDaylight's stream
 * of changes signals a change. Each list replaces the previous one, so that entities which are no longer listed are removed.
 */

import type { ClaimLists } from "../../model/claim.ts";
import { linkId } from "../../model/ids.ts";
import { createPollLoop, type PollResult } from "../poll-loop.ts";
import { checkOf, type Source, type SourceContext } from "../source.ts";
import { Upstream } from "../upstream/upstream.ts";
import { ChangeStream } from "./change-stream.ts";
import { mapTopology } from "./map-topology.ts";
import type { RestconfOptions } from "./options.ts";
import { INVENTORY_PATH, parseInventory } from "./parse-inventory.ts";
import { IETF_NETWORK, NETWORK_TOPOLOGY, parseNetworks } from "./parse-networks.ts";
import { RestconfClient, type RestconfFailure } from "./restconf-client.ts";
import type { TopologyRecords } from "./topology-records.ts";
import type { OnFault } from "./yang-json.ts";

export function createRestconfSource(
  { name, ...options }: RestconfOptions & { name: string },
  { clock }: SourceContext,
): Source {
  const upstream = new Upstream(options, { clock });
  const counters = {
    polls_total: 0,
    polls_failed_total: 0,
    stream_connected: 0,
    stream_events_total: 0,
    stream_breaks_total: 0,
  };
  return {
    name,
    metrics: () => ({ ...counters }),
    check: async () => checkOf(await upstream.checkFiles()),
    async run(sink, signal) {
      const client = new RestconfClient(upstream);
      const reader = new NetworkReader(client);
      const grace = new RestartGrace(options.restartGraceSeconds * 1000);
      const loop = createPollLoop({ sink, intervalMs: options.intervalSeconds * 1000, clock, signal });
      const path = `/${NETWORK_TOPOLOGY.root}`;
      const changes = new ChangeStream({ client, path, clock, signal, onChange: loop.nudge }, counters);
      const poll = async (): Promise<PollResult> => {
        counters.polls_total++;
        const result = await reader.read((kind, fault) => sink.reject(kind, fault), signal);
        if (signal.aborted) return { ok: true };
        if (!result.ok) {
          counters.polls_failed_total++;
          grace.onFailure();
          changes.reset();
          return result;
        }
        const reason = grace.check(result.claims, clock.monotonic());
        // A list that is not applied is not a failure: the server responds, so the next poll is not delayed.
        if (reason === undefined) await sink.replace(result.claims);
        else sink.markStale(reason);
        changes.ensureOpen();
        return { ok: true };
      };
      try {
        await loop.run(poll);
      } finally {
        await changes.ended();
      }
    },
  };
}

// `NetworkReader` reads the whole network: both models of topologies, and OpenDaylight's inventory if there are OpenFlow
// switches. When one part fails, the whole read fails, because half a network would look like an outage.

const DIALECTS = [IETF_NETWORK, NETWORK_TOPOLOGY];

type NetworkResult = { readonly ok: true; readonly claims: ClaimLists } | RestconfFailure;

class NetworkReader {
  readonly #client: RestconfClient;
  /** The modules that the server has had. When one is missing later, the server is starting and its network is not empty. */
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

// `RestartGrace` delays incomplete lists after a server was unreachable. OpenDaylight does not store the discovered network.
// After a restart it lists nothing at first, and then the switches and links as they connect and are discovered again.
// Applying such a list would remove the whole network for some seconds. So for a limited time after the first list that
// succeeds, a list that lacks known devices or links is not applied, and the source stays stale.

class RestartGrace {
  readonly #graceMs: number;
  #known: { readonly devices: ReadonlySet<string>; readonly links: ReadonlySet<string> } | undefined;
  #state: "connected" | "lost" | { readonly untilMs: number } = "connected";

  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  onFailure(): void {
    this.#state = "lost";
  }

  /** Returns why this list is not applied yet, in one line; undefined when it is to be applied. */
  check(claims: ClaimLists, nowMs: number): string | undefined {
    const listed = {
      devices: new Set(claims.devices.map(({ id }) => id)),
      links: new Set(claims.links.map(({ src, dst }) => linkId(src, dst))),
    };
    if (this.#state === "lost") this.#state = { untilMs: nowMs + this.#graceMs };
    if (this.#known && this.#state !== "connected" && nowMs < this.#state.untilMs) {
      const devices = this.#known.devices.difference(listed.devices).size;
      const links = this.#known.links.difference(listed.links).size;
      if (devices > 0 || links > 0) {
        return `the server is back without ${devices} devices and ${links} links that it had before`;
      }
    }
    this.#state = "connected";
    this.#known = listed;
    return undefined;
  }
}
