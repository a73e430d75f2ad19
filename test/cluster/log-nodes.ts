/** Nodes of a cluster without the service around them: log, view and committer, on real NATS servers. */

import { connectNats, type NatsClient, openNats } from "../../src/cluster/nats/nats-client.ts";
import { type ClusterNames, clusterNames, ForeignMessages } from "../../src/cluster/nats/nats-cluster.ts";
import { ClusterSecret } from "../../src/cluster/nats/sealed.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLogger, silentLogger } from "../../src/lib/logger.ts";
import type { JetStreamLog } from "../../src/log/jetstream/jetstream-log.ts";
import { LogStream } from "../../src/log/jetstream/log-stream.ts";
import { openJetStreamLog } from "../../src/log/jetstream/open.ts";
import { ClusterSnapshots } from "../../src/log/jetstream/snapshots.ts";
import { newestState, tracesOf } from "../../src/service/cluster/open-cluster.ts";
import { SnapshotPublisher } from "../../src/service/cluster/snapshot-publisher.ts";
import { Committer } from "../../src/view/committer.ts";
import { restoreView } from "../../src/view/restore.ts";
import { CLUSTER_SECRET, type NatsServers, startNatsServers } from "../support/nats-servers.ts";

export const NAMES = clusterNames("test");
export const SECRET = new ClusterSecret(Buffer.from(CLUSTER_SECRET));

export interface LogNode extends AsyncDisposable {
  readonly log: JetStreamLog;
  readonly committer: Committer;
  readonly client: NatsClient;
  readonly snapshots: SnapshotPublisher;
  readonly foreign: ForeignMessages;
  /** Resolves once everything that the stream has is visible here. */
  caughtUp(): Promise<void>;
}

export interface NodeOptions {
  readonly path?: string;
  /** The log of a single node that would begin the cluster's. */
  readonly singlePath?: string;
  readonly replicas?: number;
  readonly sources?: readonly string[];
  readonly secret?: ClusterSecret;
  readonly names?: ClusterNames;
  /** Called with each line of its log from `warn` on. */
  readonly onLine?: (line: string) => void;
  /** Between two snapshots; the stream keeps as many. */
  readonly snapshotMessages?: number;
}

/** `servers` are addresses, or servers that are started. */
export async function openNode(
  servers: Pick<NatsServers, "urls">,
  node: string,
  options: NodeOptions = {},
): Promise<LogNode> {
  const { path = ":memory:", replicas = 1, sources = ["a", "b"], secret = SECRET } = options;
  const clock = systemClock;
  const failed = Promise.withResolvers<unknown>();
  const client = openNats({ servers: servers.urls.split(","), clientName: node }, clock, failed.resolve);
  await Promise.race([client.reached, failed.promise]);
  const foreign = new ForeignMessages();
  const cluster = { nats: client, names: options.names ?? NAMES, replicas, secret, foreign };
  const { onLine } = options;
  const logger = onLine ? createLogger((line) => !/^\S+ info /.test(line) && onLine(line)) : silentLogger;
  const signal = new AbortController().signal;
  const snapshots = new ClusterSnapshots(cluster, clock);
  const log = await openJetStreamLog({
    stream: new LogStream(cluster),
    snapshots,
    path,
    singlePath: options.singlePath,
    node,
    secret,
    newestState,
    traces: () => tracesOf(cluster),
    clock,
    logger,
    signal,
  }).catch(async (error) => {
    await client.close();
    throw error;
  });
  const { view } = restoreView(log);
  const settings = {
    identity: [],
    sources: sources.map((name) => ({ name, role: "observed" as const, merge: true })),
  };
  const committer = new Committer(view, log, clock, settings);
  log.start();
  return {
    log,
    committer,
    client,
    foreign,
    snapshots: new SnapshotPublisher({ log, snapshots, secret }, committer, clock, logger, {
      messages: options.snapshotMessages ?? 1,
      intervalMs: 50,
      maxDelayMs: 10,
    }),
    caughtUp: async () => {
      await log.caughtUp(signal);
      await committer.runBetweenCommits("test", (function* () {})());
    },
    async [Symbol.asyncDispose]() {
      await log.close();
      await client.close();
    },
  };
}

let shared: NatsServers | undefined;

/**
 * The server that all tests of a file share, with nothing in it: starting one for each test takes longer than deleting its
 * streams. A test that stops it need not start it again.
 */
export async function emptyServer(): Promise<NatsServers> {
  shared ??= await startNatsServers();
  const [server] = shared.servers;
  if (server?.pid === undefined) await server?.start();
  const client = await connectNats({ servers: shared.urls.split(","), clientName: "test" });
  const { streams } = client.manager;
  for await (const name of streams.names()) await streams.delete(name);
  await client.close();
  return { ...shared, async [Symbol.asyncDispose]() {} };
}
