/**
 * The folder beside the repository that holds third-party schemas, which this repository does not distribute. A clone
 * has no such folder: tests in a block with this mark are then skipped and are no failure, also where CI=true. The
 * runner and the tests (test/support/shared.ts) agree on it here.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

export const SHARED_FOLDER = join(import.meta.dir, "../../../shared");

/** Ends the title of every block of tests that reads files from the folder. */
export const SHARED_MARK = "(needs ../shared)";

export const hasSharedFolder = (): boolean => existsSync(SHARED_FOLDER);
