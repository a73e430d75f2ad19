/**
 * This process's shares of the limits that hold for the whole service (`limit-pools.ts`). Within its share a process
 * decides alone. When a share is used up, `admits` throws `ShareExhausted`: more is requested from the main process, and
 * `retry` repeats what was refused once the answer is there. The main process may recall what a share does not use.
 *
 * A reader requests batches, which double while a user keeps it busy, and reports tokens that it has not spent within a
 * short time. A refusal is valid for a short time, so that a user over the limit costs the main process little.
 */
import type { Clock } from "../../lib/clock.ts";
import {
  type Grant,
  type LimitKind,
  LimitPools,
  type PoolLimits,
  type Returned,
  type Units,
} from "./limit-pools.ts";

/** Where shares come from: the pools in the main process, or the pipe to it in a reader. */
export interface ShareSource {
  /** Units in one request. The main process takes one by one. */
  readonly maxBatch: number;
  /** Returns undefined when the answer comes later, through `grant`. */
  request(units: Units): Grant | undefined;
  giveBack(returned: Returned): void;
}

const REFUSAL_MS = 100;
const REPORT_INTERVAL_MS = 100;

class Share {
  readonly kind: LimitKind;
  readonly key: string;
  granted = 0;
  /** Slots in use. */
  used = 0;
  /** Requests that wait for the answer of the main process. */
  waiting = 0;
  batch = 1;
  /** Units that no process had at the last answer. */
  left = 0;
  refusedUntil = Number.NEGATIVE_INFINITY;
  /** Units granted since the last report. */
  unreported = 0;
  answer: PromiseWithResolvers<void> | undefined;

  constructor(kind: LimitKind, key: string) {
    this.kind = kind;
    this.key = key;
  }

  get isEmpty(): boolean {
    return this.granted === 0 && this.used === 0 && this.waiting === 0 && !this.answer;
  }
}

/** Thrown by `admits`. Pass it to `retry`. */
export class ShareExhausted {
  readonly share: Share;
  readonly answered: Promise<void>;

  constructor(share: Share, answered: Promise<void>) {
    this.share = share;
    this.answered = answered;
  }
}

export class Shares {
  /** Requests in flight in this process; set by the server. */
  countInFlight = () => 0;
  readonly #source: ShareSource;
  readonly #clock: Clock;
  /** By user. */
  readonly #requests = new Map<string, Share>();
  readonly #streams = new Map<string, Share>();
  readonly #inFlight = new Share("inFlight", "");

  constructor(source: ShareSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** Takes one request of the user's rate. Returns false when the user has none left. */
  takeRequest(user: string): boolean {
    const share = this.#share("requests", user);
    if (!this.#admits(share, 0)) return false;
    share.granted--;
    return true;
  }

  /** A lower bound of the requests that the user may make now, as far as this process knows. */
  requestsLeft(user: string): number {
    const share = this.#requests.get(user);
    return share ? share.granted + share.left : 0;
  }

  admitsStream(user: string): boolean {
    const share = this.#share("streams", user);
    return this.#admits(share, share.used);
  }

  countStream(user: string, change: 1 | -1): void {
    this.#share("streams", user).used += change;
  }

  /** `others` are the requests in flight besides the one to be admitted. Those that wait to be admitted are among them. */
  admitsInFlight(others: number): boolean {
    return this.#admits(this.#inFlight, others - this.#inFlight.waiting);
  }

  /** Calls `again` when the main process has answered. Then `admits` returns, or throws when others were first. */
  async retry<T>({ share, answered }: ShareExhausted, again: () => T | Promise<T>): Promise<T> {
    share.waiting++;
    await answered;
    share.waiting--;
    return again();
  }

  /** The answer of the main process to a request for more. */
  grant({ kind, key, count, left }: Grant): void {
    const share = this.#share(kind, key);
    share.left = left;
    share.granted += count;
    share.unreported += count;
    if (count === 0) share.refusedUntil = this.#clock.monotonic() + REFUSAL_MS;
    const { answer } = share;
    share.answer = undefined;
    answer?.resolve();
  }

  /** Removes what the share does not use. The caller gives it back. */
  recall(kind: LimitKind, key: string): Returned {
    const share = this.#share(kind, key);
    const { unreported } = share;
    const inUse = share === this.#inFlight ? this.countInFlight() : share.used + share.waiting;
    const unused = Math.max(0, share.granted - inUse);
    share.granted -= unused;
    share.batch = 1;
    share.unreported = 0;
    return { kind, key, count: unused, settled: unreported };
  }

  /** Gives back everything unused, because a limit has changed. */
  giveBackUnused(): void {
    for (const shares of [this.#requests, this.#streams])
      for (const share of shares.values()) this.#giveBack(share);
    this.#giveBack(this.#inFlight);
  }

  /** In a reader: gives back what users have not used for a while, until the signal aborts. */
  async runReports(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(REPORT_INTERVAL_MS, signal);
      for (const shares of [this.#requests, this.#streams]) this.#report(shares);
    }
  }

  #report(shares: Map<string, Share>): void {
    for (const [key, share] of shares) {
      if (share.unreported > 0) this.#giveBack(share);
      if (share.isEmpty) shares.delete(key);
    }
  }

  #giveBack({ kind, key }: Share): void {
    this.#source.giveBack(this.recall(kind, key));
  }

  /** Tokens that are not reported count as not spent. */
  #reportSpent(share: Share): void {
    const { kind, key, unreported } = share;
    if (kind !== "requests" || unreported === 0) return;
    share.unreported = 0;
    this.#source.giveBack({ kind, key, count: 0, settled: unreported });
  }

  #share(kind: LimitKind, key: string): Share {
    if (kind === "inFlight") return this.#inFlight;
    const shares = kind === "requests" ? this.#requests : this.#streams;
    let share = shares.get(key);
    if (!share) {
      share = new Share(kind, key);
      shares.set(key, share);
    }
    return share;
  }

  #admits(share: Share, used: number): boolean {
    if (used < share.granted) return true;
    if (share.answer) throw new ShareExhausted(share, share.answer.promise);
    if (this.#clock.monotonic() < share.refusedUntil) return false;
    const { kind, key, batch, granted } = share;
    const count = Math.max(batch, used + 1 - granted);
    share.batch = Math.min(this.#source.maxBatch, 2 * batch);
    this.#reportSpent(share);
    const grant = this.#source.request({ kind, key, count });
    if (!grant) {
      share.answer = Promise.withResolvers<void>();
      throw new ShareExhausted(share, share.answer.promise);
    }
    share.left = grant.left;
    share.granted += grant.count;
    return used < share.granted;
  }
}

/** The shares of a service of one process. */
export function createOwnShares(limits: PoolLimits, clock: Clock): Shares {
  const pools = new LimitPools(limits, clock);
  const source: ShareSource = {
    maxBatch: 1,
    request: (units) => pools.take(units),
    giveBack: (returned) => pools.giveBack(returned),
  };
  return new Shares(source, clock);
}
