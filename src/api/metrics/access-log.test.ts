import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { createLogger, silentLogger } from "../../lib/logger.ts";
import { AccessLog } from "./access-log.ts";

const ENTRY = {
  user: 'a"b\n',
  method: "GET",
  target: "/x",
  status: 200,
  bytes: 3,
  ms: 1.23456,
  id: "1",
  address: "192.0.2.1",
  correlation: {},
};

test("lines are JSON and cannot be broken by a user's text", async () => {
  const path = join(temporaryFolder(), "access.log");
  const log = new AccessLog(path, new ManualClock(), silentLogger);
  const correlation = { requestId: "a-1", traceId: "b".repeat(32), parentId: "c".repeat(16) };
  for (let i = 0; i < 2; i++) log.add({ ...ENTRY, correlation });
  await log.flush();
  await log.run(AbortSignal.abort());
  const [first = "", second, end] = readFileSync(path, "utf8").split("\n");
  expect([second, end]).toEqual([first, ""]);
  const { correlation: _, ...fields } = ENTRY;
  expect(JSON.parse(first)).toEqual({
    ...fields,
    ...correlation,
    ms: 1.235,
    time: "2026-11-15T01:00:00.000Z",
  });
});

test("lines beyond the buffer are dropped and counted; a file that cannot be written is logged once", async () => {
  const errors: string[] = [];
  const logger = createLogger((line) => errors.push(line));
  const log = new AccessLog(join(temporaryFolder(), "none", "access.log"), new ManualClock(), logger);
  const target = `/${"x".repeat(8000)}`;
  for (let i = 0; i < 2000; i++) log.add({ ...ENTRY, target });
  const atFull = log.dropped;
  expect(atFull).toBeGreaterThan(900);
  await log.flush();
  expect(log.dropped).toBe(2000);
  log.add(ENTRY);
  await log.flush();
  expect(log.dropped).toBe(2001);
  expect(errors).toHaveLength(1);
});
