import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { MemorySink } from "../../../test/support/memory-sink.ts";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../../lib/clock.ts";
import { createLogger } from "../../lib/logger.ts";
import type { Claims } from "../../model/claim.ts";
import { createSource } from "../registry.ts";
import { type Source, SourceError } from "../source.ts";
import { createThreadedSource } from "./threaded-source.ts";

let folder = "";
let path = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gazetteer-thread-"));
  path = join(folder, "net.json");
});
afterEach(() => rm(folder, { recursive: true }));

let logged: string[] = [];
beforeEach(() => {
  logged = [];
});
const context = { clock: systemClock, log: createLogger((line) => logged.push(line)) };

async function write(content: object | string): Promise<void> {
  await writeFile(`${path}.new`, typeof content === "string" ? content : JSON.stringify(content));
  await rename(`${path}.new`, path);
}

function fileSource(): Source {
  const created = createSource({ type: "file", path }, context);
  if (!created.ok) throw new Error("was not created");
  return created.source;
}

function start(source: Source, sink = new MemorySink()) {
  const abort = new AbortController();
  const ended = source.run(sink, abort.signal);
  ended.catch(() => {});
  const stop = async () => {
    abort.abort();
    await ended;
  };
  return { sink, abort, ended, stop };
}

/** A source whose thread runs another module. */
const stub = (module: string): Source =>
  createThreadedSource({ name: "stub", run: async () => {} }, { type: "stub" }, context, {
    worker: new URL(`../../../test/support/source-threads/${module}.ts`, import.meta.url),
  });

test("a source in a thread reports its set, differences, faults and metrics", async () => {
  await write({ devices: [{ id: "a" }, { id: "b" }] });
  const source = fileSource();
  const { sink, stop } = start(source);
  await until(() => sink.devices.size === 2, { what: "the first set" });
  await write({ devices: [{ id: "b" }, { id: "c" }] });
  await until(() => sink.devices.has("c") && !sink.devices.has("a"), { what: "the change" });
  expect(sink.changeLog).toEqual(["replace", "set devices c", "remove devices a"]);
  await write("{");
  await until(() => sink.staleReasons.length > 0, { what: "the fault" });
  expect(sink.staleReasons).toEqual(["net.json:1: is not JSON: ends too early"]);
  expect(source.metrics?.()).toEqual({ reads_total: 3, refused_total: 1 });
  await stop();
  expect(sink.devices.size).toBe(2);
});

test("counters go on in the next run, whose first set is reported as a whole", async () => {
  await write({ devices: [{ id: "a" }] });
  const source = fileSource();
  const sink = new MemorySink();
  for (const run of [1, 2]) {
    const running = start(source, sink);
    await until(() => sink.changeLog.length === run, { what: "the set" });
    await running.stop();
    expect(source.metrics?.()).toEqual({ reads_total: run, refused_total: 0 });
  }
  expect(sink.changeLog).toEqual(["replace", "replace"]);
});

test("check reads in the calling thread", async () => {
  await write("[");
  expect(await fileSource().check?.()).toEqual({ faults: ["net.json:1: is not JSON: ends too early"] });
});

test("an error of the sink ends the run as what it is", async () => {
  for (const error of [new SourceError("disk is full"), new TypeError("no such thing")]) {
    await write({ devices: [{ id: "a" }] });
    const sink = new MemorySink();
    sink.replace = async () => {
      throw error;
    };
    const thrown = await start(fileSource(), sink).ended.catch((caught: unknown) => caught);
    expect(thrown).toMatchObject({ message: error.message });
    expect(thrown instanceof SourceError).toBe(error instanceof SourceError);
  }
});

test("a stop while a set is being committed ends the run once the commit has ended", async () => {
  await write({ devices: [{ id: "a" }] });
  const sink = new MemorySink();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const steps: string[] = [];
  sink.replace = async (all: Claims) => {
    steps.push(`begins with ${[...(all.devices ?? [])].length}`);
    await released;
    steps.push("commit ends");
  };
  const { abort, ended } = start(fileSource(), sink);
  await until(() => steps.length > 0, { what: "the commit" });
  abort.abort();
  const done = ended.then(() => steps.push("run ends"));
  await new Promise((resolve) => setImmediate(resolve));
  release();
  await done;
  expect(steps).toEqual(["begins with 1", "commit ends", "run ends"]);
});

test("a thread that crashes is an expected failure with its reason; its claims stay, and its log is the service's", async () => {
  const { sink, ended } = start(stub("crashing"));
  const thrown = await ended.catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(SourceError);
  expect(String(thrown)).toBe("SourceError: the thread of the source has failed: out of range");
  expect([...sink.devices.keys()]).toEqual(["of:1"]);
  expect(logged[0]).toEndWith(" warn peer-slow peer=10.0.0.1\n");
});

test("a thread that exits is an expected failure", async () => {
  const { ended } = start(stub("exiting"));
  await expect(ended).rejects.toThrow("the thread of the source has failed: it ended");
});

const threadsNamed = (name: string): number[] =>
  readdirSync("/proc/self/task")
    .filter((id) => readFileSync(`/proc/self/task/${id}/comm`, "utf8").trim() === name)
    .map(Number);
const countThreads = (name: string): number => threadsNamed(name).length;

test.skipIf(process.platform !== "linux")("the thread has a lower priority than the service", async () => {
  await write({ devices: [{ id: "a" }] });
  const { sink, stop } = start(fileSource());
  await until(() => sink.devices.size > 0, { what: "the first set" });
  expect(threadsNamed("source file").map((id) => getPriority(id) - getPriority())).toEqual([5]);
  await stop();
});

test.skipIf(process.platform !== "linux")(
  "a thread that does not receive the stop is terminated",
  async () => {
    const { sink, stop } = start(stub("busy"));
    await until(() => sink.staleReasons.length > 0, { what: "the thread" });
    expect(countThreads("source stub")).toBe(1);
    await stop();
    await until(() => countThreads("source stub") === 0, { what: "the end of the thread" });
  },
);

test("the run of a terminated thread ends after its commit", async () => {
  const sink = new MemorySink();
  const steps: string[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  sink.replace = async () => {
    steps.push("commit begins");
    await released;
    steps.push("commit ends");
  };
  const { abort, ended } = start(stub("busy"), sink);
  await until(() => steps.length > 0, { what: "the commit" });
  abort.abort();
  const done = ended.then(() => steps.push("run ends"));
  await until(() => countThreads("source stub") === 0, { what: "the end of the thread" });
  await new Promise((resolve) => setImmediate(resolve));
  release();
  await done;
  expect(steps).toEqual(["commit begins", "commit ends", "run ends"]);
});

test("a run that is stopped before it begins starts no thread", async () => {
  const abort = new AbortController();
  abort.abort();
  await stub("busy").run(new MemorySink(), abort.signal);
});

test("a source in a thread can read its last claims", async () => {
  const sink = Object.assign(new MemorySink(), {
    lastClaims: async () => ({ devices: Array.from({ length: 250 }, (_, n) => ({ id: `of:${n}` })) }),
  });
  await start(stub("repeating"), sink).ended;
  expect(sink.devices.size).toBe(250);
  const without = new MemorySink();
  await start(stub("repeating"), without).ended;
  expect(without.changeLog).toEqual([]);
});

test("an error while the last claims are read goes to the source", async () => {
  const sink = Object.assign(new MemorySink(), {
    lastClaims: async () => {
      throw new SourceError("the view is closed");
    },
  });
  await expect(start(stub("repeating"), sink).ended).rejects.toThrow("the view is closed");
});
