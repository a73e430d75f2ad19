/**
 * What a cluster leaves in NATS besides the stream of its log. Where the stream is gone and this is not, a log was there, and
 * nodes may have copies of it. Only looks: a bucket that was made by looking would be a trace itself.
 */
import { JetStreamApiError } from "@nats-io/jetstream";
import { STREAM_NOT_FOUND } from "./bucket.ts";
import type { ClusterNames } from "./nats/cluster-names.ts";
import type { NatsClient } from "./nats/nats-client.ts";
import { type NodeStatus, type NodesPlace, readNodes } from "./nodes.ts";

interface FoundTraces {
  /** The streams of buckets, as the operator finds them in NATS. */
  readonly places: readonly string[];
  /** The nodes that the list of nodes shows. */
  readonly nodes: readonly NodeStatus[];
}

/** Rejects when NATS cannot be used now. */
export async function findTraces(
  { leases, nodes, users, snapshots }: ClusterNames,
  options: NodesPlace,
): Promise<FoundTraces> {
  const { nats } = options;
  const streams = [...[leases, nodes, users].map((bucket) => `KV_${bucket}`), `OBJ_${snapshots}`];
  const exist = await Promise.all(streams.map((stream) => exists(nats, stream)));
  const places = streams.filter((_, index) => exist[index]);
  return { places, nodes: places.includes(`KV_${nodes}`) ? await readNodes(options) : [] };
}

async function exists({ manager }: NatsClient, stream: string): Promise<boolean> {
  try {
    await manager.streams.info(stream);
    return true;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND) return false;
    throw error;
  }
}

/** Why an operator should not begin a log here; undefined where no node shows one. */
export function whyGivenUp({
  nodes,
}: {
  readonly nodes: readonly Pick<NodeStatus, "nodeName" | "revision">[];
}): string | undefined {
  const showing = nodes.filter(({ revision }) => revision > 0);
  if (showing.length === 0) return undefined;
  const shown = showing.map(({ nodeName, revision }) => `${nodeName} shows revision ${revision}`).join(", ");
  return `the cluster has a log that would be given up: ${shown}. Restart the node with the highest revision, it makes the stream from its copy; --discard begins another log all the same`;
}
