/** The counters of this source, under their names in `/metrics`. */
import { NamedCounters } from "../source.ts";

const NAMES = [
  "sessions_total",
  "sessions_refused_total",
  "roles_refused_total",
  "devices_refused_total",
  "devices_displaced_total",
  "ports_refused_total",
  "ports_flapping_total",
  "changes_delayed_total",
  "malformed_total",
  "paused_total",
  "switch_errors_total",
  "probes_sent_total",
  "probes_accepted_total",
  "probes_forged_total",
  "probes_unknown_total",
  "probes_late_total",
  "probes_replayed_total",
  "links_refused_total",
  "frames_limited_total",
  "frames_malformed_total",
  "hosts_refused_total",
  "host_conflicts_total",
  "host_moves_total",
] as const;
export type OpenflowCounter = (typeof NAMES)[number];

export type OpenflowCounters = NamedCounters<OpenflowCounter>;

export const createOpenflowCounters = (): OpenflowCounters => new NamedCounters(NAMES);
