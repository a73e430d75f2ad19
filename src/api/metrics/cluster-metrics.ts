/** The families of `/metrics` that a node of a cluster has. */
import { type ClusterStatus, staleSeconds } from "../cluster-status.ts";
import { counter, gauge, type Sample } from "./metric-text.ts";

export function* clusterFamilies(cluster: ClusterStatus, revision: number, now: number): Generator<string> {
  const { name, node, trouble, conditions, lag, clockOffsetMs, replicas, foreignMessages, overtaken } =
    cluster;
  yield gauge("gazetteer_cluster_info", "The cluster, and this run of the node.", [[{ name, node }, 1]]);
  yield gauge(
    "gazetteer_cluster_condition",
    "1 while this is wrong with the log of the cluster, as this node sees it.",
    conditions.map((condition): Sample => [{ condition }, trouble?.condition === condition ? 1 : 0]),
  );
  yield gauge("gazetteer_cluster_revision", "The revision that this node has reached.", revision);
  yield gauge(
    "gazetteer_cluster_lag_messages",
    "Messages of the log that this node knows of and has not applied yet.",
    lag,
  );
  yield gauge(
    "gazetteer_cluster_stale_seconds",
    "How long the log cannot be followed already, so that the view may be that old; 0 while it can.",
    staleSeconds(cluster, now) ?? 0,
  );
  if (clockOffsetMs !== undefined)
    yield gauge(
      "gazetteer_cluster_clock_offset_seconds",
      "By how much the clock of this node is ahead of that of NATS; 0 within the accuracy.",
      clockOffsetMs / 1000,
    );
  yield gauge("gazetteer_cluster_replicas", "NATS servers that are to store the log.", replicas.configured);
  yield gauge(
    "gazetteer_cluster_replicas_current",
    "NATS servers that have all of the log, with the leader; 0 while it does not answer.",
    replicas.current,
  );
  yield counter(
    "gazetteer_cluster_foreign_messages_total",
    "What was found in NATS, or arrived, that no node of the cluster has written; it is ignored.",
    Object.entries(foreignMessages).map(([place, count]): Sample => [{ place }, count]),
  );
  yield counter(
    "gazetteer_cluster_overtaken_total",
    "Commits that were computed again because another node had appended first.",
    overtaken,
  );
}
