/** The service in figures: Prometheus' text format (0.0.4). Counters are kept here; everything else is asked when read. */

import type { Response } from "../http1/response.ts";
import { KINDS } from "../model/ids.ts";
import type { SourceReport } from "./health.ts";
import type { ReadContext } from "./reads/read-context.ts";
import type { SseHub } from "./stream/sse-hub.ts";

export interface MetricsInput {
  readonly context: ReadContext;
  readonly streams: SseHub;
  readonly sources: readonly SourceReport[];
  readonly refusedRecords: Readonly<Record<string, number>>;
  readonly version: string;
  readonly readers?: ReaderMetrics | undefined;
}

/** What one process counts of its own work. */
export interface ProcessCounters {
  /** Requests answered, by what was read and the status: `devices 200`. */
  readonly requests: Readonly<Record<string, number>>;
  readonly shed: number;
  readonly streamsOpen: number;
  readonly streamsOpened: number;
  readonly streamsOverflowed: number;
}

/** The processes that answer beside this one. */
export interface ReaderMetrics {
  /** How many processes there should be, and how many there are, this one included. */
  count(): { readonly configured: number; readonly alive: number };
  /** What they have counted, those that have ended too. */
  counters(): ProcessCounters;
}

export const ZERO_COUNTERS: ProcessCounters = {
  requests: {},
  shed: 0,
  streamsOpen: 0,
  streamsOpened: 0,
  streamsOverflowed: 0,
};

export function addCounters(a: ProcessCounters, b: ProcessCounters): ProcessCounters {
  const requests = { ...a.requests };
  for (const [key, n] of Object.entries(b.requests)) requests[key] = (requests[key] ?? 0) + n;
  return {
    requests,
    shed: a.shed + b.shed,
    streamsOpen: a.streamsOpen + b.streamsOpen,
    streamsOpened: a.streamsOpened + b.streamsOpened,
    streamsOverflowed: a.streamsOverflowed + b.streamsOverflowed,
  };
}

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number];

/** A number that whoever holds it may raise: what happens tens of thousands of times a second is counted so. */
export interface Counter {
  count: number;
}

export class Metrics {
  readonly #requests = new Map<string, Counter>();
  #shed = 0;

  /** Answers by what was read and with which status. */
  requests(read: string, status: number): Counter {
    const key = `${read} ${status}`;
    let counter = this.#requests.get(key);
    if (!counter) {
      counter = { count: 0 };
      this.#requests.set(key, counter);
    }
    return counter;
  }

  countShed(): void {
    this.#shed++;
  }

