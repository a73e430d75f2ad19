/**
 * Waiting for what another process does: asks again and again until the answer is truthy, and gives that answer.
 * The deadline is there to end a hang with a sentence, not to measure anything, so it is generous.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  options: { readonly what: string; readonly deadlineMs?: number; readonly everyMs?: number },
): Promise<NonNullable<T>> {
  const { what, deadlineMs: timeoutMs = 30_000, everyMs: intervalMs = 20 } = options;
  const end = performance.now() + timeoutMs;
  let failure: unknown;
  for (;;) {
    try {
      const answer = await condition();
      if (answer) return answer;
      failure = undefined;
    } catch (error) {
      failure = error; // not yet, perhaps; it becomes the cause when time is up
    }
    if (performance.now() >= end) break;
    await Bun.sleep(intervalMs);
  }
  throw new Error(`waited ${timeoutMs} ms for ${what}`, failure === undefined ? {} : { cause: failure });
}
