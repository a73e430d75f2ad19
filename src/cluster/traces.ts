/**
 * The traces of a cluster in NATS besides the stream of its log. Traces without a stream mean that there was a log, and that
 * nodes may have copies of it. The search makes no bucket, because a new bucket would itself be a trace.
 */
import { systemClock } from "../lib/clock.ts";
import { isStreamMissing, type NatsCluster, type Traces } from "./nats/nats-cluster.ts";
import { readNodes } from "./nodes.ts";

/** Finds the traces of a cluster. Rejects when NATS cannot be used now. */
export async function findTraces(cluster: NatsCluster): Promise<Traces> {
  const { leases, nodes, users, snapshots } = cluster.names;
  const streams = [...[leases, nodes, users].map((bucket) => `KV_${bucket}`), `OBJ_${snapshots}`];
  const exist = await Promise.all(streams.map((stream) => exists(cluster, stream)));
  const places = streams.filter((_, index) => exist[index]);
  return { places, nodes: places.includes(`KV_${nodes}`) ? await readNodes(cluster, systemClock) : [] };
}

async function exists({ nats }: NatsCluster, stream: string): Promise<boolean> {
  try {
    await nats.manager.streams.info(stream);
    return true;
  } catch (error) {
    if (isStreamMissing(error)) return false;
    throw error;
  }
}

/** The reason why an operator should not begin a new log here; undefined where no node has revisions of one. */
export function whyGivenUp({ nodes }: Traces): string | undefined {
  const showing = nodes.filter(({ revision }) => revision > 0);
  if (showing.length === 0) return undefined;
  const shown = showing.map(({ nodeName, revision }) => `${nodeName} shows revision ${revision}`).join(", ");
  return `the cluster has a log that would be given up: ${shown}. Restart the node with the highest revision, it makes the stream from its copy; --discard begins another log all the same`;
}