  counters({ openCount, openedTotal, overflowedTotal }: SseHub): ProcessCounters {
    const requests = Object.fromEntries([...this.#requests].map(([key, { count }]) => [key, count]));
    const streams = { streamsOpen: openCount, streamsOpened: openedTotal, streamsOverflowed: overflowedTotal };
    return { requests, shed: this.#shed, ...streams };
  }

  response(figures: MetricsInput): Response {
    const headers = {
      "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
      "Cache-Control": "no-store",
    };
    return { status: 200, headers, body: [...this.#families(figures)].join("") };
  }

  *#families({
    context,
    streams,
    sources,
    refusedRecords,
    version,
    readers,
  }: MetricsInput): Generator<string> {
    const { view, log } = context;
    const facts = log.stats();
    const total = addCounters(this.counters(streams), readers?.counters() ?? ZERO_COUNTERS);
    const perSource = (value: (source: SourceReport) => number) =>
      sources.map((source): Sample => [{ source: source.name, kind: source.kind }, value(source)]);
    yield family("gazetteer_build_info", "gauge", "The version that runs.", [[{ version }, 1]]);
    yield family("gazetteer_revision", "gauge", "The view's revision.", [[{}, view.revision]]);
    yield family(
      "gazetteer_entities",
      "gauge",
      "Things in the view.",
      KINDS.map((kind) => [{ kind }, view.size(kind)]),
    );
    yield family("gazetteer_clusters", "gauge", "Strongly connected components of the graph.", [
      [{}, view.graph.clusters().length],
    ]);
    yield family(
      "gazetteer_held_back",
      "gauge",
      "Things known but not shown, for want of a device they stand on.",
      Object.entries(view.countHeldBack()).map(([kind, n]) => [{ kind }, n]),
    );
    yield family(
      "gazetteer_source_synced",
      "gauge",
      "1 while what the source claims is what it knows.",
      perSource((source) => (source.status === "synced" ? 1 : 0)),
    );
    yield family(
      "gazetteer_source_restarts_total",
      "counter",
      "Times the source was started again.",
      perSource((source) => source.restarts),
    );
    yield family(
      "gazetteer_source_last_synced_seconds",
      "gauge",
      "When the source last spoke, in epoch seconds.",
      perSource((source) => (source.lastSyncedAt ?? 0) / 1000),
    );
    yield family(
      "gazetteer_records_refused_total",
      "counter",
      "Records of the source that were not valid.",
      Object.entries(refusedRecords).map(([source, n]) => [{ source }, n]),
    );
    yield* sourceFamilies(sources);
    yield family(
      "gazetteer_http_requests_total",
      "counter",
      "Requests answered.",
      Object.entries(total.requests).map(([key, count]) => {
        const [read = "", status = ""] = key.split(" ");
        return [{ read, status }, count];
      }),
    );
    yield family("gazetteer_http_shed_total", "counter", "Requests turned away for overload.", [
      [{}, total.shed],
    ]);
    yield family("gazetteer_streams_open", "gauge", "Event streams open.", [[{}, total.streamsOpen]]);
    yield family("gazetteer_streams_opened_total", "counter", "Event streams opened.", [
      [{}, total.streamsOpened],
    ]);
    yield family("gazetteer_streams_overflowed_total", "counter", "Event streams ended for falling behind.", [
      [{}, total.streamsOverflowed],
    ]);
    yield family("gazetteer_history_bytes", "gauge", "Size of the kept changes and snapshots.", [
      [{}, facts.bytes],
    ]);
    yield family("gazetteer_history_oldest_revision", "gauge", "The oldest revision that can be told.", [
      [{}, facts.oldest],
    ]);
    yield family("gazetteer_history_snapshots", "gauge", "Snapshots kept.", [[{}, facts.snapshots]]);
    if (readers) {
      const states = Object.entries(readers.count()).map(([state, n]): Sample => [{ state }, n]);
      yield family("gazetteer_reader_processes", "gauge", "Processes that answer requests.", states);
    }
    yield family("process_resident_memory_bytes", "gauge", "Resident memory.", [
      [{}, process.memoryUsage.rss()],
    ]);
    yield family("process_cpu_seconds_total", "counter", "Processor time used.", [
      [{}, (process.cpuUsage().user + process.cpuUsage().system) / 1e6],
    ]);
    yield family("process_start_time_seconds", "gauge", "When the process began.", [
      [{}, Math.round(Date.now() / 1000 - process.uptime())],
    ]);
  }
}

/** What sources count themselves, one family a name. */
function* sourceFamilies(sources: readonly SourceReport[]): Generator<string> {
  const samples = new Map<string, Sample[]>();
  for (const { name, kind, metrics = {} } of sources) {
    for (const [metric, value] of Object.entries(metrics)) {
      const family = `gazetteer_${kind}_${metric}`.replace(/[^a-zA-Z0-9_]/g, "_");
      samples.set(family, [...(samples.get(family) ?? []), [{ source: name }, value]]);
    }
  }
  for (const [name, all] of samples) {
    yield family(name, name.endsWith("_total") ? "counter" : "gauge", "Told by the source.", all);
  }
}

function family(name: string, type: "gauge" | "counter", help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value]) => {
    const text = Object.entries(labels).map(([label, content]) => `${label}="${escaped(content)}"`);
    return `${name}${text.length > 0 ? `{${text.join(",")}}` : ""} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

const escaped = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
