/** The names of the files in the data folder. The users file is in the folder too, and is named in `api/auth/users.ts`. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/schema.ts";

/** The value of `data` that writes nothing to disk. */
const IN_MEMORY = ":memory:";

/** The log of a single node. A node of a cluster uses it only to begin the log of the cluster with it. */
export const LOG_FILE = "log.sqlite";

/** The files of a node of the cluster `name`: its copy of the log, the last known users, and the name of its last run. */
export const copyFile = (name: string): string => `cluster-${name}.sqlite`;
export const sharedUsersFile = (name: string): string => `cluster-${name}.users`;
export const runFile = (name: string): string => `cluster-${name}.run`;

/** The name of the cluster whose log this file is a copy of; undefined where it is not such a copy. */
export const clusterOfCopy = (file: string): string | undefined => /^cluster-(.+)\.sqlite$/.exec(file)?.[1];

/** The name of the cluster whose last known users this file has; undefined where it is not such a file. */
export const clusterOfUsers = (file: string): string | undefined => /^cluster-(.+)\.users$/.exec(file)?.[1];

/** The folder in the data folder that has the state files of sources. */
export const STATE_FOLDER = "sources";

/** The data folder; undefined when nothing is written to disk. */
export const dataDirOf = ({ data }: Pick<Config, "data">): string | undefined =>
  data === IN_MEMORY ? undefined : data;

/** The folder for the state files of sources; undefined when nothing is written to disk. */
export function stateDirOf(config: Pick<Config, "data">): string | undefined {
  const dataDir = dataDirOf(config);
  return dataDir === undefined ? undefined : join(dataDir, STATE_FOLDER);
}

/** The size of the logs in the data folder, which says how long a start may take. */
export function storedLogBytes(config: Pick<Config, "data">): number {
  const folder = dataDirOf(config);
  if (folder === undefined) return 0;
  try {
    const logs = readdirSync(folder).filter((name) => name.endsWith(".sqlite"));
    return logs.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch {
    return 0; // There is no such folder yet, or opening the log will say what is wrong with it.
  }
}
