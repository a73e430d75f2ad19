/**
 * A bounded number of tasks at a time, and a bounded queue before them: hashing a password costs memory and a core,
 * and whoever sends many must not get many of both.
 */
export interface Semaphore {
  /** Runs the task when there is room; undefined at once when the queue is full. */
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
      // A place is handed on, not freed and taken again, so nobody slips in between.
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
