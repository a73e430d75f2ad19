/**
 * Reads the overview of a cluster from NATS, for the command line and for the page. Each part is read separately, because each
 * has servers of its own, and some parts can be read while others cannot. Nothing is created in NATS.
 */
import type { OnMalformed } from "../../cluster/bucket.ts";
import { readLeases } from "../../cluster/leases.ts";
import { clusterNames } from "../../cluster/nats/cluster-names.ts";
import { ForeignMessages } from "../../cluster/nats/foreign-messages.ts";
import type { NatsClient } from "../../cluster/nats/nats-client.ts";
import type { ClusterSecret } from "../../cluster/nats/sealed.ts";
import { readNodes } from "../../cluster/nodes.ts";
import type { Config } from "../../config/schema.ts";
import type { Clock } from "../../lib/clock.ts";
import { asStreamError, checkConnected } from "../../log/jetstream/as-stream-error.ts";
import { LogStream, type StreamInfo } from "../../log/jetstream/log-stream.ts";
import { ClusterSnapshots } from "../../log/jetstream/snapshots.ts";
import { type ClusterOverview, OVERVIEW_PARTS, type OverviewPart } from "../../model/cluster-overview.ts";
import { type ClusterMember, snapshotsOptions } from "./open-cluster.ts";

/** Time for which a result is reused for all clients. */
const MAX_AGE_MS = 1_000;

/** Reads all parts. Those that cannot be read are named in `errors`. */
export async function readClusterOverview(
  nats: NatsClient,
  { name, replicas }: Pick<Config["cluster"], "name" | "replicas">,
  secret: ClusterSecret,
  clock: Clock,
  foreign = new ForeignMessages(),
): Promise<ClusterOverview> {
  const names = clusterNames(name);
  const failures = new Map<OverviewPart, string>();
  const part = async <T>(
    of: OverviewPart,
    stream: string,
    read: () => Promise<T>,
  ): Promise<T | undefined> => {
    try {
      checkConnected(nats);
      return await read();
    } catch (error) {
      failures.set(of, asStreamError(error, nats, { stream, replicas }).message);
      return undefined;
    }
  };
  const onMalformed: OnMalformed = (entry) => foreign.countEntry("nodes", entry);
  const stored = new ClusterSnapshots(nats, snapshotsOptions({ name, replicas }, secret), clock);
  const [nodes = [], leases = [], info, snapshots] = await Promise.all([
    part("nodes", `KV_${names.nodes}`, () => readNodes({ nats, bucket: names.nodes, clock, onMalformed })),
    part("leases", `KV_${names.leases}`, () => readLeases(nats, names.leases)),
    part("stream", names.stream, () => new LogStream(nats, { ...names, replicas }).info()),
    part("snapshots", `OBJ_${names.snapshots}`, () => stored.listAll()),
  ]);
  return {
    name,
    nodes: nodes.map(({ nodeName, startedAt, sequence, held, clockOffsetMs, ageMs, lostSince, ...node }) => ({
      ...node,
      name: nodeName,
      lag: Math.max(0, (info?.lastSequence ?? sequence) - sequence),
      // A lost node runs nothing: other nodes take its sources over.
      held: lostSince === undefined ? held : [],
      since: startedAt,
      ageSeconds: Math.round(ageMs / 1000),
      ...(lostSince !== undefined && { lostSince }),
      ...(clockOffsetMs !== undefined && { clockOffsetSeconds: clockOffsetMs / 1000 }),
    })),
    leases: leases.map(({ source, nodeName }) => ({ source, node: nodeName })),
    ...(info && {
      engine: {
        stream: names.stream,
        replicas: info.replicas,
        servers: serversOf(info, clock.now()),
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

const serversOf = ({ leader, followers }: StreamInfo, now: number): Servers => [
  ...(leader === undefined ? [] : [{ name: leader, state: "leader" as const }]),
  ...followers.map(({ name, isCurrent, isOffline, silentMs, lag }) => ({
    name,
    state: isOffline ? ("offline" as const) : isCurrent ? ("current" as const) : ("behind" as const),
    lag,
    ...(isOffline && silentMs > 0 && { offlineSince: Math.round(now - silentMs) }),
  })),
];

/** Creates the overview reader of a running node. It reads NATS at most once a second, for any number of clients. */
export function createOverviewReader(
  {
    nats,
    secret,
    foreign,
    clockCheck: { natsClock },
  }: Pick<ClusterMember, "nats" | "secret" | "foreign" | "clockCheck">,
  { cluster }: Pick<Config, "cluster">,
): () => Promise<ClusterOverview> {
  let readAt = Number.NEGATIVE_INFINITY;
  let last: Promise<ClusterOverview> | undefined;
  return () => {
    const now = natsClock.monotonic();
    if (last && now - readAt < MAX_AGE_MS) return last;
    readAt = now;
    last = readClusterOverview(nats, cluster, secret, natsClock, foreign);
    return last;
  };
}
