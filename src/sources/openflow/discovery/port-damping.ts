/**
 * Damping of one port that changes often. A port that changes more than `MAX_CHANGES` times within `INTERVAL_MS` is
 * flapping: of each interval from then on, the first state is applied at once and the last one at its end. The port is calm
 * again after an interval with at most `MAX_CHANGES` changes.
 *
 * A change can also be held for another reason (no budget for it); then the latest one is applied when there is.
 */
import type { PortDescription } from "../codec/port.ts";

export const INTERVAL_MS = 10_000;
export const MAX_CHANGES = 10;

export interface PortChange {
  readonly description: PortDescription;
  readonly removed: boolean;
}

export function isSameState(state: PortChange | undefined, { description, removed }: PortChange): boolean {
  if (!state || state.removed || removed) return (state?.removed ?? true) === removed;
  return Bun.deepEquals(state.description, description);
}

export class PortDamping {
  isFlapping = false;
  /** The latest change, when it is not applied yet. */
  held: PortChange | undefined;
  /** The times of the latest changes, oldest first. */
  readonly #times: number[] = [];
  #intervalStart = 0;
  #changesInInterval = 0;

  /** Records a change. Returns whether it is applied at once; otherwise the caller holds it. */
  record(now: number): boolean {
    this.#times.push(now);
    if (this.#times.length > MAX_CHANGES + 1) this.#times.shift();
    if (this.isFlapping) return ++this.#changesInInterval === 1;
    const [oldest = now] = this.#times;
    if (this.#times.length > MAX_CHANGES && now - oldest < INTERVAL_MS) {
      this.isFlapping = true;
      this.#startInterval(now, 1);
    }
    return true;
  }

  /** Ends the interval when it is over. Returns whether a held change is applied now. */
  tick(now: number): boolean {
    if (!this.isFlapping) return true;
    if (now - this.#intervalStart < INTERVAL_MS) return false;
    if (this.#changesInInterval <= MAX_CHANGES) this.isFlapping = false;
    this.#startInterval(now, 0);
    return true;
  }

  /** Whether nothing of it matters any more. */
  isOver(now: number): boolean {
    return !this.isFlapping && !this.held && now - (this.#times.at(-1) ?? now) >= INTERVAL_MS;
  }

  #startInterval(now: number, changes: number): void {
    this.#intervalStart = now;
    this.#changesInInterval = changes;
  }
}
