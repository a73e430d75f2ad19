/**
 * A semaphore with a bounded queue: at most `maxRunning` tasks run and at most `maxQueued` wait. It bounds expensive work
 * that clients can trigger, such as password hashing.
 */
export interface Semaphore {
  /** Runs the task when a slot is free. Returns undefined at once when the queue is full. */
  run<T>(task: () => Promise<T>): Promise<T> | undefined;
}

export function createSemaphore(maxRunning: number, maxQueued: number): Semaphore {
  let running = 0;
  const queue: (() => void)[] = [];

  async function runInTurn<T>(task: () => Promise<T>): Promise<T> {
    if (running >= maxRunning) await new Promise<void>((resolve) => queue.push(resolve));
    else running++;
    try {
      return await task();
    } finally {
      // The slot goes to the next task directly: a new task cannot take it in between.
      const next = queue.shift();
      if (next) next();
      else running--;
    }
  }

  return {
    run(task) {
      return running >= maxRunning && queue.length >= maxQueued ? undefined : runInTurn(task);
    },
  };
}
