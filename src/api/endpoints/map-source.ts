/**
 * The contract between the HTTP interface and the source of the map's settings and metrics. The interface has neither the
 * address nor the credentials of Prometheus.
 */
/** The result of a query for a metric. Different content is always a different object. */
export type MetricOutcome =
  /** `json` is `MetricValues`. */
  { readonly ok: true; readonly json: Uint8Array } | { readonly ok: false; readonly message: string };

export interface MapSource {
  /** `MapSettings` as JSON. A reload of the configuration sets another object. */
  readonly settings: Uint8Array;
  /** The values of a metric; undefined if no metric has this name. Requests within an interval share one query. Never rejects. */
  metric(name: string): MetricOutcome | Promise<MetricOutcome> | undefined;
  /** Number of queries sent, by metric and result. */
  queryCounts(): Iterable<{
    readonly metric: string;
    readonly result: "ok" | "failed";
    readonly count: number;
  }>;
}
