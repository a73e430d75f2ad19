/**
 * The reasons why an agent could not be read. Each has a counter and a message for the operator. The messages of the SNMP
 * library are not shown, because some contain the community or a key.
 */
import { NamedCounters } from "../../source.ts";

export type FailureReason =
  /** There was no reply. The poll counts as unanswered, not as a failure of the agent. */
  | "silent"
  /** The agent stopped replying before everything was read. */
  | "incomplete"
  | "endless"
  | "order"
  | "slow"
  | "address"
  | "malformed"
  | "security"
  /** The boots or the time of the engine went back. */
  | "timeWindow"
  | "error";

export interface AgentFailure {
  readonly ok: false;
  readonly reason: FailureReason;
  /** A message of one line, without the target and without a secret. */
  readonly message: string;
  /** Set when nothing was read before the timeout, so that another attempt may succeed. */
  readonly isTimeout?: true;
}

export const fail = (reason: FailureReason, message: string): AgentFailure => ({
  ok: false,
  reason,
  message,
});

/** Returns the counter of a failure. A poll without any reply has a counter of its own. */
export function failureCounter(reason: FailureReason): SnmpCounter {
  if (reason === "silent") return "polls_unanswered_total";
  return `agents_failed_${reason === "timeWindow" ? "security" : reason}_total`;
}

// The counters of this source, under their names in `/metrics`.

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
  /** Engines whose boots or time went back, and that were learned again after several polls. */
  "engine_resyncs_total",
  /** Tables that an agent refused with an error status. */
  "tables_refused_total",
] as const;
type SnmpCounter = (typeof NAMES)[number];

export class SnmpCounters extends NamedCounters<SnmpCounter> {
  constructor() {
    super(NAMES);
  }
}
