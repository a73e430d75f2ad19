import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../test/support/until.ts";
import { type Clock, systemClock } from "./clock.ts";
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

test("content that is acknowledged while it settles is not reported", async () => {
  const path = temporaryPath();
  const sleeps: { ms: number; end: () => void }[] = [];
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        sleeps.push({ ms, end: resolve });
        if (signal?.aborted) resolve();
        signal?.addEventListener("abort", () => resolve());
      }),
  };
  const watcher = new FileWatcher(path, clock);
  await watcher.acknowledge();
  const abort = new AbortController();
  let reports = 0;
  const ended = watcher.run(async () => {
    reports++;
  }, abort.signal);
  await until(() => sleeps.length === 1, { what: "the first poll" });
  writeFileSync(path, "written by the caller");
  await until(() => sleeps.at(-1)?.ms === 100, { what: "the file to settle" });
  await watcher.acknowledge();
  sleeps.at(-1)?.end();
  await until(() => sleeps.at(-1)?.ms === 1000, { what: "the next poll" });
  expect(reports).toBe(0);
  abort.abort();
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
