/**
 * Counters of usage: latencies by route and status, the delay of the event loop, logins, and the resources that each user
 * has used. They are a part of the counters of a process, in the form in which a reader process sends them to the main one.
 */
import Type from "typebox";
import { addHistograms, Histogram } from "../../lib/histogram.ts";
import type { OwnerUsage } from "../../lib/scheduler.ts";

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

const Count = Type.Integer({ minimum: 0 });
const Amount = Type.Number({ minimum: 0 });
const Histograms = Type.Object({ counts: Type.Array(Count), sum: Amount });

const UserCounters = Type.Object({
  /** Time that the user's work took on the event loop. */
  loopSeconds: Amount,
  /** Memory that the user's responses hold now. */
  bytesHeld: Amount,
  /** Number of refused requests by the code of the problem. */
  refusals: Type.Record(Type.String(), Count),
});
type UserCounters = DeepReadonly<Type.Static<typeof UserCounters>>;

export const UsageCounters = Type.Object({
  /** Latencies by read name and status, with keys such as `devices 200`. Responses from the cache are not measured. */
  latency: Type.Record(Type.String(), Histograms),
  loopDelay: Histograms,
  /** Number of steps on the scheduler that took longer than a slice may take. */
  longSteps: Count,
  /** Number of first logins by outcome. */
  logins: Type.Record(Type.String(), Count),
  users: Type.Record(Type.String(), UserCounters),
  accessLogDropped: Count,
});
export type UsageCounters = DeepReadonly<Type.Static<typeof UsageCounters>>;

/** The usage of a user that the scheduler and the memory accounting measure. */
export interface UserUsage {
  readonly user: string;
  /** Milliseconds on the event loop since the process started. */
  readonly loopMs: number;
  /** Memory that the user's responses hold now. */
  readonly bytesHeld: number;
}

const USER_OWNER = "user:";

/** The usage of the users among the owners of the scheduler. */
export function* userUsages(
  owners: Iterable<OwnerUsage>,
  bytesHeld: (user: string) => number = () => 0,
): Generator<UserUsage> {
  for (const { owner, loopMs } of owners) {
    const user = owner.startsWith(USER_OWNER) ? owner.slice(USER_OWNER.length) : "";
    // The empty name is that of the service's own processes.
    if (user !== "") yield { user, loopMs, bytesHeld: bytesHeld(user) };
  }
}

export const ZERO_USAGE: UsageCounters = {
  latency: {},
  loopDelay: { counts: [], sum: 0 },
  longSteps: 0,
  logins: {},
  users: {},
  accessLogDropped: 0,
};

const ZERO_USER: UserCounters = { loopSeconds: 0, bytesHeld: 0, refusals: {} };

/** Adds the values with the same key. Uses a Map, because a key may be any text, such as `__proto__`. */
function addRecords<T>(
  a: Readonly<Record<string, T>>,
  b: Readonly<Record<string, T>>,
  add: (a: T, b: T) => T,
): Record<string, T> {
  const sum = new Map(Object.entries(a));
  for (const [key, value] of Object.entries(b)) {
    const before = sum.get(key);
    sum.set(key, before === undefined ? value : add(before, value));
  }
  return Object.fromEntries(sum);
}

const addNumbers = (a: number, b: number): number => a + b;

const addUsers = (a: UserCounters, b: UserCounters): UserCounters => ({
  loopSeconds: a.loopSeconds + b.loopSeconds,
  bytesHeld: a.bytesHeld + b.bytesHeld,
  refusals: addRecords(a.refusals, b.refusals, addNumbers),
});

export const addUsage = (a: UsageCounters, b: UsageCounters): UsageCounters => ({
  latency: addRecords(a.latency, b.latency, addHistograms),
  loopDelay: addHistograms(a.loopDelay, b.loopDelay),
  longSteps: a.longSteps + b.longSteps,
  logins: addRecords(a.logins, b.logins, addNumbers),
  users: addRecords(a.users, b.users, addUsers),
  accessLogDropped: a.accessLogDropped + b.accessLogDropped,
});

/** The counters of a process that has ended: its counts stay, and the memory that it held is free. */
export const endedUsage = (usage: UsageCounters): UsageCounters => ({
  ...usage,
  users: Object.fromEntries(
    Object.entries(usage.users).map(([user, counters]) => [user, { ...counters, bytesHeld: 0 }]),
  ),
});

/** One value for each read name and status. A look-up builds no string, because it happens for every response. */
export class PerResponse<T> {
  readonly #create: () => T;
  readonly #byRead = new Map<string, Map<number, T>>();

  constructor(create: () => T) {
    this.#create = create;
  }

  get(read: string, status: number): T {
    let byStatus = this.#byRead.get(read);
    if (!byStatus) {
      byStatus = new Map();
      this.#byRead.set(read, byStatus);
    }
    let value = byStatus.get(status);
    if (value === undefined) {
      value = this.#create();
      byStatus.set(status, value);
    }
    return value;
  }

  /** All values, with keys such as `devices 200`. */
  record<Mapped>(map: (value: T) => Mapped): Record<string, Mapped> {
    const record: Record<string, Mapped> = {};
    for (const [read, byStatus] of this.#byRead)
      for (const [status, value] of byStatus) record[`${read} ${status}`] = map(value);
    return record;
  }
}

/** Collects the counters of this process. The users file and the table of problems bound the number of users and codes. */
export class UsageRecorder {
  readonly #latency = new PerResponse(() => new Histogram());
  readonly #refusals = new Map<string, Map<string, number>>();

  observe(read: string, status: number, seconds: number): void {
    this.#latency.get(read, status).observe(seconds);
  }

  countRefusal(user: string, code: string): void {
    const codes = this.#refusals.get(user) ?? new Map<string, number>();
    codes.set(code, (codes.get(code) ?? 0) + 1);
    this.#refusals.set(user, codes);
  }

  snapshot(
    usages: Iterable<UserUsage>,
    rest: Pick<UsageCounters, "logins" | "accessLogDropped" | "loopDelay" | "longSteps">,
  ): UsageCounters {
    const users = new Map<string, UserCounters>();
    for (const [user, codes] of this.#refusals)
      users.set(user, { ...ZERO_USER, refusals: Object.fromEntries(codes) });
    for (const { user, loopMs, bytesHeld } of usages) {
      const { refusals } = users.get(user) ?? ZERO_USER;
      users.set(user, { loopSeconds: loopMs / 1000, bytesHeld, refusals });
    }
    return {
      ...rest,
      latency: this.#latency.record((histogram) => histogram.snapshot()),
      users: Object.fromEntries(users),
    };
  }
}
