/** Reads what people see of a cluster from NATS: for the command line, and for the page. */
import { readLeases } from "../cluster/leases.ts";
import { readNodes } from "../cluster/nodes.ts";
import type { Config } from "../config/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import { LogStream, type StreamInfo } from "../log/jetstream/log-stream.ts";
import { ClusterSnapshots } from "../log/jetstream/snapshots.ts";
import type { ClusterOverview } from "../model/cluster-overview.ts";
import type { Engine } from "../nats/engine.ts";
import { ForeignMessages } from "../nats/foreign-messages.ts";
import { clusterNames } from "../nats/names.ts";
import type { ClusterSecret } from "../nats/sealed.ts";
import { type Cluster, snapshotsOptions } from "./cluster.ts";
import { nodesOf } from "./cluster-node.ts";

/** For all who look within this time, NATS is read once. */
const MAX_AGE_MS = 1_000;

/** Rejects with `StreamError` when the cluster has no log, or NATS cannot be used now; then nothing is created there. */
export async function readClusterOverview(
  engine: Engine,
  { name, replicas }: Pick<Config["cluster"], "name" | "replicas">,
  secret: ClusterSecret,
  clock: Clock,
  foreign = new ForeignMessages(),
): Promise<ClusterOverview> {
  const names = clusterNames(name);
  const info = await new LogStream(engine, { ...names, replicas }).info();
  const [nodes, leases, snapshots] = await Promise.all([
    readNodes(nodesOf({ engine, names, foreign }, replicas)),
    readLeases({ engine, replicas, bucket: names.leases }),
    new ClusterSnapshots(engine, snapshotsOptions({ name, replicas }, secret), clock).list(info.created),
  ]);
  return {
    name,
    nodes: nodes.map(({ nodeName, startedAt, sequence, ...node }) => ({
      ...node,
      name: nodeName,
      lag: Math.max(0, info.lastSequence - sequence),
      since: startedAt,
    })),
    leases: leases.map(({ source, nodeName }) => ({ source, node: nodeName })),
    engine: {
      stream: names.stream,
      replicas: info.replicas,
      servers: serversOf(info),
      messages: info.messages,
      bytes: info.bytes,
      ...(info.maxBytes !== undefined && { maxBytes: info.maxBytes }),
      snapshots: snapshots.map(({ facts: { revision, time }, bytes }) => ({ revision, time, bytes })),
    },
  };
}

type Servers = NonNullable<ClusterOverview["engine"]>["servers"];

const serversOf = ({ leader, followers }: StreamInfo): Servers => [
  ...(leader === undefined ? [] : [{ name: leader, state: "leader" as const }]),
  ...followers.map(({ name, isCurrent, isOffline, lag }) => ({
    name,
    state: isOffline ? ("offline" as const) : isCurrent ? ("current" as const) : ("behind" as const),
    lag,
  })),
];

/** For a node that runs: what cannot be read is a field of the result, and many readers are one. */
export function createOverviewReader(
  { engine, secret, foreign }: Pick<Cluster, "engine" | "secret" | "foreign">,
  { cluster }: Pick<Config, "cluster">,
  clock: Clock,
): () => Promise<ClusterOverview> {
  let readAt = Number.NEGATIVE_INFINITY;
  let last: Promise<ClusterOverview> | undefined;
  return () => {
    const now = clock.monotonic();
    if (last && now - readAt < MAX_AGE_MS) return last;
    readAt = now;
    last = readClusterOverview(engine, cluster, secret, clock, foreign).catch((error: unknown) => ({
      name: cluster.name,
      nodes: [],
      leases: [],
      error: errorMessage(error),
    }));
    return last;
  };
}
