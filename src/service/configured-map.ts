/**
 * The part of the configuration that the map uses: links to other tools, saved views, and the metrics that it shows on links. A
 * reload replaces it, and keeps the values of unchanged servers.
 *
 * There is at most one Prometheus query per metric and interval, independent of the number of pages and users. A failure is
 * cached for an interval like a result. Queries are made only on requests of a page.
 */
import type { MapSource, MetricOutcome } from "../api/endpoints/map-source.ts";
import { METRIC_DEFAULTS, type METRIC_DIRECTIONS, type MetricsServer } from "../config/map-schema.ts";
import type { Config, Immutable } from "../config/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import type { Logger } from "../lib/logger.ts";
import { sameJson } from "../lib/same-json.ts";
import type { Scheduler } from "../lib/scheduler.ts";
import { COST, Pause, type Steps } from "../lib/steps.ts";
import type { MapMetric, MapSettings, MetricValues } from "../model/map-settings.ts";
import { LinkPorts } from "../query/link-ports.ts";
import { Upstream } from "../sources/upstream/upstream.ts";
import type { View } from "../view/view.ts";
import { type PortSample, queryPorts } from "./prometheus-query.ts";

export interface ConfiguredMapOptions {
  readonly view: Pick<View, "capture">;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  readonly logger: Logger;
}

type MapConfig = Pick<Config, "links" | "metrics" | "views">;
type Server = Immutable<MetricsServer>;

/** The owner of this work on the scheduler. It is no user, because the values are the same for all users. */
const OWNER = "map-metrics";

export class ConfiguredMap implements MapSource {
  readonly #options: ConfiguredMapOptions;
  readonly #stop = new AbortController();
  #servers: readonly { readonly server: Server; readonly metrics: readonly CachedMetric[] }[] = [];
  #ports: { readonly version: string; readonly built: Promise<LinkPorts> } | undefined;
  #settings = new Uint8Array();

  constructor(config: MapConfig, options: ConfiguredMapOptions) {
    this.#options = options;
    this.update(config);
  }

  get settings(): Uint8Array {
    return this.#settings;
  }

  update({ links, views, metrics: servers }: MapConfig): void {
    const known = this.#servers;
    this.#servers = servers.map(
      (server) => known.find((other) => sameJson(other.server, server)) ?? this.#create(server),
    );
    const metrics = this.#metrics.map(({ about }) => about);
    this.#settings = Buffer.from(JSON.stringify({ links, views, metrics } satisfies Immutable<MapSettings>));
  }

  metric(name: string): MetricOutcome | Promise<MetricOutcome> | undefined {
    return this.#metrics.find(({ about }) => about.name === name)?.read();
  }

  *queryCounts() {
    for (const { about, counts } of this.#metrics) {
      yield { metric: about.name, result: "ok", count: counts.ok } as const;
      yield { metric: about.name, result: "failed", count: counts.failed } as const;
    }
  }

  /** Ends the queries in flight. */
  stop(): void {
    this.#stop.abort();
  }

  get #metrics(): readonly CachedMetric[] {
    return this.#servers.flatMap(({ metrics }) => metrics);
  }

  #create(server: Server): { server: Server; metrics: readonly CachedMetric[] } {
    const { queries, ...access } = server;
    const { clock, logger } = this.#options;
    const upstream = new Upstream(access, { clock });
    const { intervalSeconds, timeoutSeconds, maxResponseBytes } = { ...METRIC_DEFAULTS, ...access };
    const metrics = queries.map((given) => {
      const query = { ...METRIC_DEFAULTS, ...given };
      const { name, unit, max } = query;
      const limits = { timeoutSeconds, maxBytes: maxResponseBytes };
      return new CachedMetric({ name, unit, max, intervalSeconds }, clock, logger, async () => {
        const time = clock.now();
        const result = await queryPorts(upstream, { ...query, ...limits }, clock, this.#stop.signal);
        if (!result.ok) return result;
        const steps = linkValues(await this.#currentPorts(), result.samples, query.direction, time);
        return { ok: true, json: await this.#options.scheduler.run(OWNER, steps) };
      });
    });
    return { server, metrics };
  }

  /** The ports of the links, built again only when devices, ports or links have changed. */
  #currentPorts(): Promise<LinkPorts> {
    const { view, scheduler } = this.#options;
    const state = view.capture();
    const { devices, ports, links } = state.versions;
    const version = `${devices} ${ports} ${links}`;
    if (this.#ports?.version !== version) {
      const built = Promise.resolve(scheduler.run(OWNER, LinkPorts.build(state)));
      this.#ports = { version, built };
      // A failed build is not cached, so that the next query builds it again.
      built.catch(() => {
        if (this.#ports?.built === built) this.#ports = undefined;
      });
    }
    return this.#ports.built;
  }
}

export class CachedMetric {
  readonly about: MapMetric;
  readonly counts = { ok: 0, failed: 0 };
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #query: () => Promise<MetricOutcome>;
  /** The monotonic time at which the last query started. */
  #startedAt = Number.NEGATIVE_INFINITY;
  #outcome: MetricOutcome | Promise<MetricOutcome> | undefined;
  #isFailing = false;

  constructor(about: MapMetric, clock: Clock, logger: Logger, query: () => Promise<MetricOutcome>) {
    this.about = about;
    this.#clock = clock;
    this.#logger = logger;
    this.#query = query;
  }

  read(): MetricOutcome | Promise<MetricOutcome> {
    const now = this.#clock.monotonic();
    const isCurrent = now - this.#startedAt < this.about.intervalSeconds * 1000;
    // A query that takes longer than the interval is awaited, and no second one is started.
    if (this.#outcome && (isCurrent || this.#outcome instanceof Promise)) return this.#outcome;
    this.#startedAt = now;
    this.#outcome = this.#refresh();
    return this.#outcome;
  }

  async #refresh(): Promise<MetricOutcome> {
    let outcome: MetricOutcome;
    try {
      outcome = await this.#query();
    } catch (error) {
      this.#logger.error("a metric of the map cannot be read", {
        metric: this.about.name,
        why: errorMessage(error),
      });
      outcome = { ok: false, message: "the values cannot be read" };
    }
    this.#outcome = outcome;
    this.counts[outcome.ok ? "ok" : "failed"]++;
    this.#log(outcome);
    return outcome;
  }

  /** Logs the first failure, and the first success after it. */
  #log(outcome: MetricOutcome): void {
    if (!outcome.ok && !this.#isFailing)
      this.#logger.warn("a metric of the map fails", { metric: this.about.name, why: outcome.message });
    if (outcome.ok && this.#isFailing)
      this.#logger.info("a metric of the map is read again", { metric: this.about.name });
    this.#isFailing = !outcome.ok;
  }
}

