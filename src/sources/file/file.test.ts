import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { silentLogger } from "../../lib/logger.ts";
import { createFileSource } from "./file.ts";

/** Ends a hang. */
const MAX_WAIT_MS = 20_000;

const network = (...ids: string[]) => JSON.stringify({ devices: ids.map((id) => ({ id })) });

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gazetteer-file-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs a file source and records its reports: `of:1,of:2` for claims, `! …` for a fault. */
function startSource(path: string) {
  const clock = new ManualClock();
  const abort = new AbortController();
  const reports: string[] = [];
  const source = createFileSource({ name: "f", path }, { clock, log: silentLogger });
  const ended = source.run(
    {
      replace: async (all) => void reports.push([...(all.devices ?? [])].map(({ id }) => id).join()),
      apply: async () => {},
      reject: () => {},
      markStale: (message) => void reports.push(`! ${message}`),
    },
    abort.signal,
  );
  return {
    source,
    clock,
    reports,
    /**
     * Advances the clock until the last report is `expected`. The file system works in real time, so the limit is one of
     * real time too: a number of turns can pass before a busy machine has read the file.
     */
    async expectReport(expected: string) {
      const deadlineMs = performance.now() + MAX_WAIT_MS;
      while (reports.at(-1) !== expected && performance.now() < deadlineMs) {
        await clock.advance(100);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(reports.at(-1)).toBe(expected);
    },
    async stop() {
      abort.abort();
      await ended;
      expect(clock.sleeping).toBe(0);
    },
  };
}

describe("the file is read again", () => {
  test("when it is overwritten", async () => {
    const path = join(folder, "net.json");
    await writeFile(path, network("a"));
    const file = startSource(path);
    await file.expectReport("a");
    await writeFile(path, network("a", "b"));
    await file.expectReport("a,b");
    await file.stop();
    expect(file.source.metrics?.()).toEqual({ reads_total: 2, refused_total: 0 });
  });

  test("when another file is renamed onto it, as editors do", async () => {
    const path = join(folder, "net.json");
    await writeFile(path, network("a"));
    const file = startSource(path);
    await file.expectReport("a");
    await writeFile(`${path}.new`, network("b"));
    await rename(`${path}.new`, path);
    await file.expectReport("b");
    await file.stop();
  });

  test("when the symbolic link to its folder is replaced, as Kubernetes does", async () => {
    for (const version of ["1", "2"]) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, "net.json"), network(version));
    }
    await symlink("1", join(folder, "..data"));
    await symlink(join("..data", "net.json"), join(folder, "net.json"));
    const file = startSource(join(folder, "net.json"));
    await file.expectReport("1");
    await symlink("2", join(folder, "..new"));
    await rename(join(folder, "..new"), join(folder, "..data"));
    await file.expectReport("2");
    await file.stop();
  });

  test("when its folder is created later", async () => {
    const path = join(folder, "later", "net.json");
    const file = startSource(path);
    await file.expectReport("! net.json: does not exist");
    await mkdir(join(folder, "later"));
    await writeFile(path, network("a"));
    await file.expectReport("a");
    await file.stop();
  });
});

describe("a missing or invalid file", () => {
  test("at the start is reported, and read once it is valid", async () => {
    const path = join(folder, "net.yaml");
    await writeFile(path, "devices:\n - mfr: x\n");
    const file = startSource(path);
    await file.expectReport("! net.yaml:2: devices[0].id: is required");
    await writeFile(path, "devices:\n - id: x\n");
    await file.expectReport("x");
    expect(file.reports.length).toBe(2);
    await file.stop();
  });

  test("later keeps the last claims, and is read again when it changes", async () => {
    const path = join(folder, "net.json");
    await writeFile(path, network("a"));
    const file = startSource(path);
    await file.expectReport("a");
    await writeFile(path, "{");
    await file.expectReport("! net.json:1: is not JSON: ends too early");
    const reads = file.source.metrics?.().reads_total;
    await file.clock.advance(10_000);
    expect(file.source.metrics?.().reads_total).toBe(reads);
    await rm(path);
    await file.expectReport("! net.json: does not exist");
    await writeFile(path, network("a"));
    await file.expectReport("a");
    await file.stop();
  });

  test("for less than the settle time is not reported", async () => {
    const path = join(folder, "net.json");
    await writeFile(path, network("a"));
    const file = startSource(path);
    await file.expectReport("a");
    // The clock does not advance while the file is being written, so the settle time does not pass.
    await writeFile(path, "");
    await new Promise((resolve) => setImmediate(resolve));
    await rm(path);
    await new Promise((resolve) => setImmediate(resolve));
    await writeFile(path, network("b"));
    await file.expectReport("b");
    expect(file.reports).toEqual(["a", "b"]);
    await file.stop();
  });
});

test("stops while it waits for the file to settle", async () => {
  const path = join(folder, "net.json");
  await writeFile(path, network("a"));
  const file = startSource(path);
  await file.expectReport("a");
  await writeFile(path, network("b"));
  await file.stop();
  expect(file.reports).toEqual(["a"]);
});
