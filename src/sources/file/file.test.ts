import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "../../lib/clock.ts";
import { silentLogger } from "../../lib/logger.ts";
import { createFileSource } from "./file.ts";

const network = (...ids: string[]) => JSON.stringify({ devices: ids.map((id) => ({ id })) });

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gazetteer-file-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs a file source and keeps what it says, as `of:1,of:2` for claims and `! …` for trouble. */
function follow(path: string) {
  const clock = new ManualClock();
  const abort = new AbortController();
  const said: string[] = [];
  const source = createFileSource({ name: "f", path }, { clock, log: silentLogger });
  const ended = source.run(
    {
      replace: async (all) => void said.push([...(all.devices ?? [])].map(({ id }) => id).join()),
      apply: async () => {},
      markStale: (message) => void said.push(`! ${message}`),
    },
    abort.signal,
  );
  return {
    source,
    clock,
    said,
    /** Turns the clock until it has said `expected` last. The file system takes its own time, so this asks often. */
    async says(expected: string) {
      for (let turn = 0; turn < 5000 && said.at(-1) !== expected; turn++) {
        await clock.advance(100);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(said.at(-1)).toBe(expected);
    },
    async stop() {
      abort.abort();
      await ended;
      expect(clock.sleeping).toBe(0);
    },
  };
}

describe("a file is followed", () => {
  test("when it is written over", async () => {
    const path = join(folder, "net.json");
    await writeFile(path, network("a"));
    const file = follow(path);
    await file.says("a");
    await writeFile(path, network("a", "b"));
    await file.says("a,b");
    await file.stop();
    expect(file.source.metrics?.()).toEqual({ reads_total: 2, refused_total: 0 });
  });

  test("when another is renamed onto it, as editors do", async () => {
    const path = join(folder, "net.json");
    await writeFile(path, network("a"));
    const file = follow(path);
    await file.says("a");
    await writeFile(`${path}.new`, network("b"));
    await rename(`${path}.new`, path);
    await file.says("b");
    await file.stop();
  });

  test("when the link to its folder is swapped, as Kubernetes does", async () => {
    for (const version of ["1", "2"]) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, "net.json"), network(version));
    }
    await symlink("1", join(folder, "..data"));
    await symlink(join("..data", "net.json"), join(folder, "net.json"));
    const file = follow(join(folder, "net.json"));
    await file.says("1");
    await symlink("2", join(folder, "..new"));
    await rename(join(folder, "..new"), join(folder, "..data"));
    await file.says("2");
    await file.stop();
  });

  test("when its folder comes later", async () => {
    const path = join(folder, "later", "net.json");
    const file = follow(path);
    await file.says("! net.json: does not exist");
    await mkdir(join(folder, "later"));
    await writeFile(path, network("a"));
    await file.says("a");
    await file.stop();
  });
});

describe("a file that is not good", () => {
  test("at the start is waited for", async () => {
    const path = join(folder, "net.yaml");
    await writeFile(path, "devices:\n - mfr: x\n");
    const file = follow(path);
    await file.says("! net.yaml:2: devices[0].id: is required");
    await writeFile(path, "devices:\n - id: x\n");
    await file.says("x");
    expect(file.said.length).toBe(2);
    await file.stop();
  });

  test("later changes nothing, and is tried again when it changes", async () => {
    const path = join(folder, "net.json");
    await writeFile(path, network("a"));
    const file = follow(path);
    await file.says("a");
    await writeFile(path, "{");
    await file.says("! net.json:1: is not JSON: ends too early");
    const reads = file.source.metrics?.().reads_total;
    await file.clock.advance(10_000);
    expect(file.source.metrics?.().reads_total).toBe(reads);
    await rm(path);
    await file.says("! net.json: does not exist");
    await writeFile(path, network("a"));
    await file.says("a");
    await file.stop();
  });

  test("for a moment is not even noticed", async () => {
    const path = join(folder, "net.json");
    await writeFile(path, network("a"));
    const file = follow(path);
    await file.says("a");
    // The clock stands still while the writer is at work: nobody looks at what is half done.
    await writeFile(path, "");
    await new Promise((resolve) => setImmediate(resolve));
    await rm(path);
    await new Promise((resolve) => setImmediate(resolve));
    await writeFile(path, network("b"));
    await file.says("b");
    expect(file.said).toEqual(["a", "b"]);
    await file.stop();
  });
});

test("stops while it waits for a file to keep still", async () => {
  const path = join(folder, "net.json");
  await writeFile(path, network("a"));
  const file = follow(path);
  await file.says("a");
  await writeFile(path, network("b"));
  await file.stop();
  expect(file.said).toEqual(["a"]);
});
