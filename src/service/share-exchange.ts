/**
 * Distributes the limits of the whole service among its processes: the shares of this process, and those that readers
 * request over their pipes. When nothing is left for a process, the others are requested to return what they do not
 * use, and then it gets what there is.
 */
import {
  type Grant,
  LimitPools,
  type PoolLimits,
  type Returned,
  type Units,
} from "../api/limits/limit-pools.ts";
import { Shares } from "../api/limits/shares.ts";
import type { Clock } from "../lib/clock.ts";

/** A reader that has not answered by then keeps what it has. */
const RECALL_TIMEOUT_MS = 1000;

/** A reader process. */
export interface ShareReader {
  sendGrant(grant: Grant): void;
  sendRecall(units: Units): void;
}

interface Recall {
  readonly units: Units;
  readonly pending: Set<ShareReader>;
  readonly done: AbortController;
}

export class ShareExchange {
  /** Of this process. */
  readonly shares: Shares;
  readonly #pools: LimitPools;
  readonly #clock: Clock;
  readonly #readers = new Set<ShareReader>();
  readonly #recalls = new Set<Recall>();

  constructor(limits: PoolLimits, clock: Clock) {
    this.#pools = new LimitPools(limits, clock);
    this.#clock = clock;
    this.shares = new Shares(
      {
        maxBatch: 1,
        request: (units) => this.#takeForThisProcess(units),
        giveBack: (returned) => this.#pools.giveBack(returned),
      },
      clock,
    );
  }

  add(reader: ShareReader): void {
    this.#readers.add(reader);
  }

  /** The reader has ended: what it held is free. */
  remove(reader: ShareReader): void {
    this.#readers.delete(reader);
    this.#pools.remove(reader);
    for (const recall of this.#recalls) this.#answered(recall, reader);
  }

  /** A reader needs more than its share. */
  async onRequest(reader: ShareReader, units: Units): Promise<void> {
    const grant = this.#takeFor(units, reader) ?? (await this.#recallAndTake(units, reader));
    if (this.#readers.has(reader)) reader.sendGrant(grant);
    else this.#pools.remove(reader);
  }

  onReturned(reader: ShareReader, returned: Returned): void {
    this.#pools.giveBack(returned, reader);
    for (const recall of this.#recalls)
      if (isSameLimit(recall.units, returned)) this.#answered(recall, reader);
  }

  #takeForThisProcess(units: Units): Grant | undefined {
    const grant = this.#pools.take(units);
    if (grant.count > 0 || this.#readers.size === 0) return grant;
    void this.#recallAndTake(units).then((later) => this.shares.grant(later));
    return undefined;
  }

  /** Also takes what this process does not use. Undefined when there is nothing. */
  #takeFor(units: Units, reader: ShareReader): Grant | undefined {
    const grant = this.#pools.take(units, reader);
    if (grant.count > 0) return grant;
    this.#pools.giveBack(this.shares.recall(units.kind, units.key));
    const second = this.#pools.take(units, reader);
    return second.count > 0 ? second : undefined;
  }

  async #recallAndTake(units: Units, holder?: ShareReader): Promise<Grant> {
    await this.#recallFromReaders(units, holder);
    return this.#pools.take(units, holder);
  }

  async #recallFromReaders(units: Units, exceptFrom: ShareReader | undefined): Promise<void> {
    const pending = new Set(this.#readers);
    if (exceptFrom) pending.delete(exceptFrom);
    if (pending.size === 0) return;
    const done = new AbortController();
    const recall: Recall = { units, pending, done };
    this.#recalls.add(recall);
    for (const reader of pending) reader.sendRecall(units);
    await this.#clock.sleep(RECALL_TIMEOUT_MS, done.signal);
    this.#recalls.delete(recall);
  }

  #answered({ pending, done }: Recall, reader: ShareReader): void {
    if (pending.delete(reader) && pending.size === 0) done.abort();
  }
}

const isSameLimit = (a: Units, b: Units): boolean => a.kind === b.kind && a.key === b.key;
