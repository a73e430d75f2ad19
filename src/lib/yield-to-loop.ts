/** Lets the event loop run other work. Long operations await it between slices, so that they do not block requests. */
export const yieldToLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
