/**
 * A bounded number of tasks at a time, and a bounded queue before them: hashing a password costs memory and a core,
 * and whoever sends many must not get many of both.
 */
export interface Semaphore {
  /** Runs the task when there is room; undefined at once when the queue is full. */
  enter<T>(task: () => Promise<T>): Promise<T> | undefined;
}

export function createSemaphore(mostRunning: number, mostWaiting: number): Semaphore {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function run<T>(task: () => Promise<T>): Promise<T> {
    if (running >= mostRunning) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await task();
    } finally {
      // A place is handed on, not freed and taken again, so nobody slips in between.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  }

  return {
    enter(task) {
      return running >= mostRunning && waiting.length >= mostWaiting ? undefined : run(task);
    },
  };
}
