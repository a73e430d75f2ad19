/** The counters of this source, under their names in `/metrics`. */
import { NamedCounters } from "../../named-counters.ts";

const NAMES = [
  /** Polls of agents that ended with a report. */
  "polls_total",
  /** Polls without any reply. */
  "polls_unanswered_total",
  "requests_total",
  /** Datagrams from another address or port than the request went to. */
  "replies_other_address_total",
  "replies_malformed_total",
  /** Replies with less security than the request had. */
  "replies_insecure_total",
  /** Polls that failed, by reason. The last report of the agent stands. */
  "agents_failed_endless_total",
  "agents_failed_order_total",
  "agents_failed_slow_total",
  "agents_failed_address_total",
  "agents_failed_malformed_total",
  "agents_failed_security_total",
  "agents_failed_error_total",
  "agents_failed_incomplete_total",
  /** Engines whose boots or time went back, learned anew after several polls. */
  "engine_resyncs_total",
  /** Tables that an agent refused with an error status. */
  "tables_refused_total",
] as const;
export type Counter = (typeof NAMES)[number];

export class Counters extends NamedCounters<Counter> {
  constructor() {
    super(NAMES);
  }
}
