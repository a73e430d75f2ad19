/**
 * A lock that owners get in turn: while several wait, each owner gets it once before any gets it again. An owner with a
 * thousand tasks delays the single task of another by one task.
 */
export class Turns {
  #isTaken = false;
  /** In the order in which the owners are next. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Runs the task when it is its turn. Tasks of one owner run in order. */
  async run<Result>(owner: string, task: () => Promise<Result>): Promise<Result> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#wait(owner, resolve));
    this.#isTaken = true;
    try {
      return await task();
    } finally {
      this.#passOn();
    }
  }

  #wait(owner: string, start: () => void): void {
    const starts = this.#waiting.get(owner);
    if (starts) starts.push(start);
    else this.#waiting.set(owner, [start]);
  }

  /** The lock stays taken while it is passed on. */
  #passOn(): void {
    for (const [owner, [start, ...others]] of this.#waiting) {
      this.#waiting.delete(owner);
      if (others.length > 0) this.#waiting.set(owner, others);
      start?.();
      return;
    }
    this.#isTaken = false;
  }
}
