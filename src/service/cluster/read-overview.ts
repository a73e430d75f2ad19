/**
 * Reads the overview of a cluster from NATS, for the command line and for the page. Each part is read separately, because each
 * has servers of its own, and some parts can be read while others cannot. Nothing is created in NATS.
 */
import { readLeases } from "../../cluster/leases.ts";
import type { NatsCluster } from "../../cluster/nats/nats-cluster.ts";
import { readNodes, type SeenNode } from "../../cluster/nodes.ts";
import type { Clock } from "../../lib/clock.ts";
import { asStreamError, checkConnected } from "../../log/jetstream/as-stream-error.ts";
import type { LogStream, StreamFollower, StreamInfo } from "../../log/jetstream/log-stream.ts";
import type { ClusterSnapshots } from "../../log/jetstream/snapshots.ts";
import { type ClusterOverview, OVERVIEW_PARTS, type OverviewPart } from "../../model/cluster-overview.ts";
import type { ClusterMember } from "./open-cluster.ts";

/** Time for which a result is reused for all clients. */
const MAX_AGE_MS = 1_000;

/** Reads all parts of the cluster `name`. Those that cannot be read are named in `errors`. */
export async function readClusterOverview(
  name: string,
  cluster: NatsCluster,
  stream: LogStream,
  stored: ClusterSnapshots,
  clock: Clock,
): Promise<ClusterOverview> {
  const { nats, names } = cluster;
  const failures = new Map<OverviewPart, string>();
  const part = async <T>(
    of: OverviewPart,
    streamName: string,
    read: () => Promise<T>,
  ): Promise<T | undefined> => {
    try {
      checkConnected(nats);
      return await read();
    } catch (error) {
      failures.set(of, asStreamError(error, cluster, streamName).message);
      return undefined;
    }
  };
  const [nodes = [], leases = [], info, snapshots] = await Promise.all([
    part("nodes", `KV_${names.nodes}`, () => readNodes(cluster, clock)),
    part("leases", `KV_${names.leases}`, () => readLeases(cluster)),
    part("stream", names.stream, () => stream.info()),
    part("snapshots", stored.stream, () => stored.listAll()),
  ]);
  return {
    name,
    nodes: nodes.map(
      ({ nodeName, startedAt, sequence, held, clockOffsetMs, ageMs, lostSince, lostServers, ...node }) => ({
        ...node,
        name: nodeName,
        lag: Math.max(0, (info?.lastSequence ?? sequence) - sequence),
        // A lost node runs nothing: other nodes take its sources over.
        held: lostSince === undefined ? held : [],
        since: startedAt,
        ageSeconds: Math.round(ageMs / 1000),
        ...(lostSince !== undefined && { lostSince }),
        ...(clockOffsetMs !== undefined && { clockOffsetSeconds: clockOffsetMs / 1000 }),
      }),
    ),
    leases: leases.map(({ source, nodeName }) => ({ source, node: nodeName })),
    ...(info && {
      engine: {
        stream: names.stream,
        replicas: info.replicas,
        servers: serversOf(info, nodes, clock.now()),
        messages: info.messages,
        bytes: info.bytes,
        ...(info.maxBytes !== undefined && { maxBytes: info.maxBytes }),
      },
    }),
    ...(snapshots && {
      snapshots: snapshots
        .filter(({ facts }) => !info || facts.position.created === info.created)
        .map(({ facts: { revision, time }, bytes }) => ({ revision, time, bytes })),
    }),
    ...errorsOf(failures),
  };
}

function errorsOf(failures: ReadonlyMap<OverviewPart, string>): Pick<ClusterOverview, "errors" | "error"> {
  const errors = OVERVIEW_PARTS.flatMap((part) => {
    const message = failures.get(part);
    return message === undefined ? [] : [{ part, message }];
  });
  if (errors.length === 0) return {};
  return { errors, error: [...new Set(errors.map(({ message }) => message))].join("; ") };
}

type Servers = NonNullable<ClusterOverview["engine"]>["servers"];

const serversOf = ({ leader, followers }: StreamInfo, nodes: readonly SeenNode[], now: number): Servers => [
  ...(leader === undefined ? [] : [{ name: leader, state: "leader" as const }]),
  ...followers.map((follower) => {
    const { name, isCurrent, isOffline, lag } = follower;
    const offlineSince = isOffline ? offlineSinceOf(follower, nodes, now) : undefined;
    return {
      name,
      state: isOffline ? ("offline" as const) : isCurrent ? ("current" as const) : ("behind" as const),
      lag,
      ...(offlineSince !== undefined && { offlineSince }),
    };
  }),
];

/** A leader that was elected later does not know since when a server is offline. Nodes that saw it before have written it. */
function offlineSinceOf(
  { name, silentMs }: StreamFollower,
  nodes: readonly SeenNode[],
  now: number,
): number | undefined {
  const seen = nodes.flatMap(({ lostSince, lostServers = [] }) =>
    lostSince === undefined ? lostServers : [],
  );
  const times = seen.filter((server) => server.name === name).map(({ since }) => since);
  if (silentMs > 0) times.push(Math.round(now - silentMs));
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Creates the overview reader of a running node. It reads NATS at most once a second, for any number of clients. */
export function createOverviewReader(name: string, member: ClusterMember): () => Promise<ClusterOverview> {
  const { log, snapshots, clockCheck } = member;
  const clock = clockCheck.natsClock;
  let readAt = Number.NEGATIVE_INFINITY;
  let last: Promise<ClusterOverview> | undefined;
  return () => {
    const now = clock.monotonic();
    if (last && now - readAt < MAX_AGE_MS) return last;
    readAt = now;
    last = readClusterOverview(name, member, log.stream, snapshots, clock);
    return last;
  };
}
