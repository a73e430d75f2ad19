/** The counters of this source, under their names in `/metrics`. */
const NAMES = [
  "sessions_total",
  "sessions_refused_total",
  "malformed_total",
  "paused_total",
  "switch_errors_total",
  "probes_sent_total",
  "probes_accepted_total",
  "probes_forged_total",
  "probes_unknown_total",
  "probes_late_total",
  "probes_replayed_total",
  "frames_limited_total",
  "frames_malformed_total",
  "hosts_refused_total",
  "host_conflicts_total",
  "host_moves_total",
] as const;
export type Counter = (typeof NAMES)[number];

export class Counters {
  readonly #counts = new Map<Counter, number>(NAMES.map((name) => [name, 0]));

  count(counter: Counter): void {
    this.#counts.set(counter, (this.#counts.get(counter) ?? 0) + 1);
  }

  all(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}
