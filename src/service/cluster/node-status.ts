/** What the interface shows of this node's cluster, read when it is shown. */
import type { ClusterStatus } from "../../api/cluster-status.ts";
import type { Config } from "../../config/schema.ts";
import { STREAM_CONDITIONS } from "../../log/jetstream/stream-error.ts";
import type { ClusterMember } from "./open-cluster.ts";

export function clusterStatus(
  { log, node, foreign, clockCheck }: ClusterMember,
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
    get foreignMessages() {
      return { log: log.foreignMessages, ...foreign.counts };
    },
    get overtaken() {
      return log.overtakenAppends;
    },
  };
}
