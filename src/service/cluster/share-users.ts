/** Joins the users of a node with those of its cluster, where the configuration says so. */
import { join } from "node:path";
import type { ReloadableUsers } from "../../api/auth/users.ts";
import type { SharedUsers } from "../../cluster/shared-users.ts";
import type { Config } from "../../config/schema.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import { dataDirOf, sharedUsersFile } from "../data-folder.ts";
import type { ClusterMember } from "./open-cluster.ts";

/** Resolves when the last known users of the cluster apply, if there are any. The result is to be run. */
export async function shareUsers(
  users: ReloadableUsers,
  cluster: ClusterMember | undefined,
  config: Config,
  clock: Clock,
  logger: Logger,
): Promise<SharedUsers | undefined> {
  const { shareUsers: isShared, name, replicas } = config.cluster;
  if (!cluster || !isShared) return undefined;
  const { SharedUsers } = await import("../../cluster/shared-users.ts");
  const dataDir = dataDirOf(config);
  const shared = new SharedUsers({
    nats: cluster.nats,
    bucket: cluster.names.users,
    replicas,
    secret: cluster.secret,
    copyPath: dataDir === undefined ? undefined : join(dataDir, sharedUsersFile(name)),
    clock,
    logger,
    onMalformed: (entry) => cluster.foreign.countEntry("users", entry),
  });
  await shared.load();
  users.share(shared);
  return shared;
}
