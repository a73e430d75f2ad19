/** The files that the service keeps in its data folder. Besides these it has the users file of `api/auth/users.ts`. */
import { join } from "node:path";
import type { Config } from "../config/schema.ts";

/** The value of `data` that writes nothing to disk. */
const IN_MEMORY = ":memory:";

/** The log of a single node. A node of a cluster does not touch it, unless it begins the log of the cluster with it. */
export const LOG_FILE = "log.sqlite";

/** The files of a node of the cluster `name`: its copy of the log, the last known users, and the name of its last run. */
export const copyFile = (name: string): string => `cluster-${name}.sqlite`;
export const sharedUsersFile = (name: string): string => `cluster-${name}.users`;
export const runFile = (name: string): string => `cluster-${name}.run`;

/** The cluster whose copy of the log this file is; undefined where it is none. */
export const clusterOfCopy = (file: string): string | undefined => /^cluster-(.+)\.sqlite$/.exec(file)?.[1];

/** Undefined when nothing is written to disk. */
export const dataDirOf = ({ data }: Pick<Config, "data">): string | undefined =>
  data === IN_MEMORY ? undefined : data;

/** The folder for files of sources. */
export function stateDirOf(config: Pick<Config, "data">): string | undefined {
  const dataDir = dataDirOf(config);
  return dataDir === undefined ? undefined : join(dataDir, "sources");
}
