/**
 * Reads tables from one agent during one poll, with GETBULK and within limits: the walk fails when the agent sends more
 * values than allowed, sends them out of order, or takes too long. Columns of one table are read side by side. A request
 * without a reply is sent again with fewer repetitions, because large replies are the first to be lost.
 */
import type { Clock } from "../../../lib/clock.ts";
import type { SnmpValue } from "../tables/mib.ts";
import type { AgentSession, Varbind } from "./agent-session.ts";
import { type AgentFailure, fail } from "./outcomes.ts";

export interface WalkLimits {
  readonly maxVarbinds: number;
  /** Maximum number of times that the first request is sent. */
  readonly contactAttempts: number;
  /** Maximum number of times that a request is sent once the agent has answered. */
  readonly attempts: number;
  readonly maxMs: number;
}

export type TableColumns = ReadonlyMap<string, ReadonlyMap<string, SnmpValue>>;
export type TableResult = { readonly ok: true; readonly columns: TableColumns } | AgentFailure;

/** Number of values in one reply. About as many fit into one Ethernet frame. */
const VARBINDS_PER_REPLY = 40;
/** Maximum total size of all values of one agent. The number of values alone would not limit a few huge values. */
const MAX_VALUE_BYTES = 64 * 1024 * 1024;

/** The progress in one column. */
interface Column {
  readonly oid: string;
  /** The index of the last value; empty before the first value. */
  last: string;
  readonly values: Map<string, SnmpValue>;
  done: boolean;
}

export class Walk {
  readonly #session: AgentSession;
  readonly #limits: WalkLimits;
  readonly #clock: Clock;
  readonly #startedAt: number;
  #perReply = VARBINDS_PER_REPLY;
  #maxColumns = VARBINDS_PER_REPLY;
  #varbinds = 0;
  #bytes = 0;
  #hasAnswered = false;

  constructor(session: AgentSession, limits: WalkLimits, clock: Clock) {
    this.#session = session;
    this.#limits = limits;
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  /** With `scalars`, the columns are scalars, which have one value each. */
  async readTable(oids: readonly string[], { scalars = false } = {}): Promise<TableResult> {
    const columns = oids.map((oid): Column => ({ oid, last: "", values: new Map(), done: false }));
    for (;;) {
      const open = columns.filter(({ done }) => !done).slice(0, this.#maxColumns);
      if (open.length === 0) break;
      const failure = await this.#readMore(open, scalars);
      if (failure) return failure;
    }
    return { ok: true, columns: new Map(columns.map(({ oid, values }) => [oid, values])) };
  }

  /** Sends one request, and repeats it when there is no reply. */
  async #readMore(columns: readonly Column[], scalars: boolean): Promise<AgentFailure | undefined> {
    const oids = columns.map(({ oid, last }) => (last === "" ? oid : `${oid}.${last}`));
    for (let attempt = 1; ; ) {
      if (this.#elapsedMs() > this.#limits.maxMs) {
        return fail("slow", `reading takes longer than ${this.#limits.maxMs / 1000} s`);
      }
      const repetitions = scalars ? 1 : Math.max(1, Math.floor(this.#perReply / columns.length));
      const result = await this.#session.getBulk(oids, repetitions);
      if (result.ok) {
        this.#hasAnswered = true;
        return this.#store(columns, result.columns, scalars);
      }
      if ("reason" in result) return result;
      switch (result.status) {
        case "noSuchName":
          // This SNMPv1 status means that no value follows. Only a request for one column shows which column has ended.
          this.#hasAnswered = true;
          return this.#narrow(columns) ? undefined : this.#finish(columns);
        case "tooBig":
          this.#hasAnswered = true;
          if (repetitions > 1) this.#perReply = Math.max(1, Math.floor(this.#perReply / 2));
          else if (this.#narrow(columns)) return undefined;
          else return fail("error", "a single value is too big for a reply (tooBig)");
          break;
        case "timeout":
          if (this.#hasAnswered) {
            if (attempt++ >= this.#limits.attempts) return this.#timedOut();
          } else if (attempt++ >= this.#limits.contactAttempts)
            return { ...this.#timedOut(), isTimeout: true };
          this.#perReply = Math.max(1, Math.floor(this.#perReply / 2));
      }
    }
  }

  /** The time since the start, without the time that requests waited because of the rate limit of all agents. */
  #elapsedMs(): number {
    return this.#clock.monotonic() - this.#startedAt - this.#session.pacedMs;
  }

  /** Halves the number of columns in further requests. Returns false when there is only one column. */
  #narrow(columns: readonly Column[]): boolean {
    if (columns.length === 1) return false;
    this.#maxColumns = Math.floor(columns.length / 2);
    return true;
  }

  #finish(columns: readonly Column[]): undefined {
    for (const column of columns) column.done = true;
  }

  #store(
    columns: readonly Column[],
    reply: readonly (readonly Varbind[])[],
    scalars: boolean,
  ): AgentFailure | undefined {
    let hasProgress = false;
    for (const [i, column] of columns.entries()) {
      for (const varbind of reply[i] ?? []) {
        hasProgress = true;
        const failure = this.#storeValue(column, varbind);
        if (failure) return failure;
        if (scalars) column.done = true;
        if (column.done) break;
      }
    }
    return hasProgress ? undefined : fail("malformed", "a reply has no values");
  }

  #storeValue(column: Column, { oid, value }: Varbind): AgentFailure | undefined {
    if (value === undefined || !oid.startsWith(`${column.oid}.`)) {
      column.done = true;
      return undefined;
    }
    const index = oid.slice(column.oid.length + 1);
    if (column.last !== "" && compareIndexes(index, column.last) <= 0) {
      return fail("order", `values are out of order after ${column.oid}.${column.last.slice(0, 100)}`);
    }
    column.last = index;
    column.values.set(index, value);
    this.#varbinds++;
    this.#bytes += index.length + (value instanceof Uint8Array ? value.length : 8);
    if (this.#varbinds > this.#limits.maxVarbinds) {
      return fail("endless", `more than ${this.#limits.maxVarbinds} values (maxVarbinds)`);
    }
    return this.#bytes > MAX_VALUE_BYTES
      ? fail("endless", `more than ${MAX_VALUE_BYTES} bytes of values`)
      : undefined;
  }

  #timedOut(): AgentFailure {
    const { accepted, otherAddress, malformed, insecure } = this.#session.received;
    if (insecure > 0) return fail("security", "replies have less security than the requests");
    if (malformed > 0) return fail("malformed", "replies cannot be read");
    if (otherAddress > 0) return fail("address", "replies come from another address or port");
    if (this.#hasAnswered) return fail("incomplete", "replies stopped before everything was read");
    if (accepted > 0) {
      return fail(
        "security",
        "the agent replies to the discovery of its engine, but not to requests of this user: privPassword or privProtocol may be wrong",
      );
    }
    return fail("silent", "no reply");
  }
}

/** Compares two indexes in the order of SNMP. Indexes are dotted numbers without leading zeros. */
export function compareIndexes(a: string, b: string): number {
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const [endA, endB] = [endOfNumber(a, i), endOfNumber(b, j)];
    const byLength = endA - i - (endB - j);
    if (byLength !== 0) return byLength;
    for (; i < endA; i++, j++) {
      const byDigit = a.charCodeAt(i) - b.charCodeAt(j);
      if (byDigit !== 0) return byDigit;
    }
    i++;
    j++;
  }
  return (i < a.length ? 1 : 0) - (j < b.length ? 1 : 0);
}

function endOfNumber(text: string, from: number): number {
  const dot = text.indexOf(".", from);
  return dot < 0 ? text.length : dot;
}
