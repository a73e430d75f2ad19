/** The part of the configuration that the map uses: links to other tools, saved views and metrics. A reload replaces it. */
import type { MapSource, MetricOutcome } from "../api/endpoints/map-source.ts";
import type { Config, Immutable } from "../config/schema.ts";
import type { MapSettings } from "../model/map-settings.ts";
import { MapMetrics, type MapMetricsOptions } from "./map-metrics.ts";

type MapConfig = Pick<Config, "links" | "metrics" | "views">;

export class ConfiguredMap implements MapSource {
  readonly #metrics: MapMetrics;
  #settings: Uint8Array;

  constructor(config: MapConfig, options: MapMetricsOptions) {
    this.#metrics = new MapMetrics(config.metrics, options);
    this.#settings = this.#settingsOf(config);
  }

  get settings(): Uint8Array {
    return this.#settings;
  }

  update(config: MapConfig): void {
    this.#metrics.update(config.metrics);
    this.#settings = this.#settingsOf(config);
  }

  metric(name: string): MetricOutcome | Promise<MetricOutcome> | undefined {
    return this.#metrics.find(name)?.read();
  }

  *queryCounts() {
    for (const { about, counts } of this.#metrics.all) {
      yield { metric: about.name, result: "ok", count: counts.ok } as const;
      yield { metric: about.name, result: "failed", count: counts.failed } as const;
    }
  }

  stop(): void {
    this.#metrics.stop();
  }

  #settingsOf({ links, views }: MapConfig): Uint8Array {
    const metrics = this.#metrics.all.map(({ about }) => about);
    return Buffer.from(JSON.stringify({ links, views, metrics } satisfies Immutable<MapSettings>));
  }
}
