/**
 * Takes the log of a single node into a new cluster: all of its batches, with their revisions, its id and its signing key,
 * so that clients go on where they are. The file becomes this node's copy of the cluster's log. What cannot be done leaves
 * everything as it was.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/schema.ts";
import { systemClock } from "../lib/clock.ts";
import { silentLogger } from "../lib/logger.ts";
import { withoutPauses } from "../lib/steps.ts";
import { sealKey } from "../log/jetstream/identity.ts";
import { LogStream } from "../log/jetstream/log-stream.ts";
import { type EncodedMessage, encodeBase, encodeBatch } from "../log/jetstream/messages.ts";
import { encodePosition, firstPosition, type Link } from "../log/jetstream/position.ts";
import { ClusterSnapshots } from "../log/jetstream/snapshots.ts";
import { StreamError } from "../log/jetstream/stream-error.ts";
import { changeIdentity, moveLog } from "../log/log-file.ts";
import { openRetryingLog, type RetryingLog } from "../log/retrying-log.ts";
import { connectEngine, type Engine } from "../nats/engine.ts";
import { clusterNames } from "../nats/names.ts";
import { asStartupError } from "./as-startup-error.ts";
import { copyFile, engineOptions, nameOfMachine, readSecret, snapshotsOptions } from "./cluster.ts";
import { StartupError } from "./startup-error.ts";
import { dataDirOf, LOG_FILE } from "./store.ts";

/** Messages on their way to the stream. */
const MAX_IN_FLIGHT = 64;

export interface Joined {
  readonly log: string;
  readonly oldest: number;
  readonly newest: number;
}

/** Rejects with `StartupError`, whose message says what cannot be done. */
export async function joinCluster(config: Config): Promise<Joined> {
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
      if (local.needsConversion)
        throw new StartupError("log", `${path} is of an older version; start the service on it once, alone`);
      engine = await connectEngine(engineOptions(config, nameOfMachine()));
      const { oldest, newest } = local.stats();
      const position = await publishLog(config, local, engine);
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

async function publishLog(config: Config, local: RetryingLog, engine: Engine) {
  const { replicas, name } = config.cluster;
  const names = clusterNames(name);
  const stream = new LogStream(engine, { stream: names.stream, subject: names.subject, replicas });
  const { info } = await stream.ensure();
  if (info.lastSequence > 0)
    throw new StartupError(
      "log",
      `the cluster ${name} has a log already; give another cluster.name, or start this node in it without its history`,
    );
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
    const { stored } = await stream.publish(base, 0);
    if (!stored) throw new StartupError("log", `a node of the cluster ${name} is running; stop it first`);
    const last = await publishBatches(stream, local, oldest, { sequence: 1, signature: base.signature });
    return { ...position, sequence: last.sequence, links: [last] };
  } catch (error) {
    // Was empty, and is of no use with a part of the log.
    if (!(error instanceof StartupError)) await stream.delete().catch(() => {});
    throw error;
  }
}

/** After `base`. Returns the last message. */
async function publishBatches(
  stream: LogStream,
  local: RetryingLog,
  oldest: number,
  base: Link,
): Promise<Link> {
  const writer = { log: local.id, key: local.signingKey, node: "join" };
  let last = base;
  let inFlight: Promise<void>[] = [];
  const publish = async (message: EncodedMessage, expected: number) => {
    const { stored } = await stream.publish(message, expected);
    if (!stored) throw new StreamError("unanswered", "another node writes to the stream; stop it first");
  };
  for (const batch of withoutPauses(local.read(oldest))) {
    const { signature } = last;
    for (const message of await encodeBatch(batch, writer, randomUUID(), signature, stream.maxPayload)) {
      inFlight.push(publish(message, last.sequence));
      last = { sequence: last.sequence + 1, signature: message.signature };
    }
    if (inFlight.length < MAX_IN_FLIGHT) continue;
    await Promise.all(inFlight);
    inFlight = [];
  }
  await Promise.all(inFlight);
  return last;
}
