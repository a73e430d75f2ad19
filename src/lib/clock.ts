/** The clock, injected: everything that reads the time or waits gets a `Clock`, so that tests need not sleep. */
export interface Clock {
  /** Epoch milliseconds. They jump when the system clock is set, so they are only for times that are shown or stored. */
  now(): number;
  /** Milliseconds since an arbitrary moment. They never decrease, so they are for timeouts, rates and durations. */
  monotonic(): number;
  /** Resolves after `ms`, or when `signal` aborts. Never rejects: the caller checks the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done, { once: true });
    }),
};
