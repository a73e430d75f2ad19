/**
 * The metrics that every process has: responses, event streams, connections, logins and the resources that users have used.
 * Each is one row of a table, with its name, its description and where its values come from. A reader process sends its
 * values to the main process, which adds them to its own when it renders `/metrics`.
 */
import Type from "typebox";
import type { ConnectionCounters } from "../../http1/handler.ts";
import { createHandshakeCounts } from "../../http1/tls.ts";
import { Histogram } from "../../lib/histogram.ts";
import type { MemoryBudget } from "../../lib/memory-budget.ts";
import type { Scheduler } from "../../lib/scheduler.ts";
import type { LoadShedder } from "../limits/admission.ts";
import type { SseHub } from "../stream/sse-hub.ts";
import type { AccessLog } from "./access-log.ts";
import { type Family, type Labels, labelText, type Value } from "./families.ts";

/** The values of all metrics of a process, by the name of the metric and the text of the labels. */
export const ProcessMetrics = Type.Record(
  Type.String(),
  Type.Record(Type.String(), Type.Union([Type.Number(), Type.Array(Type.Number())])),
);
export type ProcessMetrics = Readonly<Record<string, Readonly<Record<string, Value>>>>;

/** The parts of a process that its metrics are read from. */
export interface MeasuredProcess {
  readonly requests: RequestCounters;
  readonly streams: SseHub;
  readonly connections: ConnectionCounters;
  readonly loadShedder: LoadShedder;
  readonly scheduler: Scheduler;
  /** Number of first logins by outcome. */
  readonly logins: { readonly outcomes: ReadonlyMap<string, number> };
  readonly memory: MemoryBudget;
  readonly accessLog: AccessLog | undefined;
}

interface ProcessFamily extends Family {
  values(process: MeasuredProcess): number | Iterable<readonly [labels: Labels, value: Value]>;
}

export const TLS_HANDSHAKES = "gazetteer_tls_handshakes_total";

type FamilyValues = ProcessFamily["values"];
const family =
  (type: Family["type"]) =>
  (name: string, help: string, values: FamilyValues): ProcessFamily => ({ name, type, help, values });
const [counter, gauge, histogram] = [family("counter"), family("gauge"), family("histogram")];

/** The metrics of every process, in the order of `/metrics`. */
export const PROCESS_FAMILIES: readonly ProcessFamily[] = [
  counter("gazetteer_http_requests_total", "Requests that got a response.", ({ requests }) =>
    requests.map(({ count }) => count),
  ),
  counter(
    "gazetteer_http_shed_total",
    "Requests rejected because of overload.",
    ({ requests }) => requests.shed,
  ),
  gauge("gazetteer_streams_open", "Open event streams.", ({ streams }) => streams.openCount),
  counter("gazetteer_streams_opened_total", "Event streams opened.", ({ streams }) => streams.openedTotal),
  counter(
    "gazetteer_streams_overflowed_total",
    "Event streams closed because the client was too slow.",
    ({ streams }) => streams.overflowedTotal,
  ),
  counter(
    "gazetteer_stream_chunks_rendered_total",
    "Chunks rendered for event streams; streams with the same filters at the same revision share them.",
    ({ streams }) => streams.chunks.rendered,
  ),
  counter(
    "gazetteer_connections_evicted_total",
    "Connections closed or refused because there were too many, or too few file descriptors.",
    ({ connections }) => connections.evicted,
  ),
  counter(
    "gazetteer_slow_readers_total",
    "Connections closed because the client read its response too slowly.",
    ({ connections }) => connections.slowReaders,
  ),
  counter(
    "gazetteer_long_bodies_total",
    "Connections closed because a request body was longer than is skipped.",
    ({ connections }) => connections.longBodies,
  ),
  histogram(
    "gazetteer_http_request_duration_seconds",
    "Time from the request to its response being ready to send. Responses from the cache count in the first bucket.",
    ({ requests }) => requests.map(latencyOf),
  ),
  histogram(
    "gazetteer_loop_delay_seconds",
    "How late the event loop runs its timers, sampled.",
    ({ loadShedder }) => [[{}, valuesOf(loadShedder.delays)]],
  ),
  counter(
    "gazetteer_long_steps_total",
    "Steps of computations that held the event loop for more than 10 ms.",
    ({ scheduler }) => scheduler.longSteps,
  ),
  counter(
    "gazetteer_logins_total",
    "First logins: accepted, with wrong or malformed credentials, or throttled.",
    ({ logins }) => Array.from(logins.outcomes, ([outcome, count]) => [{ outcome }, count]),
  ),
  counter(
    "gazetteer_user_loop_seconds_total",
    "Time on the event loop for the user's requests.",
    ({ scheduler }) => usersOf(scheduler).map(({ user, loopMs }) => [{ user }, loopMs / 1000]),
  ),
  gauge(
    "gazetteer_user_bytes_held",
    "Memory that exists because of the user's responses.",
    ({ scheduler, memory }) => usersOf(scheduler).map(({ user }) => [{ user }, memory.bytesOf(user)]),
  ),
  counter(
    "gazetteer_user_refusals_total",
    "Requests of the user that were refused, by the code of the problem.",
    ({ requests }) => requests.refusals(),
  ),
  counter(
    "gazetteer_access_log_dropped_total",
    "Lines of the access log that were not written, because the disk was too slow.",
    ({ accessLog }) => accessLog?.dropped ?? 0,
  ),
  counter(TLS_HANDSHAKES, "TLS handshakes by result.", ({ requests }) =>
    Object.entries(requests.tlsHandshakes).map(([result, count]) => [{ result }, count]),
  ),
];

