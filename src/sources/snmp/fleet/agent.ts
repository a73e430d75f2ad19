/**
 * One agent: its session, its last report and the results of its polls. A poll has two parts: `contact` sends the first
 * request, `read` reads the rest. The parts use different slots, so that agents that do not answer never occupy the slots
 * of those that do. An agent whose poll fails keeps its last report.
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Clock } from "../../../lib/clock.ts";
import type { Target } from "../options.ts";
import { AgentSession, type SnmpCredentials } from "../protocol/agent-session.ts";
import type { Pacer } from "../protocol/agent-socket.ts";
import { type AgentFailure, type FailureReason, fail, type SnmpCounters } from "../protocol/outcomes.ts";
import type { UsmEngine } from "../protocol/usm-engine.ts";
import { type TableColumns, Walk } from "../protocol/walk.ts";
import type { AgentReport } from "../tables/agent-report.ts";
import { type AgentData, WALKED } from "../tables/mib.ts";

export interface AgentOptions {
  readonly clock: Clock;
  readonly pacer: Pacer;
  readonly counters: SnmpCounters;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly maxVarbinds: number;
  readonly maxAgentMs: number;
}

/** A device is unavailable after this number of unanswered polls in a row. */
const UNANSWERED_POLLS = 3;
/** After this number of failed polls in a row, the stored state of the engine is dropped and learned again. */
const RESYNC_POLLS = 3;

interface Table {
  readonly name: string;
  readonly oids: readonly string[];
  /** The table is read in every n-th poll, where n is this number. */
  readonly every: number;
}

const TABLES: readonly Table[] = [...Map.groupBy(WALKED, ({ table }) => table)].map(([name, columns]) => ({
  name,
  oids: columns.map(({ oid }) => oid),
  every: Math.min(...columns.map(({ every = 1 }) => every)),
}));
const [SCALARS] = TABLES.filter(({ name }) => name === "scalars");

export type ReadResult = { readonly ok: true; readonly data: AgentData } | AgentFailure;

export class Agent {
  readonly target: Target;
  readonly #options: AgentOptions;
  #session: AgentSession | undefined;
  #credentials: SnmpCredentials | undefined;
  #walk: Walk | undefined;
  #address = "";
  /** The last values of the scalars and of the tables that are not read in each poll. */
  readonly #kept = new Map<string, TableColumns>();
  /** Tables that the agent refused with an error status before its first report, and has not answered since. */
  readonly #refused = new Set<string>();
  #reads = 0;
  #unanswered = 0;
  /** Set when the session has had a reply to a request. Only such a session is kept after a poll. */
  #hasSession = false;
  /** The engine that the last session has learned, for the next session. */
  engine: UsmEngine | undefined;
  #failures = 0;
  #unansweredSince: number | undefined;
  /** The failure of the last poll; undefined when the poll succeeded, or when there was none. */
  failure: AgentFailure | undefined;
  report: AgentReport | undefined;
  /** Whether the device of this agent was claimed before the service restarted. */
  wasKnown = false;
  /** Set while a poll of this agent is running. */
  isBusy = false;

  constructor(target: Target, options: AgentOptions) {
    this.target = target;
    this.#options = options;
  }

  /** Whether the target is in the list, or is an address of a block that has answered once, now or before a restart. */
  get isMember(): boolean {
    return this.target.listed || this.wasKnown || this.report !== undefined;
  }

  /** Epoch milliseconds of the first unanswered poll; undefined until `UNANSWERED_POLLS` polls are unanswered. */
  get unansweredSince(): number | undefined {
    return this.#unanswered >= UNANSWERED_POLLS ? this.#unansweredSince : undefined;
  }

