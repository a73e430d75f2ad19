import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "./clock.ts";
import { FileWatcher } from "./file-watcher.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function temporaryPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-file-watcher-"));
  folders.push(folder);
  return join(folder, "watched");
}

/** Resolves with the count of reports each time there is another one. */
function watching(path: string) {
  const abort = new AbortController();
  let count = 0;
  let next = Promise.withResolvers<number>();
  const watcher = new FileWatcher(path, systemClock);
  const start = () =>
    watcher.run(async () => {
      next.resolve(++count);
      next = Promise.withResolvers<number>();
    }, abort.signal);
  return { watcher, start, report: () => next.promise, stop: () => abort.abort() };
}

test("a file that was never acknowledged is reported at once, then each change of it", async () => {
  const path = temporaryPath();
  writeFileSync(path, "one");
  const watched = watching(path);
  const first = watched.report();
  const ended = watched.start();
  expect(await first).toBe(1);
  const second = watched.report();
  writeFileSync(path, "two");
  expect(await second).toBe(2);
  const third = watched.report();
  writeFileSync(`${path}.new`, "three");
  renameSync(`${path}.new`, path);
  expect(await third).toBe(3);
  const fourth = watched.report();
  rmSync(path);
  expect(await fourth).toBe(4);
  watched.stop();
  await ended;
});

test("what was acknowledged is not reported, a file that appears is", async () => {
  const path = temporaryPath();
  const watched = watching(path);
  await watched.watcher.acknowledge();
  const first = watched.report();
  const ended = watched.start();
  writeFileSync(path, "now it is there");
  expect(await first).toBe(1);
  watched.stop();
  await ended;
});

test("what a report throws ends the run", async () => {
  const path = temporaryPath();
  writeFileSync(path, "one");
  const run = new FileWatcher(path, systemClock).run(async () => {
    throw new Error("unreadable");
  }, new AbortController().signal);
  await expect(run).rejects.toThrow("unreadable");
});
