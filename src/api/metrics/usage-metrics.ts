/** The families of `/metrics` about latencies, the event loop, logins and users. */
import { type HistogramCounts, LATENCY_BOUNDS } from "../../lib/histogram.ts";
import { counter, gauge, histogram, type Sample } from "./metric-text.ts";
import type { ProcessCounters } from "./process-counters.ts";

export function* usageFamilies({ requests, usage }: ProcessCounters): Generator<string> {
  yield histogram(
    "gazetteer_http_request_duration_seconds",
    "Time from the request to its response being ready to send. Responses from the cache count in the first bucket.",
    LATENCY_BOUNDS,
    Object.entries(requests).map(([key, total]) => {
      const [read = "", status = ""] = key.split(" ");
      return [{ read, status }, withUnmeasured(usage.latency[key], total)];
    }),
  );
  yield histogram(
    "gazetteer_loop_delay_seconds",
    "How late the event loop runs its timers, sampled.",
    LATENCY_BOUNDS,
    [[{}, usage.loopDelay]],
  );
  yield counter(
    "gazetteer_long_steps_total",
    "Steps of computations that held the event loop for more than 10 ms.",
    usage.longSteps,
  );
  yield counter(
    "gazetteer_logins_total",
    "First logins: accepted, with wrong or malformed credentials, or throttled.",
    Object.entries(usage.logins).map(([outcome, n]) => [{ outcome }, n]),
  );
  const users = Object.entries(usage.users);
  yield counter(
    "gazetteer_user_loop_seconds_total",
    "Time on the event loop for the user's requests.",
    users.map(([user, { loopSeconds }]) => [{ user }, loopSeconds]),
  );
  yield gauge(
    "gazetteer_user_bytes_held",
    "Memory that exists because of the user's responses.",
    users.map(([user, { bytesHeld }]) => [{ user }, bytesHeld]),
  );
  yield counter(
    "gazetteer_user_refusals_total",
    "Requests of the user that were refused, by the code of the problem.",
    users.flatMap(([user, { refusals }]) =>
      Object.entries(refusals).map(([reason, n]): Sample => [{ user, reason }, n]),
    ),
  );
  yield counter(
    "gazetteer_access_log_dropped_total",
    "Lines of the access log that were not written, because the disk was too slow.",
    usage.accessLogDropped,
  );
}

/** Responses from the cache take microseconds and are not measured: to read a clock would be a part of their cost. */
function withUnmeasured(measured: HistogramCounts | undefined, total: number): HistogramCounts {
  const counts = measured?.counts ?? [];
  const unmeasured = total - counts.reduce((sum, n) => sum + n, 0);
  const [first = 0, ...others] = counts;
  return { counts: [first + Math.max(0, unmeasured), ...others], sum: measured?.sum ?? 0 };
}