/** Maximum names of unknown devices in the result. They show operators what the labels look like. */
const MAX_EXAMPLES = 5;
const MAX_EXAMPLE_LENGTH = 80;
const DIGITS = 6;

/**
 * Converts values of ports to values of links, as the JSON that the page gets. Works in steps, because both grow with the
 * network. If several series belong to one link, the largest value is used, so that the map does not hide the worst.
 */
function* linkValues(
  ports: LinkPorts,
  samples: readonly PortSample[],
  direction: (typeof METRIC_DIRECTIONS)[number],
  time: number,
): Steps<Uint8Array> {
  const values = new Map<string, number>();
  const unknown = new Set<string>();
  let unknownSeries = 0;
  const pause = new Pause();
  for (const sample of samples) {
    if (pause.due(COST.key)) yield;
    const { device, port, value } = sample;
    const links = ports.find(device, port);
    if (links === "no-device") {
      unknownSeries++;
      if (unknown.size < MAX_EXAMPLES) unknown.add(device.slice(0, MAX_EXAMPLE_LENGTH));
      continue;
    }
    const ids = [
      ...(direction === "in" ? [] : (links?.out ?? [])),
      ...(direction === "out" ? [] : (links?.in ?? [])),
    ];
    for (const id of ids) values.set(id, Math.max(value, values.get(id) ?? value));
  }
  const facts: Omit<MetricValues, "values"> = {
    time,
    series: samples.length,
    unknownSeries,
    unknownDevices: [...unknown],
  };
  return yield* encode(facts, values);
}

function* encode(
  facts: Omit<MetricValues, "values">,
  values: ReadonlyMap<string, number>,
): Steps<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let piece = `${JSON.stringify(facts).slice(0, -1)},"values":{`;
  let separator = "";
  const pause = new Pause();
  for (const [id, value] of values) {
    piece += `${separator}${JSON.stringify(id)}:${Number(value.toPrecision(DIGITS))}`;
    separator = ",";
    if (!pause.due(COST.key)) continue;
    pieces.push(Buffer.from(piece));
    piece = "";
    yield;
  }
  pieces.push(Buffer.from(`${piece}}}`));
  return Buffer.concat(pieces);
}
