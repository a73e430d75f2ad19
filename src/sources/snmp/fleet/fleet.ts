/**
 * Polls all agents, a limited number at a time. An agent whose last poll succeeded is in the fast lane. It is sent one
 * request there; when it does not answer, the request is repeated in the slow lane. Agents that did not answer or failed
 * last time, and addresses that never answered, start in the slow lane. So agents that are silent, slow or broken do not
 * delay the others.
 *
 * A lane has contact slots and read slots. An agent holds a contact slot, and thereby a descriptor, while it waits for its
 * first reply and for a read slot. It holds a read slot while it is being read.
 */
import { FairSemaphore } from "../../../lib/fair-semaphore.ts";
import type { Logger } from "../../../lib/logger.ts";
import type { Target } from "../options.ts";
import type { SnmpCredentials } from "../protocol/agent-session.ts";
import { type AgentFailure, fail, failureCounter } from "../protocol/outcomes.ts";
import type { AgentReport } from "../tables/agent-report.ts";
import { mapAgent } from "../tables/map-agent.ts";
import { Agent, type AgentOptions } from "./agent.ts";

export interface FleetOptions extends AgentOptions {
  readonly log: Logger;
  /** The name of the source, for the log. */
  readonly name: string;
  readonly concurrency: number;
}

interface Lane {
  readonly contacts: FairSemaphore;
  readonly reads: FairSemaphore;
}

const FAST_CONTACTS = 128;
const SLOW_CONTACTS = 64;
const SLOW_READS = 8;

/** A poll that has been started. */
export interface StartedPoll {
  /** Resolves when the fast lane no longer waits for the poll. */
  readonly left: Promise<void>;
  readonly done: Promise<void>;
}

export class Fleet {
  readonly agents: readonly Agent[];
  readonly #options: FleetOptions;
  readonly #fast: Lane;
  readonly #slow: Lane = {
    contacts: new FairSemaphore(SLOW_CONTACTS),
    reads: new FairSemaphore(SLOW_READS),
  };
  /** Sessions are dropped when they have another credentials object than this one. */
  credentials: SnmpCredentials;
  /** A number that is incremented whenever the claims may have changed. */
  version = 0;

  constructor(targets: readonly Target[], credentials: SnmpCredentials, options: FleetOptions) {
    this.#options = options;
    this.credentials = credentials;
    this.#fast = {
      contacts: new FairSemaphore(FAST_CONTACTS),
      reads: new FairSemaphore(options.concurrency),
    };
    this.agents = targets.map((target) => new Agent(target, options));
  }

  /** Returns the agents to poll in each interval. */
  members(): Agent[] {
    return this.agents.filter(({ isMember }) => isMember);
  }

  /** Returns the addresses of blocks that have not answered. */
  unansweredAddresses(): Agent[] {
    return this.agents.filter(({ isMember }) => !isMember);
  }

  /** Starts a poll of an agent that is not busy. The first request is sent up to `attempts` times. */
  poll(agent: Agent, signal: AbortSignal, attempts = this.#options.retries + 1): StartedPoll {
    const left = Promise.withResolvers<void>();
    const isFast = agent.isMember && agent.failure === undefined;
    agent.isBusy = true;
    const done = this.#poll(agent, isFast, attempts, left.resolve, signal).finally(() => {
      agent.isBusy = false;
      left.resolve();
    });
    if (!isFast) left.resolve();
    return { left: left.promise, done };
  }

  async #poll(agent: Agent, isFast: boolean, attempts: number, leave: () => void, signal: AbortSignal) {
    const startedAt = this.#options.clock.now();
    let result = await this.#pollIn(agent, isFast ? this.#fast : this.#slow, isFast ? 1 : attempts, signal);
    if (isFast && !result.ok && result.isTimeout && attempts > 1) {
      leave();
      result = await this.#pollIn(agent, this.#slow, attempts - 1, signal);
    }
    if (signal.aborted) return;
    if (result.ok) this.#recordReport(agent, result.report);
    else this.#recordFailure(agent, result, startedAt);
  }

  async #pollIn(agent: Agent, lane: Lane, attempts: number, signal: AbortSignal) {
    const contact = lane.contacts.request("");
    // An agent whose last poll was cut off may take long again, so it uses the read slots of the slow lane.
    const wasCut = agent.failure !== undefined && agent.failure.reason !== "silent";
    const read = (wasCut ? this.#slow : this.#fast).reads;
    const release = () => agent.release();
    signal.addEventListener("abort", release);
    try {
      await contact.granted;
      if (signal.aborted) return ABORTED;
      const failure = await agent.contact(this.credentials, attempts);
      if (failure) return failure;
      return await read.run("", async () => {
        contact.release();
        return signal.aborted ? ABORTED : this.#read(agent);
      });
    } finally {
      signal.removeEventListener("abort", release);
      contact.release();
      agent.release();
    }
  }

  async #read(agent: Agent): Promise<{ readonly ok: true; readonly report: AgentReport } | AgentFailure> {
    const result = await agent.read();
    if (!result.ok) return result;
    try {
      return { ok: true, report: mapAgent(result.data) };
    } catch (error) {
      // A bug that the data of one agent triggers must not stop the polls of the others.
      const stack = error instanceof Error ? error.stack : String(error);
      this.#options.log.error("agent cannot be mapped", {
        source: this.#options.name,
        agent: agent.target.text,
        stack,
      });
      return fail("error", "what the agent sent cannot be mapped");
    }
  }

  #recordReport(agent: Agent, report: AgentReport): void {
    const { log, name, counters } = this.#options;
    counters.count("polls_total");
    if (agent.failure) log.info("agent answers", { source: name, agent: agent.target.text });
    agent.recordReport(report);
    this.version++;
  }

  #recordFailure(agent: Agent, failure: AgentFailure, startedAt: number): void {
    const { log, name, counters } = this.#options;
    counters.count(failureCounter(failure.reason));
    const [before, wasUnavailable] = [agent.failure, agent.unansweredSince !== undefined];
    agent.recordFailure(failure, startedAt);
    if (wasUnavailable !== (agent.unansweredSince !== undefined)) this.version++;
    // Unused addresses of a block are not logged.
    if (before?.message === failure.message || (!agent.isMember && failure.reason === "silent")) return;
    log.warn("agent cannot be read", { source: name, agent: agent.target.text, error: failure.message });
  }
}

const ABORTED = fail("silent", "the source was stopped");