  /** Starts a poll. Returns the failure when the agent cannot be contacted. */
  async contact(credentials: SnmpCredentials, contactAttempts: number): Promise<AgentFailure | undefined> {
    const address = await this.#resolve();
    if (address === undefined) return fail("silent", "the name cannot be resolved");
    this.#address = address;
    if (credentials !== this.#credentials) {
      this.#session = undefined;
      this.#hasSession = false;
    }
    this.#credentials = credentials;
    this.#session ??= new AgentSession(credentials, this.#options, this.engine);
    this.#session.open({ address, port: this.target.port });
    const { maxVarbinds, maxAgentMs, retries, clock } = this.#options;
    const limits = { maxVarbinds, contactAttempts, attempts: retries + 1, maxMs: maxAgentMs };
    this.#walk = new Walk(this.#session, limits, clock);
    const first = await this.#walk.readTable(SCALARS?.oids ?? [], { scalars: true });
    if (!first.ok) return first;
    this.#hasSession = true;
    this.engine = this.#session.engine;
    this.#kept.set("scalars", first.columns);
    return undefined;
  }

  /** Reads all tables except the scalars, which `contact` has read. */
  async read(): Promise<ReadResult> {
    const walk = this.#walk;
    if (!walk) return fail("silent", "no reply");
    const columns = new Map(this.#kept.get("scalars"));
    for (const table of TABLES) {
      if (table === SCALARS) continue;
      const kept = this.#reads % table.every === 0 ? undefined : this.#kept.get(table.name);
      const result = kept ? { ok: true as const, columns: kept } : await this.#readTable(walk, table);
      if (!result.ok) return result;
      if (table.every > 1) this.#kept.set(table.name, result.columns);
      for (const [oid, values] of result.columns) columns.set(oid, values);
    }
    this.#reads++;
    return { ok: true, data: { target: this.target.text, address: this.#address, columns } };
  }

  /**
   * A table that the agent has refused with an error status from the start counts as empty. If the agent refuses a table
   * that it has answered before, the poll fails, so that an error does not remove what the table reported.
   */
  async #readTable(walk: Walk, { name, oids }: Table) {
    const result = await walk.readTable(oids);
    if (result.ok) this.#refused.delete(name);
    if (result.ok || result.reason !== "error") return result;
    this.#options.counters.count("tables_refused_total");
    if (this.report === undefined) this.#refused.add(name);
    return this.#refused.has(name) ? { ok: true as const, columns: new Map() } : result;
  }

  /** Ends a poll, whether it succeeded or failed. */
  release(): void {
    this.#session?.release();
    this.#walk = undefined;
    // Most addresses of a large block never answer, so no session is kept for them.
    if (!this.#hasSession) this.#session = undefined;
  }

  recordReport(report: AgentReport): void {
    this.report = report;
    this.failure = undefined;
    this.#unanswered = 0;
    this.#unansweredSince = undefined;
    this.#failures = 0;
  }

  /** `startedAt` is the time at which the poll started, in epoch milliseconds. */
  recordFailure(failure: AgentFailure, startedAt: number): void {
    this.failure = failure;
    this.#countFailure(failure.reason);
    if (failure.reason === "silent") {
      this.#unanswered++;
      this.#unansweredSince ??= startedAt;
      return;
    }
    this.#unanswered = 0;
    this.#unansweredSince = undefined;
  }

  /**
   * Drops the engine after several failures. The replies of an engine that lost its number of boots, or of another device at
   * this address, would fail the check of the time forever. Replies still contain the random ids of the requests, so a
   * recorded message is not accepted while the engine is learned again.
   */
  #countFailure(reason: FailureReason): void {
    if (++this.#failures < RESYNC_POLLS) return;
    this.#failures = 0;
    this.#session = undefined;
    this.#hasSession = false;
    this.engine = undefined;
    if (reason === "timeWindow") this.#options.counters.count("engine_resyncs_total");
  }

  async #resolve(): Promise<string | undefined> {
    const { host } = this.target;
    if (isIP(host.replace(/%.*$/, "")) !== 0) return host;
    const { clock, timeoutMs } = this.#options;
    const address = lookup(host).then(
      (found) => found.address,
      () => undefined,
    );
    return Promise.race([address, clock.sleep(timeoutMs).then(() => undefined)]);
  }
}
