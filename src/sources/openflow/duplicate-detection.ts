/**
 * Who is right when something appears in a second place: the first place is asked. If it answers, both claim it and
 * that is a conflict to be shown; if it stays silent, the thing has moved.
 */
export interface Challenge {
  readonly openedAt: number;
  /** Whether the first place has spoken since. */
  answered(): boolean;
  conflict(): void;
  moved(): void;
}

const ANSWER_MS = 1000;
const MAX_OPEN = 10_000;

export class Challenges {
  readonly #open = new Map<string, Challenge>();

  /** False when one about the same matter is open already, or too many are. */
  open(matter: string, challenge: Challenge): boolean {
    if (this.#open.has(matter) || this.#open.size >= MAX_OPEN) return false;
    this.#open.set(matter, challenge);
    return true;
  }

  tick(now: number): void {
    for (const [matter, challenge] of this.#open) {
      const answered = challenge.answered();
      if (!answered && now - challenge.openedAt < ANSWER_MS) continue;
      this.#open.delete(matter);
      if (answered) challenge.conflict();
      else challenge.moved();
    }
  }
}
