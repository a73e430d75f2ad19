/**
 * The contract between the HTTP interface and what the configuration gives the map. The interface knows neither the
 * address nor the credentials of Prometheus.
 */
/** Never the same object for different content. */
export type MetricOutcome =
  /** `MetricValues` as JSON. */
  { readonly ok: true; readonly json: Uint8Array } | { readonly ok: false; readonly message: string };

export interface MapSource {
  /** `MapSettings` as JSON. Another object after a reload. */
  readonly settings: Uint8Array;
  /** Undefined when no metric has this name. Requests within an interval share one query. Never rejects. */
  metric(name: string): MetricOutcome | Promise<MetricOutcome> | undefined;
  /** How many queries were sent, by metric and result. */
  queryCounts(): Iterable<{
    readonly metric: string;
    readonly result: "ok" | "failed";
    readonly count: number;
  }>;
}
