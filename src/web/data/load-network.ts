/**
 * Loads the network of one moment: devices and links as they arrive, and how many hosts there are at each device. Parsing
 * and adding them takes a second for 10,000 devices, so it is done in slices.
 */
import type { Client, Query } from "../../client/client.ts";
import { Hosts } from "./hosts.ts";
import { Network } from "./loaded-network.ts";
import { Slices } from "./slices.ts";

export interface LoadedNetwork {
  readonly network: Network;
  /** The changes after it are not in the network, or not all of them. */
  readonly revision: number;
}

/** `at` is a past moment; undefined is now. `isPartial` is what the caller knows about it. */
export async function loadNetwork(
  client: Client,
  at: string | undefined,
  signal: AbortSignal,
  isPartial = false,
): Promise<LoadedNetwork> {
  const query: Query = { at };
  const slices = new Slices();
  const [devices, links, counts] = await Promise.all([
    client.stream("devices", query, { signal }),
    client.stream("links", query, { signal }),
    client.hostCounts(query, { signal }),
  ]);
  const network = new Network(new Hosts(counts, at), new Map(), isPartial);
  const addDevices = async () => {
    for await (const batch of devices.batches) {
      for (const value of batch) network.set({ resource: "devices", value });
      await slices.pause();
    }
  };
  const addLinks = async () => {
    for await (const batch of links.batches) {
      for (const value of batch) network.set({ resource: "links", value });
      await slices.pause();
    }
  };
  await Promise.all([addDevices(), addLinks()]);
  return { network, revision: Math.min(devices.revision, links.revision, counts.revision) };
}
