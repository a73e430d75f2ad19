/**
 * The contract of a source, for every kind: what `docs/adding-a-source.md` promises, seen through a whole service. The
 * kinds differ only in their rows (`row.ts`).
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SOURCE_KINDS } from "../../../src/sources/registry.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { until } from "../../support/until.ts";
import { ContractService } from "./harness.ts";
import { expectEscaped } from "./hostile-text.ts";
import type { ContractRow, Peer } from "./row.ts";

/** Kinds without a row, and why. */
const WITHOUT_ROW: Readonly<Record<string, string>> = {
  demo: "has no peer",
  openflow: "listens for its peers; test/sources/openflow has its contract with emulated and real switches",
};

const fileOf = (kind: string) => join(import.meta.dir, `${kind}.ts`);
const kinds = Object.keys(SOURCE_KINDS).filter((kind) => existsSync(fileOf(kind)));

test("every kind of source has a row", () => {
  const missing = Object.keys(SOURCE_KINDS).filter((kind) => !kinds.includes(kind) && !(kind in WITHOUT_ROW));
  expect(missing).toEqual([]);
});

for (const kind of kinds) {
  const { row }: { row: ContractRow } = await import(fileOf(kind));
  describe(kind, () => contract(row));
}

function contract(row: ContractRow): void {
  let peer: Peer;
  let gazetteer: ContractService;
  beforeAll(async () => {
    const folder = temporaryFolder();
    peer = await row.start(folder);
    gazetteer = await ContractService.start(folder, peer.entry);
  });
  afterAll(async () => {
    await gazetteer[Symbol.asyncDispose]();
    await peer[Symbol.asyncDispose]();
  });

  test("the first full set", async () => {
    await gazetteer.waitForNetwork(row.shown.a);
    await gazetteer.waitFor("synced");
    expect(await gazetteer.refusedRecords()).toBe(0);
  });

  test("polls in which nothing has changed make no revision", async () => {
    const before = await gazetteer.revision();
    const reads = peer.reads?.();
    if (reads === undefined) return;
    await until(() => (peer.reads?.() ?? 0) >= reads + 3, { what: "three polls" });
    expect(await gazetteer.revision()).toBe(before);
  });

  test("an update adds what is new and removes what is gone", async () => {
    await peer.show("b");
    await gazetteer.waitForNetwork(row.shown.b);
    await gazetteer.waitFor("synced");
  });

  test("a failure keeps the data, and says why in one line", async () => {
    await peer.fail();
    const { error } = await gazetteer.waitFor("stale");
    expect(error).toMatch(/^.+$/);
    expect(await gazetteer.shown()).toEqual(row.shown.b);
  });

  test("recovery", async () => {
    await peer.show("a");
    await peer.mend();
    await gazetteer.waitForNetwork(row.shown.a);
    await gazetteer.waitFor("synced");
  });

  test("malformed records", async () => {
    if (row.malformed === "refused") {
      await peer.show("malformed");
      const { error } = await gazetteer.waitFor("stale");
      expect(error).toMatch(/^.+:\d+: .+$/);
      expect(await gazetteer.refusedRecords()).toBe(0);
    } else {
      await peer.show("b");
      await gazetteer.waitForNetwork(row.shown.b);
      await peer.show("malformed");
      await gazetteer.waitForNetwork(row.shown.a);
      await until(async () => (await gazetteer.refusedRecords()) >= Number(row.malformed), {
        what: "the count",
      });
      const reads = peer.reads?.() ?? 0;
      // They are counted once, not in every poll.
      await until(() => (peer.reads?.() ?? 2) >= reads + 2, { what: "two polls" });
      expect(await gazetteer.refusedRecords()).toBe(row.malformed);
      await gazetteer.waitFor("synced");
    }
    expect(await gazetteer.shown()).toEqual(row.shown.a);
  });

  for (const how of row.misbehaviours) {
    test(`${how} responses are cut`, async () => {
      await peer.show("a");
      await gazetteer.waitFor("synced");
      await peer.misbehave(how);
      const { error } = await gazetteer.waitFor("stale");
      expect(error).toMatch(/^.+$/);
      expect(await gazetteer.shown()).toEqual(row.shown.a);
      await peer.mend();
      await gazetteer.waitFor("synced");
      expect(await gazetteer.shown()).toEqual(row.shown.a);
    });
  }

  test("hostile text is escaped everywhere", async () => {
    await peer.show("hostile");
    await expectEscaped(gazetteer, row.hostileDevice);
  });

  test("a source that is removed leaves nothing running, and its claims are gone", async () => {
    expect(gazetteer.runningCount()).toBeGreaterThan(0);
    gazetteer.removeSource();
    await until(async () => (await gazetteer.shown()).hosts.length === 0, { what: "the end of the claims" });
    await until(() => gazetteer.runningCount() === 0 && peer.openCount() === 0, {
      what: "the end of threads, processes and connections",
    });
  });

  const moments = row.misbehaviours.includes("slow")
    ? ["between two polls", "during a poll"]
    : ["between two polls"];
  for (const mode of ["threaded", "unthreaded"]) {
    for (const moment of moments) {
      test(`a source that is stopped ${moment} leaves nothing running, ${mode}`, () =>
        expectCleanStop(row, mode, moment === "during a poll"));
    }
  }
}

async function expectCleanStop(row: ContractRow, mode: string, isPolling: boolean): Promise<void> {
  await using peer = await row.start(temporaryFolder());
  const script = join(import.meta.dir, "run-once.ts");
  const child = Bun.spawn([process.execPath, script, JSON.stringify(peer.entry), mode], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    expect((await lines.read()).value).toBe("synced\n");
    if (isPolling) {
      await peer.misbehave("slow");
      await until(() => peer.openCount() > 0, { what: "a poll under way", everyMs: 5 });
    }
    await child.stdin.end();
    expect((await lines.read()).value).toBe("ended\n");
    await until(() => child.exitCode !== null, { what: "the end of the process", deadlineMs: 10_000 });
    expect(child.exitCode).toBe(0);
    await until(() => peer.openCount() === 0, { what: "the end of connections and processes" });
  } finally {
    child.kill("SIGKILL");
  }
}
