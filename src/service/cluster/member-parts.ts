/**
 * The parts of a cluster member that the rest of the service uses: the status that the API shows, and the shared users. The
 * file imports no code of NATS, so that a single node does not load it.
 */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ReloadableUsers } from "../../api/auth/users.ts";
import type { ClusterStatus } from "../../api/cluster-status.ts";
import type { SharedUsers } from "../../cluster/shared-users.ts";
import type { Config } from "../../config/schema.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import { STREAM_CONDITIONS } from "../../log/jetstream/stream-error.ts";
import { dataDirOf, sharedUsersFile } from "../data-folder.ts";
import type { ClusterMember } from "./open-cluster.ts";

/** Creates the status of this node. Each value is read when it is shown. */
export function clusterStatus(
  { log, node, foreign, clockCheck, lost }: ClusterMember,
  config: Config,
): ClusterStatus {
  const { name, maxStaleSeconds } = config.cluster;
  return {
    name,
    node,
    conditions: STREAM_CONDITIONS,
    maxStaleSeconds,
    get staleSince() {
      return log.health.staleSince;
    },
    get trouble() {
      return log.health.trouble;
    },
    get lag() {
      return log.lag;
    },
    get clockOffsetMs() {
      return clockCheck.offsetMs;
    },
    get replicas() {
      return log.stream.replicas;
    },
    get lost() {
      return lost.all;
    },
    get foreignMessages() {
      return { log: log.foreignMessages, ...foreign.counts };
    },
    get overtaken() {
      return log.overtakenAppends;
    },
  };
}

/**
 * Shares the users of this node with its cluster if the configuration enables that. Resolves when the last known users of the
 * cluster apply, if there are any. The caller must call `run` of the result.
 */
export async function shareUsers(
  users: ReloadableUsers,
  cluster: ClusterMember | undefined,
  config: Config,
  clock: Clock,
  logger: Logger,
): Promise<SharedUsers | undefined> {
  const { shareUsers: isShared, name } = config.cluster;
  if (!cluster) return undefined;
  const dataDir = dataDirOf(config);
  const copyPath = dataDir === undefined ? undefined : join(dataDir, sharedUsersFile(name));
  if (!isShared) {
    // Formerly shared users must not replace the current ones when the node continues alone.
    if (copyPath !== undefined) await rm(copyPath, { force: true });
    return undefined;
  }
  const { SharedUsers } = await import("../../cluster/shared-users.ts");
  const shared = new SharedUsers({ cluster, copyPath, clock, logger });
  await shared.load();
  users.share(shared);
  return shared;
}
