/**
 * The queue before password hashing. Hashing takes tens of milliseconds of a core, so only a few checks run at a time and
 * a bounded number waits. It decides who is next such that guessing delays nobody else:
 *
 * - Failures are counted per pair of address and user name, and per address. An attempt whose pair and address may fail
 *   once more is ready. Of those the one whose address has the fewest failures in the last minutes is next, and of equal
 *   ones the newest, so that a client without failures is served at once while many addresses guess. The throttle itself
 *   forgets sooner than many addresses come round again, so this order has a longer memory.
 * - An attempt whose pair or address may not fail now is throttled. It waits until a failure is forgotten (one a second
 *   for a pair), and the pairs with waiting attempts are taken in turn. Within a pair, connections with the fewest
 *   failures go first, so that a client that shares the pair with a guesser is served.
 * - Every fourth check goes to those who would be last otherwise: in turn to a throttled pair and to the oldest ready one.
 *
 * When the queue is full, the attempt with the worst prospects is refused, which may be one that waits already.
 */
import type { Clock } from "../../lib/clock.ts";
import type { FailureBuckets } from "./failure-buckets.ts";

export interface LoginAttempt {
  readonly addressKey: string;
  readonly pairKey: string;
  /** Failures on the same connection, where it has no other clients. */
  readonly connectionFailures: number;
  /** Whether the client no longer waits for the result. Read when the attempt has waited for its turn. */
  readonly isGone: () => boolean;
}

/** The attempt was not checked. */
export interface Refusal {
  readonly retryAfterSeconds: number;
}

export interface LoginQueueOptions {
  readonly clock: Clock;
  readonly pairs: FailureBuckets;
  readonly addresses: FailureBuckets;
  /** Failures of addresses over a longer time. They decide the order only. */
  readonly recent: FailureBuckets;
  readonly maxRunning: number;
  readonly maxWaiting: number;
  /** Throttled attempts of one pair. */
  readonly maxWaitingPerPair: number;
}

class Entry {
  readonly attempt: LoginAttempt;
  /** Recent failures of the address when the attempt came. */
  readonly failures: number;
  readonly settle: (refusal: Refusal | undefined) => void;

  constructor(attempt: LoginAttempt, failures: number, settle: (refusal: Refusal | undefined) => void) {
    this.attempt = attempt;
    this.failures = failures;
    this.settle = settle;
  }
}

const FAIR_PICK_INTERVAL = 4;
const MIN_TIMER_MS = 5;

export class LoginQueue {
  readonly #options: LoginQueueOptions;
  /** Oldest first. Their failures are counted already, in advance. */
  readonly #ready: Entry[] = [];
  /** By pair, in the order in which the pairs are taken. Each list is sorted: the next one first. */
  readonly #throttled = new Map<string, Entry[]>();
  #throttledCount = 0;
  #running = 0;
  #picks = 0;
  #timer: { readonly dueAt: number; readonly abort: AbortController } | undefined;

  constructor(options: LoginQueueOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#ready.length + this.#throttledCount;
  }

  /** Runs `check` in its turn. It returns whether the password was wrong: only then the failure stays counted. */
  async run(attempt: LoginAttempt, check: () => Promise<boolean>): Promise<Refusal | undefined> {
    const refusal = await new Promise<Refusal | undefined>((settle) => this.#enqueue(attempt, settle));
    if (refusal) return refusal;
    let isWrong = false;
    try {
      isWrong = await check();
    } finally {
      if (!isWrong) this.#uncount(attempt);
      this.#running--;
      this.#startNext();
    }
    return undefined;
  }

  /** Counts a failure that needed no check. Returns a refusal when the pair or the address may not fail now. */
  countFailure(attempt: LoginAttempt): Refusal | undefined {
    const waitMs = this.#waitMs(attempt);
    if (waitMs > 0) return refusalAfter(waitMs);
    this.#count(attempt);
    return undefined;
  }

  #enqueue(attempt: LoginAttempt, settle: (refusal: Refusal | undefined) => void): void {
    const { pairKey, addressKey } = attempt;
    const entry = new Entry(attempt, this.#options.recent.failures(addressKey), settle);
    const waitMs = this.#waitMs(attempt);
    if (waitMs === 0 && !this.#throttled.has(pairKey)) this.#enqueueReady(entry);
    else this.#enqueueThrottled(entry, waitMs);
  }

  #enqueueReady(entry: Entry): void {
    this.#count(entry.attempt);
    if (this.#running < this.#options.maxRunning) {
      // None that is ready waits. This one runs at once, also for a client that has closed its sending side by now.
      this.#start(entry);
      return;
    }
    this.#ready.push(entry);
    if (this.waiting > this.#options.maxWaiting && !this.#refuseLongestPair(0)) this.#refuseWorstReady();
  }

  #enqueueThrottled(entry: Entry, waitMs: number): void {
    const { maxWaiting, maxWaitingPerPair } = this.#options;
    const { pairKey } = entry.attempt;
    const list = this.#throttled.get(pairKey) ?? [];
    const behind = list.findIndex(
      ({ attempt }) => attempt.connectionFailures > entry.attempt.connectionFailures,
    );
    list.splice(behind < 0 ? list.length : behind, 0, entry);
    this.#throttled.set(pairKey, list);
    this.#throttledCount++;
    if (list.length > maxWaitingPerPair) this.#refuseLast(pairKey, list);
    else if (this.waiting > maxWaiting && !this.#refuseLongestPair(list.length))
      this.#refuseLast(pairKey, list);
    this.#startTimer(waitMs);
  }

  /** Refuses the last attempt of the pair that has the most waiting, if that are more than `length`. */
  #refuseLongestPair(length: number): boolean {
    let longest: [pairKey: string, list: Entry[]] | undefined;
    for (const pair of this.#throttled) if (pair[1].length > (longest?.[1].length ?? length)) longest = pair;
    if (longest) this.#refuseLast(...longest);
    return longest !== undefined;
  }

  #refuseLast(pairKey: string, list: Entry[]): void {
    const entry = list.pop();
    if (!entry) return;
    this.#throttledCount--;
    if (list.length === 0) this.#throttled.delete(pairKey);
    entry.settle(refusalAfter((list.length + 1) * Math.max(1000, this.#options.pairs.waitMs(pairKey))));
  }

  /** The one with the most failures, of equal ones the oldest: it has waited longest without a chance. */
  #refuseWorstReady(): void {
    const worst = this.#ready.reduce((a, b) => (b.failures > a.failures ? b : a));
    this.#removeReady(worst);
    this.#uncount(worst.attempt);
    worst.settle(refusalAfter(1000));
  }

  #startNext(): void {
    while (this.#running < this.#options.maxRunning) {
      const entry = this.#next();
      if (!entry) return;
      this.#start(entry);
    }
  }

  #start(entry: Entry): void {
    this.#running++;
    entry.settle(undefined);
  }

  #next(): Entry | undefined {
    const pick = this.#picks++;
    const isFair = pick % FAIR_PICK_INTERVAL === 0;
    if (!isFair) return this.#nextReady() ?? this.#nextThrottled();
    return pick % (2 * FAIR_PICK_INTERVAL) === 0
      ? (this.#nextThrottled() ?? this.#nextReady())
      : (this.#oldestReady() ?? this.#nextThrottled());
  }

  #nextReady(): Entry | undefined {
    return this.#takeReady((entries) => entries.reduce((a, b) => (b.failures <= a.failures ? b : a)));
  }

  #oldestReady(): Entry | undefined {
    return this.#takeReady(([oldest]) => oldest);
  }

