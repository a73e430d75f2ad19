/** What the source has to send and switches do not accept: limited for each peer address and in total. */
import { Quota } from "../../../lib/quota.ts";

const LIMITS = { perKey: 64 * 1024 * 1024, total: 256 * 1024 * 1024 };

/** Of all connections. */
export const createBacklogQuota = (): Quota => new Quota(LIMITS);

/** Of one connection. */
export class BacklogAccount {
  readonly #quota: Quota;
  readonly #address: string;
  #bytes = 0;

  constructor(quota: Quota, address: string) {
    this.#quota = quota;
    this.#address = address;
  }

  /** Returns false when they are too many. They count all the same. */
  set(bytes: number): boolean {
    const more = bytes - this.#bytes;
    if (more === 0) return true;
    const exceeds = more > 0 && this.#quota.exceededBy(this.#address, more) !== undefined;
    this.#quota.add(this.#address, more);
    this.#bytes = bytes;
    return !exceeds;
  }
}
