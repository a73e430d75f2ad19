/**
 * The metrics that the map shows on links: one query of Prometheus for each metric and interval, however many pages and
 * users there are. A failure is a result like another and is kept for an interval too. Nothing is queried while nobody
 * looks. A reload keeps the values of servers that are the same.
 */
import type { MetricOutcome } from "../api/endpoints/map-source.ts";
import { METRIC_DEFAULTS, type METRIC_DIRECTIONS, type MetricsServer } from "../config/map-schema.ts";
import type { Config, Immutable } from "../config/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import type { Logger } from "../lib/logger.ts";
import { sameJson } from "../lib/same-json.ts";
import type { Scheduler } from "../lib/scheduler.ts";
import { COST, Pause, type Steps } from "../lib/steps.ts";
import type { MapMetric, MetricValues } from "../model/map-settings.ts";
import { LinkPorts } from "../query/link-ports.ts";
import { Upstream } from "../sources/upstream/upstream.ts";
import type { View } from "../view/view.ts";
import { type PortSample, queryPorts } from "./prometheus-query.ts";

export interface MapMetricsOptions {
  readonly view: Pick<View, "capture">;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Server = Immutable<MetricsServer>;

/** The owner of this work on the scheduler: the values are the same for all users. */
const OWNER = "map-metrics";

export class MapMetrics {
  readonly #options: MapMetricsOptions;
  readonly #stop = new AbortController();
  #servers: readonly { readonly server: Server; readonly metrics: readonly CachedMetric[] }[] = [];
  #ports: { readonly version: string; readonly built: Promise<LinkPorts> } | undefined;

  constructor(servers: Config["metrics"], options: MapMetricsOptions) {
    this.#options = options;
    this.update(servers);
  }

  update(servers: Config["metrics"]): void {
    const known = this.#servers;
    this.#servers = servers.map(
      (server) => known.find((other) => sameJson(other.server, server)) ?? this.#create(server),
    );
  }

  /** Ends queries that are under way. */
  stop(): void {
    this.#stop.abort();
  }

  get all(): readonly CachedMetric[] {
    return this.#servers.flatMap(({ metrics }) => metrics);
  }

  find(name: string): CachedMetric | undefined {
    return this.all.find(({ about }) => about.name === name);
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

  /** Built again only when devices, ports or links have changed. */
  #currentPorts(): Promise<LinkPorts> {
    const { view, scheduler } = this.#options;
    const state = view.capture();
    const { devices, ports, links } = state.versions;
    const version = `${devices} ${ports} ${links}`;
    if (this.#ports?.version !== version) {
      const built = Promise.resolve(scheduler.run(OWNER, LinkPorts.build(state)));
      this.#ports = { version, built };
      // The next interval builds it again, also where the network is the same.
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
  /** Monotonic time. */
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
    // A query that takes longer than the interval is waited for, too.
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

  /** The first failure, and the first success after it. */
  #log(outcome: MetricOutcome): void {
    if (!outcome.ok && !this.#isFailing)
      this.#logger.warn("a metric of the map fails", { metric: this.about.name, why: outcome.message });
    if (outcome.ok && this.#isFailing)
      this.#logger.info("a metric of the map is read again", { metric: this.about.name });
    this.#isFailing = !outcome.ok;
  }
}

/** Names of unknown devices, to show what the labels are like. */
const MAX_EXAMPLES = 5;
const MAX_EXAMPLE_LENGTH = 80;
const DIGITS = 6;

/** Where several series belong to one link, the largest value counts: the map must not hide the worst. */
/** Converts values of ports to values of links, as the JSON that the page gets. In steps, because both grow with the network. */
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
