/** Renders `/metrics` in Prometheus' text format (0.0.4). All values are read at each request. */
import type { Response } from "../../http1/response.ts";
import type { Steps } from "../../lib/steps.ts";
import { DRIFT_STATES } from "../../model/entity.ts";
import { KINDS } from "../../model/ids.ts";
import type { SourceReport } from "../../model/source-status.ts";
import { indexedDrift } from "../../query/drift-counts.ts";
import { countBySeverity } from "../../query/problems/select-problems.ts";
import { type ClusterStatus, staleSeconds } from "../cluster-status.ts";
import type { MapSource } from "../endpoints/map-source.ts";
import type { ReadContext } from "../endpoints/read-context.ts";
import type { ForwardMetrics } from "../forwarding/forwarding.ts";
import { counter, gauge, renderFamily, type Sample } from "./families.ts";
import { addMetrics, PROCESS_FAMILIES, type ProcessMetrics, TLS_HANDSHAKES } from "./process-metrics.ts";

/* The families of `/metrics` that a node of a cluster has. */

function* clusterFamilies(cluster: ClusterStatus, revision: number, now: number): Generator<string> {
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

export interface MetricsInput {
  readonly context: ReadContext;
  /** The metrics of this process. */
  readonly metrics: ProcessMetrics;
  readonly sources: readonly SourceReport[];
  /** Number of records that were not valid, by the name of the source. */
  readonly rejectedRecords: Readonly<Record<string, number>>;
  readonly version: string;
  readonly readers?: ReaderMetrics | undefined;
  readonly configReload?: ConfigReloadMetrics | undefined;
  /** The time when the server's certificate expires (epoch milliseconds). */
  readonly tlsExpiresAt?: number | undefined;
  readonly forwards?: ForwardMetrics | undefined;
  readonly map?: Pick<MapSource, "queryCounts"> | undefined;
  readonly cluster?: ClusterStatus | undefined;
  /** The current time (epoch milliseconds). */
  readonly now: number;
}

/** The result of reloads of the configuration. The start counts as the first reload. */
export interface ConfigReloadMetrics {
  /** Whether the last reload was applied. */
  readonly successful: boolean;
  /** The time when a configuration was last applied (epoch milliseconds). */
  readonly succeededAt: number;
}

/** The metrics of the reader processes. */
export interface ReaderMetrics {
  /** Number of processes that are configured and that are alive, this one included. */
  count(): { readonly configured: number; readonly alive: number };
  /** The sum of the metrics of all reader processes, including ended ones. */
  metrics(): ProcessMetrics;
}

const HEADERS = {
  "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
  "Cache-Control": "no-store",
};

/** Runs in steps, because the clusters are computed again after each change of the graph. */
export function* metricsResponse(input: MetricsInput): Steps<Response> {
  const graph = yield* input.context.view.capture().linkGraph();
  const clusters = yield* graph.clusterCount();
  const problems = yield* countBySeverity(yield* input.context.problems.newest());
  const families = [
    ...networkFamilies(input, clusters),
    gauge(
      "gazetteer_problems",
      "What is wrong with the network, as /controller/v1/topology/problems lists it.",
      problems.map(({ kind, severity, count }): Sample => [{ kind, severity }, count]),
    ),
    ...sourceFamilies(input),
    ...processFamilies(input),
    ...forwardFamilies(input),
    ...mapFamilies(input),
    ...historyFamilies(input),
    ...(input.cluster ? clusterFamilies(input.cluster, input.context.view.revision, input.now) : []),
    ...ownFamilies(input),
  ];
  return { status: 200, headers: HEADERS, body: families.join("") };
}

function* networkFamilies({ context: { view }, version }: MetricsInput, clusters: number): Generator<string> {
  yield gauge("gazetteer_build_info", "The running version.", [[{ version }, 1]]);
  yield gauge("gazetteer_revision", "The view's revision.", view.revision);
  yield gauge(
    "gazetteer_entities",
    "Entities in the view.",
    KINDS.map((kind) => [{ kind }, view.size(kind)]),
  );
  yield gauge("gazetteer_clusters", "Strongly connected components of the graph.", clusters);
  yield gauge(
    "gazetteer_held_back",
    "Entities that are known but not shown, because a device that they refer to is not known.",
    Object.entries(view.heldBack).map(([kind, n]) => [{ kind }, n]),
  );
  yield gauge(
    "gazetteer_drift",
    "Entities that differ from the intended network.",
    KINDS.flatMap((resource) =>
      DRIFT_STATES.map((state): Sample => [{ resource, state }, indexedDrift(view, resource, state)]),
    ),
  );
}

function* sourceFamilies({ sources, rejectedRecords }: MetricsInput): Generator<string> {
  const perSource = (value: (source: SourceReport) => number) =>
    sources.map((source): Sample => [{ source: source.name, kind: source.kind }, value(source)]);
  // Only the node that runs a source has a sample of it, so that an alert on 0 is right on every node.
  const perRunningSource = (value: (source: SourceReport) => number) =>
    perSource(value).filter((_, i) => sources[i]?.status !== "standby");
  yield gauge(
    "gazetteer_source_synced",
    "1 while the source's claims are up to date.",
    perRunningSource((source) => (source.status === "synced" ? 1 : 0)),
  );
  yield counter(
    "gazetteer_source_restarts_total",
    "Restarts of the source.",
    perSource((source) => source.restarts),
  );
  yield gauge(
    "gazetteer_source_last_synced_seconds",
    "When the source last synced, in epoch seconds.",
    perRunningSource((source) => (source.lastSyncedAt ?? 0) / 1000),
  );
  yield counter(
    "gazetteer_records_refused_total",
    "Records of the source that were not valid.",
    Object.entries(rejectedRecords).map(([source, n]) => [{ source }, n]),
  );
  yield* sourceSpecificFamilies(sources);
}

/** The metrics that sources count themselves, with one family for each kind of source and name. */
function* sourceSpecificFamilies(sources: readonly SourceReport[]): Generator<string> {
  const samplesByFamily = new Map<string, Sample[]>();
  for (const { name, kind, metrics = {} } of sources) {
    for (const [metric, value] of Object.entries(metrics)) {
      const family = `gazetteer_${kind}_${metric}`.replace(/[^a-zA-Z0-9_]/g, "_");
      samplesByFamily.set(family, [...(samplesByFamily.get(family) ?? []), [{ source: name }, value]]);
    }
  }
  for (const [name, samples] of samplesByFamily) {
    const type = name.endsWith("_total") ? "counter" : "gauge";
    yield renderFamily({ name, type, help: "Reported by the source." }, samples);
  }
}

/** The families that every process has, summed over the processes. That of TLS exists only if TLS is configured. */
function* processFamilies({ metrics, readers, tlsExpiresAt }: MetricsInput): Generator<string> {
  const total = readers ? addMetrics(metrics, readers.metrics()) : metrics;
  for (const family of PROCESS_FAMILIES)
    if (family.name !== TLS_HANDSHAKES || tlsExpiresAt !== undefined)
      yield renderFamily(family, Object.entries(total[family.name] ?? {}));
  if (tlsExpiresAt !== undefined)
    yield gauge(
      "gazetteer_tls_certificate_expiry_timestamp_seconds",
      "When the certificate expires, or the first one of its chain.",
      tlsExpiresAt / 1000,
    );
}

/** The families about forwarding, which exist only if the alias `onos` is configured, under which requests are forwarded. */
function* forwardFamilies({ forwards }: MetricsInput): Generator<string> {
  if (!forwards) return;
  yield counter(
    "gazetteer_forwarded_requests_total",
    "Requests that were forwarded to the controller of the source, by the status of the response.",
    forwards.responses().map(({ source, status, count }) => [{ source, status: String(status) }, count]),
  );
  yield counter(
    "gazetteer_forwarded_bytes_total",
    "Bytes of response bodies that the controller of the source sent.",
    Array.from(forwards.bytes(), ([source, bytes]) => [{ source }, bytes]),
  );
  yield gauge("gazetteer_forwards_open", "Requests that are being forwarded.", forwards.open);
}

/** The families about the metrics of the map, which exist only if those are configured. */
function* mapFamilies({ map }: MetricsInput): Generator<string> {
  const samples = Array.from(
    map?.queryCounts() ?? [],
    ({ metric, result, count }): Sample => [{ metric, result }, count],
  );
  if (samples.length > 0)
    yield counter("gazetteer_map_queries_total", "Queries of Prometheus for the map, by result.", samples);
}

function* historyFamilies({ context: { log } }: MetricsInput): Generator<string> {
  const stats = log.stats();
  yield gauge("gazetteer_history_bytes", "Size of the stored changes and snapshots.", stats.bytes);
  yield gauge("gazetteer_history_oldest_revision", "The oldest revision that can be read.", stats.oldest);
  yield gauge("gazetteer_history_snapshots", "Stored snapshots.", stats.snapshots);
  yield gauge(
    "gazetteer_log_writable",
    "1 when changes can be stored, 0 while they wait, for example for space on the disk.",
    stats.writeFailure ? 0 : 1,
  );
  yield counter(
    "gazetteer_log_write_failures_total",
    "Failed attempts to store changes.",
    stats.writeFailures ?? 0,
  );
}

function* ownFamilies({ readers, configReload }: MetricsInput): Generator<string> {
  if (configReload) {
    yield gauge(
      "gazetteer_config_last_reload_successful",
      "1 when the last reload of the configuration was applied, 0 when it was refused.",
      configReload.successful ? 1 : 0,
    );
    yield gauge(
      "gazetteer_config_last_reload_success_timestamp_seconds",
      "When a configuration was last applied.",
      configReload.succeededAt / 1000,
    );
  }
  if (readers) {
    const states = Object.entries(readers.count()).map(([state, n]): Sample => [{ state }, n]);
    yield gauge("gazetteer_reader_processes", "Processes that serve requests.", states);
  }
  const { user, system } = process.cpuUsage();
  yield gauge("process_resident_memory_bytes", "Resident memory.", process.memoryUsage.rss());
  yield counter("process_cpu_seconds_total", "CPU time used.", (user + system) / 1e6);
  yield gauge(
    "process_start_time_seconds",
    "When the process started.",
    Math.round(Date.now() / 1000 - process.uptime()),
  );
}