const GAUGES = new Set(PROCESS_FAMILIES.flatMap(({ name, type }) => (type === "gauge" ? [name] : [])));

export const measureProcess = (process: MeasuredProcess): ProcessMetrics =>
  Object.fromEntries(PROCESS_FAMILIES.map((family) => [family.name, measure(family, process)]));

function measure({ values }: ProcessFamily, process: MeasuredProcess): Record<string, Value> {
  const measured = values(process);
  if (typeof measured === "number") return { "": measured };
  return Object.fromEntries(Array.from(measured, ([labels, value]) => [labelText(labels), value]));
}

export function addMetrics(a: ProcessMetrics, b: ProcessMetrics): ProcessMetrics {
  const sum = new Map(Object.entries(a).map(([name, values]) => [name, new Map(Object.entries(values))]));
  for (const [name, values] of Object.entries(b)) {
    const family = sum.get(name) ?? new Map<string, Value>();
    for (const [labels, value] of Object.entries(values))
      family.set(labels, addValues(family.get(labels), value));
    sum.set(name, family);
  }
  return Object.fromEntries(Array.from(sum, ([name, family]) => [name, Object.fromEntries(family)]));
}

function addValues(a: Value | undefined, b: Value): Value {
  if (a === undefined) return b;
  if (typeof a === "number") return a + (typeof b === "number" ? b : 0);
  return typeof b === "number" ? a : b.map((value, i) => value + (a[i] ?? 0));
}

/** The metrics of a process that has ended: its counts stay, its streams are closed, and the memory that it held is free. */
export const endedMetrics = (metrics: ProcessMetrics): ProcessMetrics =>
  Object.fromEntries(Object.entries(metrics).filter(([name]) => !GAUGES.has(name)));

const USER_OWNER = "user:";

/** The users among the owners of the scheduler. The empty name is that of the service's own processes. */
const usersOf = (scheduler: Scheduler): { readonly user: string; readonly loopMs: number }[] =>
  Array.from(scheduler.usage()).flatMap(({ owner, loopMs }) => {
    const user = owner.startsWith(USER_OWNER) ? owner.slice(USER_OWNER.length) : "";
    return user === "" ? [] : [{ user, loopMs }];
  });

function valuesOf(histogram: Histogram): number[] {
  const { counts, sum } = histogram.snapshot();
  return [...counts, sum];
}

/** Adds the responses from the cache, which take microseconds and are not measured because reading a clock costs too much. */
function latencyOf({ count, latency }: ResponseCounter): number[] {
  const { counts, sum } = latency.snapshot();
  const [first = 0, ...others] = counts;
  const unmeasured = count - counts.reduce((total, n) => total + n, 0);
  return [first + Math.max(0, unmeasured), ...others, sum];
}

/** The responses to one kind of read with one status. Callers keep the object, which saves the look-up on every request. */
export interface ResponseCounter {
  count: number;
  /** The latencies in seconds of those that are measured. */
  readonly latency: Histogram;
}

/** Counts requests. The users file and the table of problems bound the number of users and codes. */
export class RequestCounters {
  readonly #responses = new Map<string, Map<number, ResponseCounter>>();
  readonly #refusals = new Map<string, Map<string, number>>();
  /** Number of TLS handshakes by result, which the listener counts. */
  readonly tlsHandshakes = createHandshakeCounts();
  /** Number of requests that were rejected because of overload. */
  shed = 0;

  /** The counter of responses to reads of `read` (`devices`, `topology`, `health`) with this status. It builds no string. */
  responses(read: string, status: number): ResponseCounter {
    let byStatus = this.#responses.get(read);
    if (!byStatus) {
      byStatus = new Map();
      this.#responses.set(read, byStatus);
    }
    let counter = byStatus.get(status);
    if (!counter) {
      counter = { count: 0, latency: new Histogram() };
      byStatus.set(status, counter);
    }
    return counter;
  }

  countRefusal(user: string, code: string): void {
    const codes = this.#refusals.get(user) ?? new Map<string, number>();
    codes.set(code, (codes.get(code) ?? 0) + 1);
    this.#refusals.set(user, codes);
  }

  /** A sample of each kind of response, with this value. */
  map(value: (counter: ResponseCounter) => Value) {
    return [...this.#responses].flatMap(([read, byStatus]) =>
      Array.from(
        byStatus,
        ([status, counter]) => [{ read, status: String(status) }, value(counter)] as const,
      ),
    );
  }

  refusals() {
    return [...this.#refusals].flatMap(([user, codes]) =>
      Array.from(codes, ([reason, count]) => [{ user, reason }, count] as const),
    );
  }
}
