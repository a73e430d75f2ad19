/**
 * The commands of the command line for a cluster. They use NATS, and need no node on this machine. They reject with
 * `NatsError` when NATS cannot be reached, and with `RequestError` when the cluster cannot carry them out.
 */

import { connectNats } from "../../cluster/nats/nats-client.ts";
import { type NatsCluster, natsCluster } from "../../cluster/nats/nats-cluster.ts";
import { clearNodes } from "../../cluster/nodes.ts";
import {
  type ClusterAnswer,
  type ClusterRequest,
  otherSecret,
  RequestError,
  sendRequest,
} from "../../cluster/requests.ts";
import { whyGivenUp } from "../../cluster/traces.ts";
import type { Config } from "../../config/schema.ts";
import { systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../lib/logger.ts";
import { asStreamError } from "../../log/jetstream/as-stream-error.ts";
import { hasOtherSecret } from "../../log/jetstream/load-copy.ts";
import { LogStream } from "../../log/jetstream/log-stream.ts";
import { beginLog } from "../../log/jetstream/make-stream.ts";
import { ClusterSnapshots } from "../../log/jetstream/snapshots.ts";
import { type StreamCondition, StreamError } from "../../log/jetstream/stream-error.ts";
import type { ClusterOverview } from "../../model/cluster-overview.ts";
import type { MergeSettings } from "../../model/merge-settings.ts";
import { mergeSettingsOf, requireSources } from "../source-set.ts";
import { differencesOf, type SettingsDifference } from "./cluster-settings.ts";
import { nameOfMachine, natsOptions, readSecret, tracesOf } from "./open-cluster.ts";
import { readClusterOverview } from "./read-overview.ts";

/** Reads the overview of the cluster. Parts that cannot be read are named in `errors`. */
export async function readOverview(config: Config): Promise<ClusterOverview> {
  const { name } = config.cluster;
  return withNats(config, async (cluster) => {
    const stream = new LogStream(cluster);
    const snapshots = new ClusterSnapshots(cluster, systemClock);
    const [hasOther, overview] = await Promise.all([
      hasOtherSecret(stream, snapshots, cluster.secret).catch(conditionOf),
      readClusterOverview(name, cluster, stream, snapshots, systemClock),
    ]);
    if (hasOther === true) throw otherSecret();
    const isEmpty = overview.nodes.length + overview.leases.length === 0 && !overview.snapshots?.length;
    if (hasOther === "deleted" && isEmpty && overview.errors?.length === 1)
      throw new RequestError(`there is no cluster ${name} on these servers`);
    return overview;
  });
}

/** Returns the condition of a `StreamError`, and rethrows every other error. */
function conditionOf(error: unknown): StreamCondition {
  if (error instanceof StreamError) return error.condition;
  throw error;
}

/** Makes the stream with an empty log, and returns its id. With `discards` it does so even if nodes have a former log. */
export async function beginCluster(config: Config, discards: boolean): Promise<string> {
  try {
    return await withNats(config, async (cluster) => {
      const { names, secret } = cluster;
      const stream = new LogStream(cluster);
      const notEmpty = () =>
        new RequestError(
          `the cluster ${config.cluster.name} has a log: its stream ${names.stream} has messages`,
        );
      if (await stream.hasMessages()) throw notEmpty();
      const refusal = discards ? undefined : whyGivenUp(await tracesOf(cluster));
      if (refusal !== undefined) throw new RequestError(refusal);
      await stream.ensure();
      const log = await beginLog({ stream, secret, clock: systemClock });
      if (log === undefined) throw notEmpty();
      // No node must wait for one with a revision of the former log.
      if (discards)
        await clearNodes(cluster).catch((error: unknown) => {
          throw asStreamError(error, cluster, `KV_${names.nodes}`);
        });
      return log;
    });
  } catch (error) {
    if (!(error instanceof StreamError)) throw error;
    throw new RequestError(error.message, { cause: error });
  }
}

/** The differences that `applySettings` would remove. */
export async function findChanges(config: Config): Promise<SettingsDifference[]> {
  const { settings } = await send(config, { op: "settings" });
  return differencesOf(settings, ownSettings(config));
}

/** Makes the settings of this configuration the cluster's. Returns the revision from which on they apply. */
export async function applySettings(config: Config): Promise<number> {
  const { revision } = await send(config, { op: "apply", settings: ownSettings(config) });
  return revision;
}

/** Removes a source from the cluster. Returns the revision from which on the cluster has no claims of it. */
export async function forgetSource(config: Config, source: string): Promise<number> {
  const { revision } = await send(config, { op: "forget", source });
  return revision;
}

const send = (config: Config, request: ClusterRequest): Promise<ClusterAnswer> =>
  withNats(config, (cluster) => sendRequest(cluster, request));

async function withNats<T>(config: Config, use: (cluster: NatsCluster) => Promise<T>): Promise<T> {
  const secret = readSecret(config);
  const nats = await connectNats(natsOptions(config, nameOfMachine()));
  try {
    return await use(natsCluster(nats, config.cluster, secret));
  } finally {
    await nats.close();
  }
}

const ownSettings = (config: Config): MergeSettings =>
  mergeSettingsOf(config, requireSources(config, { clock: systemClock, log: silentLogger }));
