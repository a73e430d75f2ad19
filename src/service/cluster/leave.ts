/**
 * Makes a node's copy of the cluster's log the log of a single node, with its history. Where the cluster may go on, the log
 * gets another id and signing key: from then on its revisions mean other batches. The users that the nodes shared stay.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { OWN_USERS_FILE } from "../../api/auth/users.ts";
import { clusterNames } from "../../cluster/nats/cluster-names.ts";
import { connectEngine } from "../../cluster/nats/nats-client.ts";
import { EngineError } from "../../cluster/nats/nats-error.ts";
import type { Config } from "../../config/schema.ts";
import { systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../lib/logger.ts";
import { replaceFile } from "../../lib/replace-file.ts";
import { LogStream } from "../../log/jetstream/log-stream.ts";
import { StreamError } from "../../log/jetstream/stream-error.ts";
import { changeIdentity, moveLog, newLogId } from "../../log/log-file.ts";
import { openRetryingLog } from "../../log/retrying-log.ts";
import { asStartupError } from "../as-startup-error.ts";
import { StartupError } from "../startup-error.ts";
import { dataDirOf, LOG_FILE } from "../store.ts";
import { copyFile, engineOptions, nameOfMachine } from "./open-cluster.ts";
import { usersFile } from "./share-users.ts";

export interface Left {
  readonly log: string;
  /** Whether clients must begin again. */
  readonly isNewLog: boolean;
  readonly oldest: number;
  readonly newest: number;
  /** The file with the users of the cluster, where they were shared. */
  readonly users?: {
    readonly path: string;
    /** Whether the service reads it when it is started. Not where the configuration names another file. */
    readonly isUsed: boolean;
  };
}

/** Rejects with `StartupError`, whose message says what cannot be done. */
export async function leaveCluster(config: Config): Promise<Left> {
  const dataDir = dataDirOf(config);
  const copy = dataDir === undefined ? undefined : join(dataDir, copyFile(config.cluster.name));
  if (dataDir === undefined || copy === undefined || !existsSync(copy))
    throw new StartupError(
      "log",
      `there is no copy of the cluster ${config.cluster.name} in ${config.data}; give its folder with --data`,
    );
  const path = join(dataDir, LOG_FILE);
  if (existsSync(path))
    throw new StartupError("log", `${path} exists: the log of a single node; move it away first`);
  return asStartupError(async () => {
    const local = openRetryingLog(copy, { clock: systemClock, logger: silentLogger });
    const { id, signingKey } = local;
    const { oldest, newest } = local.stats();
    try {
      const isNewLog = await mayGoOn(config);
      await local.close();
      const users = await keepUsers(config, dataDir);
      const identity = isNewLog ? { id: newLogId(), signingKey: randomBytes(32) } : { id, signingKey };
      changeIdentity(copy, identity);
      moveLog(copy, path);
      return { log: identity.id, isNewLog, oldest, newest, ...(users && { users }) };
    } finally {
      await local.close();
    }
  });
}

/** The users of the cluster become those of the data folder. A configured users file is the operator's, and stays as it is. */
async function keepUsers({ cluster, users }: Config, dataDir: string): Promise<Left["users"]> {
  const copy = join(dataDir, usersFile(cluster.name));
  if (!cluster.shareUsers || !existsSync(copy)) return undefined;
  const text = await readFile(copy, "utf8");
  if (!text.startsWith("#"))
    throw new StartupError(
      "log",
      `${copy} is sealed by an earlier version: start this node in the cluster once more, and let it leave then`,
    );
  if (users !== undefined) return { path: copy, isUsed: false };
  const path = join(dataDir, OWN_USERS_FILE);
  await replaceFile(path, text.replace(/^#.*\n/, ""));
  return { path, isUsed: true };
}

/** Whether the cluster still has its stream, or that is not known. */
async function mayGoOn(config: Config): Promise<boolean> {
  const { name, replicas } = config.cluster;
  const names = clusterNames(name);
  try {
    const engine = await connectEngine(engineOptions(config, nameOfMachine()));
    try {
      await new LogStream(engine, { stream: names.stream, subject: names.subject, replicas }).info();
      return true;
    } finally {
      await engine.close();
    }
  } catch (error) {
    if (error instanceof StreamError) return error.condition !== "deleted";
    if (error instanceof EngineError) return true;
    throw error;
  }
}
