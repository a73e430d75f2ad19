/**
 * The queue before password hashing. Hashing takes tens of milliseconds of a core, so only a few checks run at a time and
 * a bounded number of attempts waits. The order ensures that a client that guesses passwords does not delay others:
 *
 * - Failures are counted for each pair of address and user name, and for each address. While its pair or its address may
 *   not fail once more, an attempt is not checked and waits until a failure is forgotten (one a second for a pair).
 * - Among the attempts that may be checked, the next one comes from the address with the fewest failures in the last
 *   minutes, and among equal addresses from the one that came last. So a client without failures is served at once while
 *   many addresses guess.
 * - Among the attempts of one address, those of connections with the fewest failures are first, so that a client that
 *   shares its pair with a guesser is served before the guesser. Among equal connections the pairs take turns, so that many
 *   guesses at one name delay another user by one guess, and within one pair the oldest attempt is first.
 *
 * When too many attempts wait, the last one in this order is refused.
 */
import type { Clock } from "../../lib/clock.ts";
import type { FailureBuckets } from "./failure-buckets.ts";

export interface LoginAttempt {
  readonly addressKey: string;
  readonly pairKey: string;
  /** Number of earlier failures on the same connection; 0 if the connection belongs to a proxy. */
  readonly connectionFailures: number;
  /** Whether the client no longer waits for the result. Evaluated after the attempt has waited for its turn. */
  readonly isGone: () => boolean;
}

/** The result of an attempt that was not checked. */
export interface LoginRefusal {
  readonly retryAfterSeconds: number;
}

export interface LoginQueueOptions {
  readonly clock: Clock;
  readonly pairs: FailureBuckets;
  readonly addresses: FailureBuckets;
  readonly maxRunning: number;
  /** Maximum number of attempts that wait. */
  readonly maxWaiting: number;
  /** Maximum number of attempts of one pair that wait, in addition to the number of failures that the pair is allowed now. */
  readonly maxWaitingPerPair: number;
}

interface WaitingAttempt {
  readonly attempt: LoginAttempt;
  /** Called once. Without a refusal the attempt is checked now. */
  readonly settle: (refusal: LoginRefusal | undefined) => void;
  /** The round in which the attempt is checked. Each pair of an address has at most one attempt in a round. */
  readonly round: number;
}

const MIN_TIMER_MS = 5;

export class LoginQueue {
  readonly #options: LoginQueueOptions;
  /** The waiting attempts by address. The address of the newest attempt is last. In each list the next attempt is first. */
  readonly #waiting = new Map<string, WaitingAttempt[]>();
  #waitingCount = 0;
  #running = 0;
  #timer: { readonly dueAt: number; readonly abort: AbortController } | undefined;

  constructor(options: LoginQueueOptions) {
    this.#options = options;
  }

