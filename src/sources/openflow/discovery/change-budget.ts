/**
 * How many records peers may add, change or remove in the view: token buckets per peer address and for the source. What a
 * switch reports is history that others read, so a peer that changes endlessly must not displace it. The burst allows
 * whole networks to connect; what a peer reports beyond its rate is delayed or refused by the caller.
 */
import type { Clock } from "../../../lib/clock.ts";
import { TokenBuckets } from "../../../lib/token-bucket.ts";
import type { OpenflowSettings } from "../options.ts";

/** An address whose bucket was evicted has a full bucket again. */
const MAX_ADDRESSES = 100_000;
const SOURCE = "";
/** The source gains as much as so many addresses. */
const SOURCE_SHARES = 5;

/** Whose change it is. */
export interface Changer {
  readonly address: string;
  /** Switches that are known are not limited by what others do: they use no tokens of the source. */
  readonly isKnown: boolean;
}

type BudgetSettings = Pick<OpenflowSettings, "maxChangeRate" | "maxPortsPerAddress" | "maxPorts">;

export class ChangeBudget {
  readonly #ofAddress: TokenBuckets;
  readonly #ofSource: TokenBuckets;

  constructor(clock: Pick<Clock, "monotonic">, settings: BudgetSettings) {
    const refillMs = 1000 / settings.maxChangeRate;
    this.#ofAddress = new TokenBuckets(clock, {
      burst: settings.maxPortsPerAddress,
      refillMs,
      maxKeys: MAX_ADDRESSES,
    });
    this.#ofSource = new TokenBuckets(clock, {
      burst: settings.maxPorts,
      refillMs: refillMs / SOURCE_SHARES,
      maxKeys: 1,
    });
  }

  /** Returns 0 when so many changes are allowed now; otherwise after how many milliseconds to try again. */
  take({ address, isKnown }: Changer, count = 1): number {
    const waitMs = this.#ofAddress.take(address, count);
    if (waitMs > 0 || isKnown) return waitMs;
    const sourceWaitMs = this.#ofSource.take(SOURCE, count);
    if (sourceWaitMs > 0) this.#ofAddress.giveBack(address, count);
    return sourceWaitMs;
  }
}
