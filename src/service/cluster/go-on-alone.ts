/**
 * Lets a former cluster node continue alone when it is started without the `cluster` section. If the data folder has a copy of
 * a cluster's log and no log of a single node, the copy is duplicated as the log of the single node, with its history. The
 * duplicate gets a new id and signing key, because from now on a revision means another network than in the cluster. The shared
 * users are kept as well. The copy itself is not changed: if the node is started with the section again, it continues the copy.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { OWN_USERS_FILE } from "../../api/auth/users.ts";
import type { Config } from "../../config/schema.ts";
import type { Logger } from "../../lib/logger.ts";
import { replaceFile } from "../../lib/replace-file.ts";
import { copyLog } from "../../log/log-file.ts";
import { clusterOfCopy, copyFile, dataDirOf, LOG_FILE, sharedUsersFile } from "../data-folder.ts";
import { StartupError } from "../startup-error.ts";

/** Prepares the data folder. Call this before users and log are opened. Rejects with `LogError` or `StartupError`. */
export async function goOnAlone(config: Pick<Config, "data" | "users">, logger: Logger): Promise<void> {
  const dataDir = dataDirOf(config);
  if (dataDir === undefined || !statSync(dataDir, { throwIfNoEntry: false })?.isDirectory()) return;
  const path = join(dataDir, LOG_FILE);
  const [cluster, ...others] = readdirSync(dataDir).flatMap((file) => clusterOfCopy(file) ?? []);
  if (cluster === undefined) return;
  if (existsSync(path)) {
    const message =
      "started without the section cluster: this node goes on alone from log.sqlite and with its own users, not from its copy " +
      "of the cluster's log; to go on from the copy, stop it, move log.sqlite away and start it again";
    logger.warn(message, { cluster: [cluster, ...others].join(",") });
    return;
  }
  if (others.length > 0)
    throw new StartupError(
      "log",
      `${dataDir} has copies of the logs of several clusters (${[cluster, ...others].sort().join(", ")}) and no log of a ` +
        "single node; move all copies but one away, or give another folder with --data",
    );
  const users = await keepUsers(dataDir, cluster, config.users, logger);
  const { id, revision } = await copyLog(join(dataDir, copyFile(cluster)), path);
  logger.warn(
    "started without the section cluster: this node goes on alone from its copy of the cluster's log, under a new log id",
    { cluster, revision, log: id, ...(users !== undefined && { users }) },
  );
}

/**
 * Makes the shared users of the cluster those of the data folder. A configured users file belongs to the operator and is not
 * changed, and neither is one that was changed after the last known users of the cluster were stored. Returns the file with the
 * users of the cluster; undefined where they were not shared or cannot be read.
 */
async function keepUsers(
  dataDir: string,
  cluster: string,
  configured: string | undefined,
  logger: Logger,
): Promise<string | undefined> {
  const shared = join(dataDir, sharedUsersFile(cluster));
  if (!existsSync(shared)) return undefined;
  const text = await readFile(shared, "utf8");
  if (!text.startsWith("#")) {
    const message =
      "the stored users of the cluster are not a users file: this node goes on with its own users";
    logger.warn(message, { file: shared });
    return undefined;
  }
  if (configured !== undefined) return shared;
  const own = join(dataDir, OWN_USERS_FILE);
  const users = text.slice(text.indexOf("\n") + 1);
  const replaced = statSync(own, { throwIfNoEntry: false });
  if (replaced && (await readFile(own, "utf8")) !== users) {
    if (replaced.mtimeMs > statSync(shared).mtimeMs) {
      const message = "the users file is newer than the users of the cluster, and applies instead of them";
      logger.warn(message, { users: own, cluster: shared });
      return shared;
    }
    const old = unusedName(`${own}.old`);
    await rename(own, old);
    logger.warn("the users of the cluster apply; those of this node were renamed", { file: old });
  }
  await replaceFile(own, users);
  return own;
}

/** `path`, or `path.2` and so on where it exists: a node may leave its cluster more than once. */
function unusedName(path: string): string {
  let name = path;
  for (let n = 2; existsSync(name); n++) name = `${path}.${n}`;
  return name;
}
