/**
 * A semaphore that takes owners in turn: at most `maxRunning` tasks run, and each time one ends, the owner that waits
 * longest is next. An owner with a hundred tasks delays another one by a single task. It bounds work that runs off the
 * event loop, such as compression.
 *
 * The queues are as long as their owners have requests in flight, which is bounded elsewhere.
 */
export class FairSemaphore {
  readonly #maxRunning: number;
  /** In the order in which the owners are next. None of the queues is empty. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = 0;

  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning;
  }

  async run<Result>(owner: string, task: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#maxRunning) await this.#waitForTurn(owner);
    else this.#running++;
    try {
      return await task();
    } finally {
      this.#startNext();
    }
  }

  #waitForTurn(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(owner);
      if (queue) queue.push(resolve);
      else this.#waiting.set(owner, [resolve]);
    });
  }

  /** The slot goes to the next task directly: a new task cannot take it in between. */
  #startNext(): void {
    for (const [owner, queue] of this.#waiting) {
      this.#waiting.delete(owner);
      const start = queue.shift();
      if (queue.length > 0) this.#waiting.set(owner, queue);
      start?.();
      return;
    }
    this.#running--;
  }
}
