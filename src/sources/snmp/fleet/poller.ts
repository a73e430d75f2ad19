/**
 * One run of the source: polls the members of the fleet in each interval, tries the other addresses of blocks in a longer
 * interval, and reports the claims of all agents together.
 *
 * - The first report waits until each target has answered or timed out, at most one interval. Devices that were claimed
 *   before a restart and whose agents have not answered are carried over (previous-claims.ts).
 * - A report follows each round of polls as soon as the agents of the fast lane are read, and again when an agent of the
 *   slow lane has changed something. Agents that are still busy are left out of the next round.
 * - When no agent answers, the source is stale, and its message gives the reason.
 */
import { aborted } from "../../../lib/aborted.ts";
import type { Clock } from "../../../lib/clock.ts";
import { createPoll } from "../../../lib/poll.ts";
import type { Sink } from "../../source.ts";
import { joinAgents } from "../join/join-agents.ts";
import type { Agent } from "./agent.ts";
import type { Fleet } from "./fleet.ts";
import { PreviousClaims } from "./previous-claims.ts";

export interface PollerOptions {
  readonly fleet: Fleet;
  readonly sink: Sink;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly intervalMs: number;
  readonly scanMs: number;
  /** Called before each round, to read the credentials again. */
  readonly beforeRound: () => Promise<void>;
  /** Called after each report. */
  readonly afterReport: () => Promise<void>;
}

/** Number of addresses of blocks that are tried at the same time. */
const SCAN_CONCURRENCY = 32;

export class Poller {
  readonly #options: PollerOptions;
  readonly #failed = Promise.withResolvers<never>();
  readonly #firstRound = Promise.withResolvers<void>();
  readonly #firstScan = Promise.withResolvers<void>();
  #previous = new PreviousClaims({});
  #wake = Promise.withResolvers<void>();
  /** The ids of all devices in the last report. A device that had one of its possible ids there keeps it. */
  #deviceIds: ReadonlySet<string> = new Set();
  #reportedVersion = 0;
  #hasReported = false;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /** Returns when the signal aborts. */
  async run(): Promise<void> {
    const { sink, signal } = this.#options;
    const before = await sink.lastClaims?.();
    if (before) this.#previous = new PreviousClaims(before);
    this.#deviceIds = this.#previous.deviceIds;
    const known = this.#previous.targets();
    for (const agent of this.#options.fleet.agents) agent.wasKnown = known.has(agent.target.text);
    const loops = Promise.all([this.#pollLoop(), this.#scanLoop(), this.#reportLoop()]);
    await Promise.race([loops, this.#failed.promise]);
    if (!signal.aborted) await aborted(signal);
  }

  async #pollLoop(): Promise<void> {
    const { intervalMs, clock, signal, fleet, beforeRound } = this.#options;
    await createPoll({ intervalMs, clock, signal }).run(async () => {
      await beforeRound();
      const polls = fleet
        .members()
        .filter(({ isBusy }) => !isBusy)
        .map((agent) => fleet.poll(agent, signal));
      const done = Promise.all(polls.map((poll) => poll.done));
      done.then(() => {
        this.#firstRound.resolve();
        if (fleet.version !== this.#reportedVersion) this.#wake.resolve();
      }, this.#failed.reject);
      await this.#atMost(intervalMs, Promise.all(polls.map(({ left }) => left)));
      this.#wake.resolve();
    });
  }

  async #scanLoop(): Promise<void> {
    const { scanMs, clock, signal, fleet } = this.#options;
    await createPoll({ intervalMs: scanMs, clock, signal }).run(async () => {
      const queue = fleet.unansweredAddresses().values();
      const tryNext = async () => {
        for (const agent of queue) {
          if (signal.aborted) return;
          if (agent.isBusy) continue;
          await fleet.poll(agent, signal, 1).done;
          if (agent.report) this.#wake.resolve();
        }
      };
      await Promise.all(Array.from({ length: SCAN_CONCURRENCY }, tryNext));
      this.#firstScan.resolve();
    });
  }

  async #reportLoop(): Promise<void> {
    const { intervalMs, signal, afterReport } = this.#options;
    const firstPass = Promise.all([this.#firstRound.promise, this.#firstScan.promise]);
    await this.#atMost(intervalMs, firstPass);
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers();
      await this.#report();
      await afterReport();
      await Promise.race([this.#wake.promise, aborted(signal)]);
    }
  }

  async #report(): Promise<void> {
    const { fleet, sink } = this.#options;
    const members = fleet.members();
    const version = fleet.version;
    const isAnyAnswering = members.some(({ report, failure }) => report && !failure);
    if (isAnyAnswering || (version !== this.#reportedVersion && this.#hasSomething())) {
      this.#reportedVersion = version;
      this.#hasReported = true;
      await sink.replace(this.#claims(members));
    }
    if (!isAnyAnswering) sink.markStale(describeFailures(members, fleet.agents.length));
  }

  #hasSomething(): boolean {
    return this.#hasReported || this.#previous.targets().size > 0;
  }

  #claims(members: readonly Agent[]) {
    const { claims, faults } = joinAgents(
      members.flatMap(({ report, unansweredSince }) =>
        report ? [{ report, ...(unansweredSince !== undefined && { unansweredSince }) }] : [],
      ),
      this.#deviceIds,
    );
    for (const { kind, fault } of faults) this.#options.sink.reject(kind, fault);
    const pending = members.filter(({ report }) => !report);
    const all = this.#previous.addTo(claims, new Map(pending.map((agent) => [agent.target.text, agent])));
    this.#deviceIds = new Set(all.devices.map(({ id }) => id));
    if (!pending.some(({ wasKnown }) => wasKnown)) this.#previous = new PreviousClaims({});
    return all;
  }

  /** Resolves when the work is done, after `ms`, or when the signal aborts. */
  async #atMost(ms: number, work: Promise<unknown>): Promise<void> {
    const { clock, signal } = this.#options;
    const timer = new AbortController();
    try {
      const timeout = clock.sleep(ms, AbortSignal.any([signal, timer.signal]));
      await Promise.race([work, timeout]);
    } finally {
      timer.abort();
    }
  }
}

/** Returns the message for the case that no agent answers. It prefers another failure to a missing reply. */
function describeFailures(members: readonly Agent[], addresses: number): string {
  const failing = members.filter(({ failure }) => failure && failure.reason !== "silent");
  const [first] = failing.length > 0 ? failing : members.filter(({ failure }) => failure);
  if (!first?.failure) return `none of ${addresses} addresses has answered yet`;
  const others = members.length - 1;
  const rest = others > 0 ? `; ${others} more ${others > 1 ? "agents do" : "agent does"} not answer` : "";
  return `${first.target.text}: ${first.failure.message}${rest}`;
}
