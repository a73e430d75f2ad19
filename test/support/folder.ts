/**
 * Temporary folders, deleted when the test file ends. Where files share a process, this is so for the first of them only;
 * the runner deletes what is left.
 */
import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-"));
  folders.push(folder);
  return folder;
}
