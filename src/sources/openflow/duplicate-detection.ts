/**
 * Decides what it means when a host or an address appears a second time. The first owner is probed. If it replies, both
 * use the same identity: a conflict. If it does not reply in time, the identity has moved.
 */
export interface DuplicateCheck {
  readonly startedAt: number;
  /** Whether the first owner was heard since the check started. */
  ownerReplied(): boolean;
  onConflict(): void;
  onMove(): void;
}

const REPLY_TIMEOUT_MS = 1000;
const MAX_CHECKS = 10_000;

export class DuplicateDetection {
  readonly #checks = new Map<string, DuplicateCheck>();

  /** Returns false when a check with the same key is running, or when too many are. */
  start(key: string, check: DuplicateCheck): boolean {
    if (this.#checks.has(key) || this.#checks.size >= MAX_CHECKS) return false;
    this.#checks.set(key, check);
    return true;
  }

  tick(now: number): void {
    for (const [key, check] of this.#checks) {
      const replied = check.ownerReplied();
      if (!replied && now - check.startedAt < REPLY_TIMEOUT_MS) continue;
      this.#checks.delete(key);
      if (replied) check.onConflict();
      else check.onMove();
    }
  }
}
