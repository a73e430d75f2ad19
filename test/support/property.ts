/**
 * Runs a property whose single run is a whole history of the view. A failure is reported at once, with its seed and path:
 * shrinking it would take minutes. `GAZETTEER_TEST_RUNS` sets the number of runs. `GAZETTEER_TEST_SEED` and
 * `GAZETTEER_TEST_PATH` repeat a failure, and shrink it for a minute.
 */
import fc from "fast-check";

const SHRINK_MS = 60_000;
const { GAZETTEER_TEST_RUNS, GAZETTEER_TEST_SEED, GAZETTEER_TEST_PATH } = process.env;

/** For the test itself. */
export const PROPERTY_TIMEOUT_MS = GAZETTEER_TEST_RUNS === undefined ? 600_000 : 7_200_000;

export async function assertProperty<T>(property: fc.IAsyncProperty<T>, runs: number): Promise<void> {
  await fc.assert(property, {
    numRuns: Number(GAZETTEER_TEST_RUNS ?? runs),
    ...(GAZETTEER_TEST_SEED !== undefined && { seed: Number(GAZETTEER_TEST_SEED) }),
    ...(GAZETTEER_TEST_PATH === undefined
      ? { endOnFailure: true }
      : { path: GAZETTEER_TEST_PATH, interruptAfterTimeLimit: SHRINK_MS }),
  });
}
