/**
 * Opens the membership of a node in its cluster: the connection to NATS, the shared log, the leases, the secret, and the name
 * of this run of the node.
 */

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { ClockCheck } from "../../cluster/clock-check.ts";
import { Leases } from "../../cluster/leases.ts";
import {
  losesMessages,
  type NatsClient,
  type NatsOptions,
  openNats,
} from "../../cluster/nats/nats-client.ts";
import { type NatsCluster, natsCluster, type Traces } from "../../cluster/nats/nats-cluster.ts";
import type { NatsError } from "../../cluster/nats/nats-error.ts";
import { ClusterSecret } from "../../cluster/nats/sealed.ts";
import { clearFormerRun, readNodes } from "../../cluster/nodes.ts";
import { findTraces } from "../../cluster/traces.ts";
import { secretFault } from "../../config/cross-checks.ts";
import type { Config } from "../../config/schema.ts";
import { aborted } from "../../lib/aborted.ts";
import type { Clock } from "../../lib/clock.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { Logger } from "../../lib/logger.ts";
import { replaceFile } from "../../lib/replace-file.ts";
import { runToEnd } from "../../lib/steps.ts";
import { asStreamError } from "../../log/jetstream/as-stream-error.ts";
import type { JetStreamLog } from "../../log/jetstream/jetstream-log.ts";
import { LogStream } from "../../log/jetstream/log-stream.ts";
import { openJetStreamLog } from "../../log/jetstream/open.ts";
import { ClusterSnapshots } from "../../log/jetstream/snapshots.ts";
import { StreamError } from "../../log/jetstream/stream-error.ts";
import type { Log, Snapshot } from "../../log/log.ts";
import { IN_MEMORY } from "../../log/log-file.ts";
import { restoreView } from "../../view/restore.ts";
import { snapshotOf } from "../../view/view.ts";
import { copyFile, LOG_FILE, runFile } from "../data-folder.ts";
import { StartupError } from "../startup-error.ts";
import { LostMembers } from "./lost-members.ts";

export interface ClusterMember extends NatsCluster {
  readonly log: JetStreamLog;
  readonly leases: Leases;
  readonly snapshots: ClusterSnapshots;
  readonly clockCheck: ClockCheck;
  readonly lost: LostMembers;
  /** The configured name of the node, or the name of the machine. */
  readonly nodeName: string;
  /** Name of this run of the node. */
  readonly node: string;
}

/** Joins the cluster. Rejects with `LogError`, `NatsError` or `StartupError`. */
export async function openCluster(
  config: Config,
  dataDir: string | undefined,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
): Promise<ClusterMember> {
  const { name } = config.cluster;
  const nodeName = config.cluster.node ?? nameOfMachine();
  const node = newRun(nodeName);
  const secret = readSecret(config);
  // The file is read here, because a missing one would look like an unreachable server in an attempt to connect.
  if (config.cluster.credentialsFile !== undefined)
    readText("credentialsFile", config.cluster.credentialsFile);
  const path = dataDir === undefined ? IN_MEMORY : join(dataDir, copyFile(name));
  const nats = await reachNats(natsOptions(config, nodeName), existsSync(path), clock, logger, signal);
  try {
    const cluster = natsCluster(nats, config.cluster, secret);
    const snapshots = new ClusterSnapshots(cluster, clock);
    const readOthers = async () => {
      const nodes = await readNodes(cluster, clockCheck.natsClock);
      return nodes.filter((other) => other.node !== node && other.lostSince === undefined);
    };
    const measure = async () => {
      if (!nats.isConnected) return false;
      await clearFormerRun({ cluster, clock, clockCheck }, nodeName);
      return true;
    };
    const clockCheck: ClockCheck = new ClockCheck(clock, readOthers, measure);
    const log = await openJetStreamLog({
      stream: new LogStream(cluster),
      snapshots,
      path,
      singlePath: dataDir === undefined ? undefined : join(dataDir, LOG_FILE),
      node,
      secret,
      newestState,
      traces: async () => {
        const { places, nodes } = await tracesOf(cluster);
        return { places, nodes: nodes.filter((other) => other.nodeName !== nodeName) };
      },
      clockCheck,
      clock,
      logger,
      signal,
    });
    clockCheck.onChange((state, message) => {
      if (state === "right") log.health.clear("clock");
      else log.health.report("clock", new StreamError("clock", message));
    });
    const leases = new Leases({
      cluster,
      node,
      previousNode: dataDir === undefined ? undefined : await replaceRun(dataDir, name, node, logger),
      nodeName,
      writes: log,
      clockCheck,
      clock,
      logger,
    });
    // The clock is measured before any lease is acquired, so that the leases are notified of a wrong clock.
    await measure();
    if (cluster.replicas > 1) void nats.reached.then(() => warnOfLosses(nats, logger));
    return { ...cluster, log, leases, snapshots, clockCheck, lost: new LostMembers(), nodeName, node };
  } catch (error) {
    await nats.close();
    throw error;
  }
}

