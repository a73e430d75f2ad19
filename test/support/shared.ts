/**
 * Tests that read third-party schemas from `../shared`. A clone does not have that folder: the tests are then skipped
 * with a SKIP line, also where CI=true. A file that is missing in an existing folder is an error there.
 */
import { describe, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { hasSharedFolder, SHARED_FOLDER, SHARED_MARK } from "../../scripts/test/shared.ts";
import { printSkip, reportMissing } from "./needs.ts";

/** Calls `body` with the full path of `name`, a file or folder in `../shared`, only when it exists. */
export function describeWithShared(title: string, name: string, body: (path: string) => void): void {
  const path = join(SHARED_FOLDER, name);
  const marked = `${title} ${SHARED_MARK}`;
  if (existsSync(path)) {
    describe(marked, () => body(path));
    return;
  }
  const report = hasSharedFolder() ? reportMissing : printSkip;
  report(
    `${title}: ../shared/${name} does not exist; it is third-party text that this repository does not have`,
  );
  describe.skip(marked, () => test(`reads ${name}`, () => {}));
}
