/**
 * How often properties run, and those whose single run is a whole history of the view. `npm test` runs a quarter of the
 * number that a test states, with other random values each time; `npm run test:peers` runs all of them.
 * `GAZETTEER_TEST_RUNS=20` runs twenty times as many. `GAZETTEER_TEST_SEED` and `GAZETTEER_TEST_PATH` repeat a failure of a
 * history, and shrink it for a minute.
 */
import fc from "fast-check";

const SHRINK_MS = 60_000;
const { GAZETTEER_TEST_RUNS = "0.25", GAZETTEER_TEST_SEED, GAZETTEER_TEST_PATH } = process.env;
const FACTOR = Number(GAZETTEER_TEST_RUNS);

/** The timeout of the test itself. */
export const PROPERTY_TIMEOUT_MS = FACTOR > 1 ? 7_200_000 : 600_000;

/** The number of runs in place of the stated one. */
export const runs = (stated: number): number => Math.ceil(stated * FACTOR);

/**
 * Whether what the runs have met by chance can be counted, because they are as many as stated: a property that never meets
 * the case it is about would prove little.
 */
export const COUNTS_CASES = FACTOR >= 1;

/** A failure is reported at once, with its seed and path: shrinking it would take minutes. */
export async function assertProperty<T>(property: fc.IAsyncProperty<T>, stated: number): Promise<void> {
  await fc.assert(property, {
    numRuns: runs(stated),
    ...(GAZETTEER_TEST_SEED !== undefined && { seed: Number(GAZETTEER_TEST_SEED) }),
    ...(GAZETTEER_TEST_PATH === undefined
      ? { endOnFailure: true }
      : { path: GAZETTEER_TEST_PATH, interruptAfterTimeLimit: SHRINK_MS }),
  });
}