/** The traces of a cluster in NATS besides its log. Rejects with `StreamError`. */
export const tracesOf = (cluster: NatsCluster): Promise<Traces> =>
  findTraces(cluster).catch((error: unknown) => {
    throw asStreamError(error, cluster, cluster.names.stream);
  });

export const natsOptions = ({ cluster }: Config, nodeName: string): NatsOptions => ({
  servers: cluster.servers,
  clientName: `gazetteer ${nodeName}`,
  credentialsFile: cluster.credentialsFile,
  tls: tlsOf(cluster.tls),
});

/** Connects to NATS. A node with a copy of the log does not wait for that. Rejects with `NatsError`. */
async function reachNats(
  options: NatsOptions,
  hasCopy: boolean,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
): Promise<NatsClient> {
  const failed = Promise.withResolvers<NatsError>();
  const nats = openNats(options, clock, failed.resolve);
  const failure = await Promise.race([nats.reached, failed.promise]);
  if (!failure || (hasCopy && failure.code === "unreachable")) return nats;
  if (failure.code === "unreachable") {
    logger.warn("waiting for NATS: this node has no copy of the log yet", { why: failure.message });
    await Promise.race([nats.reached, aborted(signal)]);
    if (!signal.aborted) return nats;
  }
  await nats.close();
  throw failure;
}

function warnOfLosses({ connection }: NatsClient, logger: Logger): void {
  const version = connection.info?.version;
  if (version !== undefined && losesMessages(version))
    logger.warn(
      "this release of NATS can lose changes when its servers fail: use a current one (docs/cluster.md)",
      { version },
    );
}

export const newestState = (log: Log): Snapshot => runToEnd(snapshotOf(restoreView(log).view.capture()));

export const nameOfMachine = (): string =>
  hostname()
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .slice(0, 32) || "node";

const tlsOf = (tls: Config["cluster"]["tls"]): Config["cluster"]["tls"] | undefined =>
  tls.ca === undefined && tls.cert === undefined ? undefined : tls;

/** Reads the secret of the cluster. Throws `StartupError`. */
export function readSecret({
  cluster,
}: {
  readonly cluster: Pick<Config["cluster"], "secretFile">;
}): ClusterSecret {
  if (cluster.secretFile === undefined) throw new StartupError("log", "cluster.secretFile is missing");
  const text = readText("secretFile", cluster.secretFile).trim();
  const fault = secretFault(text);
  if (fault !== undefined) throw new StartupError("log", `cluster.secretFile: ${fault}`);
  return new ClusterSecret(Buffer.from(text));
}

function readText(key: "secretFile" | "credentialsFile", path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new StartupError("log", `cluster.${key} cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

const newRun = (nodeName: string): string => `${nodeName}.${randomBytes(4).toString("hex")}`;

/**
 * Stores `run` in the data folder as the name of the last run, and returns the name of the previous run, whose leases this run
 * takes over. Call this only after this process has locked the log in the folder: the lock shows that the previous run ended.
 */
async function replaceRun(
  dataDir: string,
  cluster: string,
  run: string,
  logger: Logger,
): Promise<string | undefined> {
  const path = join(dataDir, runFile(cluster));
  const previous = await readFile(path, "utf8").catch(() => undefined);
  try {
    await replaceFile(path, run);
  } catch (error) {
    // Without the name, the next start has to wait until the leases of this run expire.
    logger.warn("the name of this run was not stored", { path, why: errorMessage(error) });
  }
  return previous;
}