  #takeReady(choose: (entries: readonly Entry[]) => Entry | undefined): Entry | undefined {
    while (this.#ready.length > 0) {
      const entry = choose(this.#ready);
      if (!entry) return undefined;
      this.#removeReady(entry);
      if (!entry.attempt.isGone()) return entry;
      this.#dropGone(entry);
    }
    return undefined;
  }

  #dropGone(entry: Entry): void {
    this.#uncount(entry.attempt);
    entry.settle(refusalAfter(1000));
  }

  #removeReady(entry: Entry): void {
    this.#ready.splice(this.#ready.indexOf(entry), 1);
  }

  /** The next attempt of the first pair in turn that may fail once more now. Counts the failure in advance. */
  #nextThrottled(): Entry | undefined {
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const [pairKey, list] of this.#throttled) {
      const entry = this.#dropLeadingGone(pairKey, list);
      if (!entry) continue;
      const waitMs = this.#waitMs(entry.attempt);
      soonestMs = Math.min(soonestMs, waitMs);
      if (waitMs > 0) continue;
      list.shift();
      this.#throttledCount--;
      this.#throttled.delete(pairKey);
      if (list.length > 0) this.#throttled.set(pairKey, list);
      this.#count(entry.attempt);
      return entry;
    }
    if (soonestMs < Number.POSITIVE_INFINITY) this.#startTimer(soonestMs);
    return undefined;
  }

  #dropLeadingGone(pairKey: string, list: Entry[]): Entry | undefined {
    while (list[0]?.attempt.isGone()) {
      list.shift()?.settle(refusalAfter(1000));
      this.#throttledCount--;
    }
    if (list.length === 0) this.#throttled.delete(pairKey);
    return list[0];
  }

  /** Looks for a throttled attempt after `waitMs`, unless a timer is due before. */
  #startTimer(waitMs: number): void {
    const { clock } = this.#options;
    const dueAt = clock.monotonic() + Math.max(MIN_TIMER_MS, waitMs);
    if (this.#timer && this.#timer.dueAt <= dueAt) return;
    this.#timer?.abort.abort();
    const timer = { dueAt, abort: new AbortController() };
    this.#timer = timer;
    void clock.sleep(dueAt - clock.monotonic(), timer.abort.signal).then(() => {
      if (this.#timer !== timer) return;
      this.#timer = undefined;
      this.#startNext();
    });
  }

  #waitMs({ pairKey, addressKey }: LoginAttempt): number {
    const { pairs, addresses } = this.#options;
    return Math.max(pairs.waitMs(pairKey), addresses.waitMs(addressKey));
  }

  #count({ pairKey, addressKey }: LoginAttempt): void {
    this.#options.pairs.add(pairKey);
    this.#options.addresses.add(addressKey);
    this.#options.recent.add(addressKey);
  }

  #uncount({ pairKey, addressKey }: LoginAttempt): void {
    this.#options.pairs.remove(pairKey);
    this.#options.addresses.remove(addressKey);
    this.#options.recent.remove(addressKey);
  }
}

const refusalAfter = (ms: number): Refusal => ({ retryAfterSeconds: Math.max(1, Math.ceil(ms / 1000)) });
