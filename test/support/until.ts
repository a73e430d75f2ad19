/**
 * Waits for an effect of another process: calls `condition` until it returns a truthy value, and returns that value. The
 * timeout is generous, because it only ends a hang with a message; it measures nothing.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  options: { readonly what: string; readonly deadlineMs?: number; readonly everyMs?: number },
): Promise<NonNullable<T>> {
  const { what, deadlineMs: timeoutMs = 60_000, everyMs: intervalMs = 20 } = options;
  const end = performance.now() + timeoutMs;
  let failure: unknown;
  for (;;) {
    try {
      const result = await condition();
      if (result) return result;
      failure = undefined;
    } catch (error) {
      failure = error; // tried again; the cause of the timeout error if it persists
    }
    if (performance.now() >= end) break;
    await Bun.sleep(intervalMs);
  }
  throw new Error(`waited ${timeoutMs} ms for ${what}`, failure === undefined ? {} : { cause: failure });
}
