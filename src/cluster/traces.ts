/**
 * The traces of a cluster in NATS besides the stream of its log. Traces without a stream mean that there was a log, and that
 * nodes may have copies of it. The search makes no bucket, because a new bucket would itself be a trace.
 */
import { JetStreamApiError } from "@nats-io/jetstream";
import { STREAM_NOT_FOUND } from "./bucket.ts";
import type { ClusterNames } from "./nats/cluster-names.ts";
import type { NatsClient } from "./nats/nats-client.ts";
import { type NodeStatus, type NodesPlace, readNodes } from "./nodes.ts";

interface FoundTraces {
  /** The names of the buckets' streams in NATS, for messages to the operator. */
  readonly places: readonly string[];
  /** The nodes in the list of nodes. */
  readonly nodes: readonly NodeStatus[];
}

/** Finds the traces of a cluster. Rejects when NATS cannot be used now. */
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

/** The reason why an operator should not begin a new log here; undefined where no node has revisions of one. */
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
