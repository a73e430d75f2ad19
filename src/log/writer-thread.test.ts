import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withoutPauses } from "../lib/steps.ts";
import { openEmbeddedLog } from "./embedded.ts";
import type { Batch } from "./log.ts";

const folder = mkdtempSync(join(tmpdir(), "gazetteer-writer-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CRASHING_WRITER = new URL("../../test/support/crashing-writer.ts", import.meta.url);
/** As `crashing-writer.ts` has them. */
const CRASH_BEFORE_WRITE = 1;
const CRASH_AFTER_WRITE = 2;

const batchOf = (revision: number, time: number): Batch => ({
  revision,
  time,
  entries: [{ kind: "devices", id: "of:1", before: null, after: "{}", changed: [] }],
});

test("a batch that the writer did not write before it ended is rejected; the next one starts another writer", async () => {
  const log = openEmbeddedLog(join(folder, "before.db"), { worker: CRASHING_WRITER });
  await expect(log.append(batchOf(1, CRASH_BEFORE_WRITE))).rejects.toMatchObject({
    name: "LogError",
    code: "write-failed",
    message: expect.stringContaining("the writer crashed"),
  });
  expect(log.stats().newest).toBe(0);
  await log.append(batchOf(1, 1000));
  expect([...withoutPauses(log.read(0))]).toEqual([batchOf(1, 1000)]);
  expect(log.stats().newest).toBe(1);
  await log.close();
});

test("a batch that the writer wrote before it ended is durable", async () => {
  const path = join(folder, "after.db");
  const log = openEmbeddedLog(path, { worker: CRASHING_WRITER });
  await log.append(batchOf(1, CRASH_AFTER_WRITE));
  await log.append(batchOf(2, 1000));
  expect([...withoutPauses(log.read(0))].map(({ revision }) => revision)).toEqual([1, 2]);
  await log.close();
  const again = openEmbeddedLog(path);
  expect(again.stats().newest).toBe(2);
  await again.close();
});