  /** Runs `check` when it is its turn. `check` returns whether the password was wrong; only then is a failure counted. */
  async run(attempt: LoginAttempt, check: () => Promise<boolean>): Promise<LoginRefusal | undefined> {
    const refusal = await new Promise<LoginRefusal | undefined>((settle) => this.#enqueue(attempt, settle));
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

  /** Counts a failure that needed no check. Returns a refusal if the pair or the address may not fail now. */
  countFailure(attempt: LoginAttempt): LoginRefusal | undefined {
    const waitMs = this.#waitMs(attempt);
    if (waitMs > 0) return refusalAfter(waitMs);
    this.#count(attempt);
    return undefined;
  }

  #enqueue(attempt: LoginAttempt, settle: WaitingAttempt["settle"]): void {
    const waiting: WaitingAttempt = { attempt, settle, round: this.#roundOf(attempt) };
    const waitMs = this.#waitMs(attempt);
    const isNext = waitMs === 0 && this.#countOf(attempt) === 0;
    if (isNext && this.#running < this.#options.maxRunning) {
      // No other attempt can run now, so this one starts, even if its client has closed its sending side already.
      this.#start(waiting);
      return;
    }
    this.#add(waiting);
    const { pairs, maxWaiting, maxWaitingPerPair } = this.#options;
    if (this.#countOf(attempt) > maxWaitingPerPair + pairs.allowed(attempt.pairKey))
      this.#refuseLastOf(attempt);
    else if (this.#waitingCount > maxWaiting) this.#refuseLast();
    if (waitMs > 0) this.#startTimer(waitMs);
  }

  #add(waiting: WaitingAttempt): void {
    const { addressKey } = waiting.attempt;
    const list = this.#waiting.get(addressKey) ?? [];
    const behind = list.findIndex((other) => isBefore(waiting, other));
    list.splice(behind < 0 ? list.length : behind, 0, waiting);
    this.#waiting.delete(addressKey);
    this.#waiting.set(addressKey, list);
    this.#waitingCount++;
  }

  /** The round of a new attempt: the one after the pair's last attempt, or the current round if the pair has none waiting. */
  #roundOf({ addressKey, pairKey }: LoginAttempt): number {
    const list = this.#waiting.get(addressKey) ?? [];
    let last = -1;
    let current = Number.POSITIVE_INFINITY;
    for (const { attempt, round } of list) {
      if (attempt.pairKey === pairKey) last = Math.max(last, round);
      current = Math.min(current, round);
    }
    if (last >= 0) return last + 1;
    return list.length === 0 ? 0 : current;
  }

  /** The number of attempts of the same pair that wait. */
  #countOf({ addressKey, pairKey }: LoginAttempt): number {
    let count = 0;
    for (const { attempt } of this.#waiting.get(addressKey) ?? []) if (attempt.pairKey === pairKey) count++;
    return count;
  }

  #remove({ attempt: { addressKey } }: WaitingAttempt, list: WaitingAttempt[], index: number): void {
    list.splice(index, 1);
    if (list.length === 0) this.#waiting.delete(addressKey);
    this.#waitingCount--;
  }

  /** Refuses the last attempt of a pair that has too many. */
  #refuseLastOf(attempt: LoginAttempt): void {
    const { addressKey, pairKey } = attempt;
    const list = this.#waiting.get(addressKey) ?? [];
    const index = list.findLastIndex((waiting) => waiting.attempt.pairKey === pairKey);
    const last = list[index];
    if (!last) return;
    const count = this.#countOf(attempt);
    this.#remove(last, list, index);
    last.settle(refusalAfter(count * Math.max(1000, this.#options.pairs.waitMs(pairKey))));
  }

  /** Refuses the last attempt of the address with the most failures. Among equal addresses it takes the one that came first. */
  #refuseLast(): void {
    let worst: { readonly list: WaitingAttempt[]; readonly failures: number } | undefined;
    for (const [addressKey, list] of this.#waiting) {
      const failures = this.#options.addresses.recentFailures(addressKey);
      if (!worst || failures > worst.failures) worst = { list, failures };
    }
    const last = worst?.list.at(-1);
    if (!worst || !last) return;
    this.#remove(last, worst.list, worst.list.length - 1);
    last.settle(refusalAfter(1000));
  }

  #startNext(): void {
    while (this.#running < this.#options.maxRunning) {
      const next = this.#next();
      if (!next) return;
      this.#start(next);
    }
  }

  #start({ attempt, settle }: WaitingAttempt): void {
    this.#running++;
    // The failure is counted in advance, so that no more attempts run at the same time than may fail.
    this.#count(attempt);
    settle(undefined);
  }

  /** Removes and returns the next attempt that may be checked. Starts the timer if all attempts have to wait. */
  #next(): WaitingAttempt | undefined {
    let best:
      | { readonly list: WaitingAttempt[]; readonly index: number; readonly failures: number }
      | undefined;
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const [addressKey, list] of this.#waiting) {
      const failures = this.#options.addresses.recentFailures(addressKey);
      if (best && failures > best.failures) continue;
      this.#dropGone(list);
      const index = list.findIndex(({ attempt }) => {
        const waitMs = this.#waitMs(attempt);
        soonestMs = Math.min(soonestMs, waitMs);
        return waitMs === 0;
      });
      if (index >= 0) best = { list, index, failures };
    }
    const next = best?.list[best.index];
    if (best && next) this.#remove(next, best.list, best.index);
    else if (soonestMs < Number.POSITIVE_INFINITY) this.#startTimer(soonestMs);
    return next;
  }

  #dropGone(list: WaitingAttempt[]): void {
    for (let index = list.length - 1; index >= 0; index--) {
      const waiting = list[index];
      if (!waiting?.attempt.isGone()) continue;
      this.#remove(waiting, list, index);
      waiting.settle(refusalAfter(1000));
    }
  }

  /** Looks for the next attempt after `waitMs`, unless a timer is due earlier. */
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
  }

  #uncount({ pairKey, addressKey }: LoginAttempt): void {
    this.#options.pairs.remove(pairKey);
    this.#options.addresses.remove(addressKey);
  }
}

const isBefore = (one: WaitingAttempt, other: WaitingAttempt): boolean =>
  one.attempt.connectionFailures < other.attempt.connectionFailures ||
  (one.attempt.connectionFailures === other.attempt.connectionFailures && one.round < other.round);

const refusalAfter = (ms: number): LoginRefusal => ({ retryAfterSeconds: Math.max(1, Math.ceil(ms / 1000)) });
