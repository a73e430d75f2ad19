/**
 * Takes the log of a single node into a new cluster: all of its batches, with their revisions, its id and its signing key,
 * so that clients go on where they are. The file becomes this node's copy of the cluster's log. What cannot be done leaves
 * everything as it was, or says which stream has a part of the log and must be deleted.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type ClusterNames, clusterNames } from "../../cluster/nats/cluster-names.ts";
import { connectEngine, type Engine } from "../../cluster/nats/nats-client.ts";
import { whyGivenUp } from "../../cluster/traces.ts";
import type { Config } from "../../config/schema.ts";
import { systemClock } from "../../lib/clock.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { silentLogger } from "../../lib/logger.ts";
import { sealKey } from "../../log/jetstream/identity.ts";
import { LogStream, type StreamInfo } from "../../log/jetstream/log-stream.ts";
import { encodeBase, readMessage } from "../../log/jetstream/messages.ts";
import { encodePosition, firstPosition } from "../../log/jetstream/position.ts";
import { ClusterSnapshots } from "../../log/jetstream/snapshots.ts";
import { changeIdentity, moveLog } from "../../log/log-file.ts";
import { openRetryingLog, type RetryingLog } from "../../log/retrying-log.ts";
import { asStartupError } from "../as-startup-error.ts";
import { StartupError } from "../startup-error.ts";
import { dataDirOf, LOG_FILE } from "../store.ts";
import { JOIN, publishAt, publishBatches } from "./join-messages.ts";
import {
  copyFile,
  engineOptions,
  forgetFormerNodes,
  nameOfMachine,
  readSecret,
  snapshotsOptions,
  tracesOf,
} from "./open-cluster.ts";

export interface Joined {
  readonly log: string;
  readonly oldest: number;
  readonly newest: number;
}

/** With `discards`, also where nodes show a former log. Rejects with `StartupError`, whose message says what cannot be done. */
export async function joinCluster(config: Config, discards: boolean): Promise<Joined> {
  const dataDir = dataDirOf(config);
  const path = dataDir === undefined ? undefined : join(dataDir, LOG_FILE);
  if (dataDir === undefined || path === undefined || !existsSync(path))
    throw new StartupError(
      "log",
      `there is no log of a single node in ${config.data}; give its folder with --data`,
    );
  const copy = join(dataDir, copyFile(config.cluster.name));
  if (existsSync(copy))
    throw new StartupError("log", `${copy} exists: this node is in the cluster already; leave it first`);
  return asStartupError(async () => {
    const local = openRetryingLog(path, { clock: systemClock, logger: silentLogger });
    let engine: Engine | undefined;
    try {
      engine = await connectEngine(engineOptions(config, nameOfMachine()));
      const { oldest, newest } = local.stats();
      const position = await publishLog(config, discards, local, engine);
      await local.close();
      changeIdentity(path, { id: local.id, signingKey: local.signingKey }, encodePosition(position));
      moveLog(path, copy);
      return { log: local.id, oldest, newest };
    } finally {
      await local.close();
      await engine?.close();
    }
  });
}

async function publishLog(config: Config, discards: boolean, local: RetryingLog, engine: Engine) {
  const { replicas, name } = config.cluster;
  const names = clusterNames(name);
  const stream = new LogStream(engine, { stream: names.stream, subject: names.subject, replicas });
  if (!discards && !(await stream.hasMessages())) {
    const refusal = whyGivenUp(await tracesOf(engine, names, replicas));
    if (refusal !== undefined) throw new StartupError("log", refusal);
  }
  const { info } = await stream.ensure();
  if (info.lastSequence > 0)
    throw new StartupError("log", await whyNotEmpty(stream, names, info, local, name));
  try {
    const { oldest, oldestTime } = local.stats();
    const secret = readSecret(config);
    const identity = { log: local.id, key: sealKey(secret, local.signingKey) };
    const base = encodeBase(
      { ...identity, revision: oldest, time: oldestTime },
      local.signingKey,
      randomUUID(),
    );
    const position = firstPosition(info.created, base.signature);
    const snapshot = oldest > 0 ? local.snapshotAtOrBefore(oldest) : undefined;
    if (snapshot) {
      const snapshots = new ClusterSnapshots(engine, snapshotsOptions(config.cluster, secret), systemClock);
      await snapshots.write({ ...identity, position }, snapshot);
    }
    if (!(await publishAt(stream, { message: base, expected: 0 })))
      throw new StartupError("log", `a node of the cluster ${name} is running; stop it first`);
    const last = await publishBatches(stream, local, oldest, { sequence: 1, signature: base.signature });
    if (discards) await forgetFormerNodes(engine, names, replicas);
    return { ...position, sequence: last.sequence, links: [last] };
  } catch (error) {
    if (error instanceof StartupError) throw error;
    // Was empty, and is of no use with a part of the log.
    await stream.delete().catch((failure) => {
      const why = `${errorMessage(error)}; and the stream could not be deleted: ${errorMessage(failure)}`;
      throw new StartupError(
        "log",
        `${why}. The stream ${names.stream} may have a part of this log: ${deleteFirst(names)}`,
        { cause: error },
      );
    });
    throw error;
  }
}

/** What to do about a stream that has messages. Only one that nobody has written to since a join failed is to be deleted. */
async function whyNotEmpty(
  stream: LogStream,
  names: ClusterNames,
  info: StreamInfo,
  local: RetryingLog,
  name: string,
): Promise<string> {
  const [first, last] = await Promise.all(
    [info.firstSequence, info.lastSequence].map((n) => stream.message(n)),
  );
  const base = first && readMessage(first);
  const end = last && readMessage(last);
  const isOwn = base?.type === "base" && base.base.log === local.id;
  const isOfJoin = end?.type === "base" || (end?.type === "part" && end.part.node === JOIN);
  return isOwn && isOfJoin
    ? `an earlier join has left a part of this log in the stream ${names.stream}; ${deleteFirst(names)}`
    : `the cluster ${name} has a log already; give another cluster.name, or start this node in it without its history`;
}

const deleteFirst = ({ stream }: ClusterNames): string =>
  `start no node on it, delete it first (nats stream rm ${stream}), and join again`;
