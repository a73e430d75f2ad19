/**
 * Decides what it means when a host or an address appears a second time. The first owner is probed. If it replies, both
 * use the same identity: a conflict. If it does not reply in time, the identity has moved.
 */

import { Quota } from "../../../lib/quota.ts";
import type { Steps } from "../../../lib/steps.ts";

export interface DuplicateCheck {
  /** The device whose announcement is checked. */
  readonly startedBy: string;
  readonly startedAt: number;
  /** Whether the first owner was heard since the check started. */
  ownerReplied(): boolean;
  onConflict(): void;
  onMove(): void;
}

const REPLY_TIMEOUT_MS = 1000;
const CHECKS_PER_STEP = 64;
const MAX_CHECKS = 10_000;
/** Of one device, so that no device takes the room of all others. */
const MAX_CHECKS_PER_DEVICE = 500;

export class DuplicateDetection {
  readonly #checks = new Map<string, DuplicateCheck>();
  readonly #quota = new Quota({ perKey: MAX_CHECKS_PER_DEVICE, total: MAX_CHECKS });

  /** Returns false when a check with the same key is running, or when too many are. */
  start(key: string, check: DuplicateCheck): boolean {
    if (this.#checks.has(key) || this.#quota.exceededBy(check.startedBy) !== undefined) return false;
    this.#quota.add(check.startedBy);
    this.#checks.set(key, check);
    return true;
  }

  *tick(now: number): Steps<void> {
    let left = CHECKS_PER_STEP;
    for (const [key, check] of this.#checks) {
      if (--left <= 0) {
        yield;
        left = CHECKS_PER_STEP;
      }
      const replied = check.ownerReplied();
      if (!replied && now - check.startedAt < REPLY_TIMEOUT_MS) continue;
      this.#checks.delete(key);
      this.#quota.remove(check.startedBy);
      if (replied) check.onConflict();
      else check.onMove();
    }
  }
}
